internal import CSQLite
internal import Files
internal import Foundation
internal import GRDB
internal import Synchronization

/// The part of a store's schema that this SQLite cannot parse, such as syntax of a newer SQLite.
///
/// Such a store is not damaged, and its pages can be read. But SQLite may give wrong answers if it knows only a part
/// of an index or a table. So only counts and checks of the structure are run on it.
final class UnparsedSchema: Sendable {
    private let found = Mutex<String?>(nil)

    /// The first part that cannot be parsed, with the reason; `nil` if all can be parsed.
    var reason: String? { found.withLock { $0 } }

    /// Makes a connection read the schema, or the parts of it that can be parsed.
    ///
    /// - Throws: `DatabaseError` if SQLite cannot interpret the file.
    func read(by database: Database) throws {
        do {
            try Self.read(by: database)
        } catch let error as DatabaseError {
            guard let reason = Self.reason(error.message), let handle = database.sqliteConnection,
                csqlite_tolerate_schema(handle) == SQLITE_OK
            else { throw error }
            found.withLock { $0 = reason }
            try Self.read(by: database)
        }
    }

    private static func read(by database: Database) throws {
        try database.cachedStatement(sql: "SELECT 1 FROM sqlite_master LIMIT 1").execute()
    }

    /// Returns a description of the part that SQLite cannot parse, from its message; `nil` for any other message.
    ///
    /// The message is "malformed database schema (NAME) - REASON" (sqlite3InitCallback() in prepare.c).
    static func reason(_ message: String?) -> String? {
        let start = "malformed database schema ("
        guard let text = message?.dropFirst(start.count), message?.hasPrefix(start) == true,
            let end = text.range(of: ") - ", options: .backwards)
        else { return nil }
        let reason = text[end.upperBound...]
        // These are not about syntax: no version of SQLite writes such a row of the schema.
        guard reason != "invalid rootpage", reason != "orphan index", !reason.contains("malformed")
        else { return nil }
        let version = SQLiteLibrary.version
        let name = printable(bytes: text[..<end.lowerBound].utf8)
        return
            "SQLite \(version) cannot parse '\(name)' of its schema: \(printable(bytes: reason.utf8))"
    }
}
