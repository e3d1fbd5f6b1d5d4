import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Backups whose display names, or even file names, are the same.
@Suite("Backups of one name")
struct NamesakeTests {
    private let program: Program
    private var remote: FilePath { program.sandbox.path("Remote") }

    /// Makes a backup, and a newer encrypted one of the same display name.
    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        try program.configure("stores: ~/Stores\nremote: ~/Remote\nqueue: true\n")
        try program.expect("backup")
        let first = try #require(try archives().first)
        let key = try program.expect("key", "generate")
        let recipient = try #require((key.text + key.errors).firstMatch(of: /age1[a-z0-9]+/)?.0)
        try program.expect("backup", "--recipient", String(recipient))
        let second = try #require(try archives().first { $0 != first })
        try LocalFileSystem().move(
            remote.appending(second),
            to: remote.appending("\(first).age")
        )
    }

    private func archives() throws -> [String] {
        try Directory.open(remote).names().map(\.description).filter { !$0.hasPrefix(".") }
    }

    /// The names in the first column of a list.
    private func listed() throws -> [String] {
        let rows = try #require(try program.expect("list", "--json").json as? [[String: Any]])
        return rows.compactMap { $0["display_name"] as? String }
    }

    @Test("have names in lists, answers and hints that each mean one of them")
    func distinct() throws {
        let names = try listed()
        #expect(try names.sorted() == archives().sorted())
        let table = try program.expect("list").text
        for name in names {
            #expect(table.contains(name))
            try program.expect("show", name)
        }
        // The display name alone stays ambiguous, and the error names both.
        let short = try #require(names.map { $0.replacing(#/ Stores.*/#, with: "") }.first)
        let ambiguous = try program.expect("show", short, status: 10)
        #expect(names.allSatisfy { ambiguous.errors.contains($0) }, "\(ambiguous.errors)")
    }

    @Test("are told apart by the command of a hint")
    func hint() throws {
        let newest = try #require(try archives().first { $0.hasSuffix(".age") })
        var bytes = try File.contents(of: remote.appending(newest), limit: 1 << 30)
        for index in bytes.count / 2..<bytes.count / 2 + 64 { bytes[index] ^= 0xFF }
        try LocalFileSystem().write(bytes, to: remote.appending(newest))
        _ = try program.run("check", newest)
        let restore = try program.run("restore", "latest", "--yes")
        #expect(restore.errors.contains("restore --yes '\(newest)'"), "\(restore.errors)")
    }

    @Test("have their identities for names if one waits under the file name of another")
    func waiting() throws {
        let away = program.sandbox.path("Away")
        try LocalFileSystem().move(remote, to: away)
        let backup = try program.expect("backup", "--json")
        try LocalFileSystem().move(away, to: remote)
        let name = try #require((try backup.json as? [String: Any])?["name"] as? String)
        let stored = try #require(try archives().first { !$0.hasSuffix(".age") })
        try LocalFileSystem().move(remote.appending(stored), to: remote.appending(name))
        let names = try listed()
        #expect(Set(names).count == names.count && !names.contains(name), "\(names)")
        for name in names { try program.expect("show", name) }
    }
}
