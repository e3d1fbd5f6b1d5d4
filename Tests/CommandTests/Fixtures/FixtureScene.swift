import CSQLite
import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

extension Fixtures {
    /// A line of a listing: what a restored file has to be.
    struct Listed: Hashable, CustomStringConvertible {
        /// Kind, mode, bytes, nanoseconds since 1970, SHA-256 or target, and path.
        var fields: [String]

        /// What archives of every program keep.
        var content: Listed {
            Listed(fields: [fields[0], fields[2], fields[4], fields[5]])
        }

        var description: String { fields.joined(separator: " ") }
    }

    static func listing(_ name: String) throws -> Set<Listed> {
        let text = try String(decoding: read("archives/\(name)"), as: UTF8.self)
        return Set(
            text.split(separator: "\n").map { Listed(fields: $0.components(separatedBy: " ")) }
        )
    }

    /// A directory, in the words of a listing.
    static func listing(of directory: FilePath) throws -> Set<Listed> {
        var listed: Set<Listed> = []
        let contents = try Contents(of: directory)
        for item in contents.items {
            var detail = item.kind == .file ? item.detail : "-"
            if item.kind == .link {
                let parent = item.path.parent?.below(directory) ?? directory
                detail = encoded(try Directory.open(parent).linkTarget(item.path.name))
            }
            let mode = String(item.mode, radix: 8)
            listed.insert(
                Listed(fields: [
                    "\(item.kind)", String(repeating: "0", count: 4 - mode.count) + mode,
                    "\(item.size)", "\(item.modified)", detail, encoded(item.path.bytes),
                ])
            )
        }
        return listed
    }

    private static func encoded(_ bytes: some Sequence<UInt8>) -> String {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-".utf8)
        return bytes.map { byte in
            plain.contains(byte)
                ? String(Unicode.Scalar(byte)) : "%" + String(format: "%02X", Int(byte))
        }.joined()
    }
}

/// The first row of a query, its columns separated by `|`, read without the code under test.
func row(in database: FilePath, _ sql: String) throws -> String {
    struct Failure: Error { var reason: String }
    var handle: OpaquePointer?
    defer { sqlite3_close(handle) }
    var statement: OpaquePointer?
    guard sqlite3_open_v2(database.string, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK,
        sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK
    else { throw Failure(reason: String(cString: sqlite3_errmsg(handle))) }
    defer { sqlite3_finalize(statement) }
    guard sqlite3_step(statement) == SQLITE_ROW else {
        throw Failure(reason: String(cString: sqlite3_errmsg(handle)))
    }
    return (0..<sqlite3_column_count(statement)).map { column in
        sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "NULL"
    }.joined(separator: "|")
}
/// A place for a test of the program with the fixtures.
struct FixtureScene {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        try sandbox.directory("Remote")
        try sandbox.directory("Temporary")
    }

    func run(_ arguments: String..., stores: String = "Work/Stores") throws -> Tool.Outcome {
        try Tool.run(
            Tool.product("grocerydude"),
            arguments,
            environment: [
                "HOME": sandbox.path.string, "TZ": "UTC", "XDG_DATA_HOME": "",
                "XDG_CACHE_HOME": "", "TMPDIR": sandbox.path("Temporary").string,
                "GROCERYDUDE_STORES": sandbox.path(stores).string,
                "GROCERYDUDE_REMOTE": sandbox.path("Remote").string,
            ]
        )
    }

    func json(_ outcome: Tool.Outcome) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(outcome.output)) as? [String: Any])
    }

    /// The content of a directory, without what is below it.
    func names(in directory: String) throws -> [String] {
        // A backup's notes are beside it.
        try Directory.open(sandbox.path(directory)).names().map(\.description).sorted()
            .filter { $0 != ".grocerydude-notes" }
    }
}
