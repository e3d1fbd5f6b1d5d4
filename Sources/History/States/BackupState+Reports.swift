internal import Foundation
internal import GRDB

// The reports about each store, since counting its rows again takes as long as reading it.
extension BackupState {
    /// Returns the last backup's report about a store, if the store's files are unchanged.
    ///
    /// - Parameters:
    ///   - path: the store's path.
    ///   - standing: the state of the store's files.
    /// - Returns: the bytes passed to `put`.
    /// - Throws: `HistoryError`; `.damaged` if the checksum is wrong.
    public func report(of path: [UInt8], standing: String) throws -> [UInt8]? {
        try access { database in
            let statement = try database.cachedStatement(
                sql: "SELECT content, sum FROM report WHERE path = ? AND standing = ?"
            )
            let arguments: StatementArguments = [Data(path), standing]
            guard let row = try Row.fetchOne(statement, arguments: arguments) else { return nil }
            let (content, sum): (Data, Data) = (row[0], row[1])
            guard Array(sum) == Self.sum(path, Array(standing.utf8), Array(content)) else {
                throw damaged("the row of a store is not as it was written")
            }
            return Array(content)
        }
    }

    /// Stores the report about a store.
    public func put(report: [UInt8], of path: [UInt8], standing: String) throws {
        let sum = Self.sum(path, Array(standing.utf8), report)
        try access { database in
            try database.execute(
                sql: "INSERT OR REPLACE INTO report VALUES (?, ?, ?, ?)",
                arguments: [Data(path), standing, Data(report), Data(sum)]
            )
        }
    }
}
