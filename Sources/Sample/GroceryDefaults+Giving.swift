internal import Foundation
internal import GRDB

extension GroceryDefaults {
    /// Gives a store the rows that it was never given before, and remembers them as given.
    ///
    /// So a row that somebody removed or renamed does not come back. A row that has the name of one
    /// already there is not added either.
    ///
    /// - Parameters:
    ///   - database: the store, in a transaction.
    ///   - isNew: whether the store has just been made, and was given nothing whatever it says.
    /// - Returns: how many rows were added.
    /// - Throws: `DatabaseError`.
    func give(to database: Database, isNew: Bool) throws -> Int {
        var added = 0
        for row in rows {
            try Self.markGiven(row, database)
            guard isNew || database.changesCount == 1, try !row.isThere(database) else { continue }
            try row.insert(into: database)
            added += 1
        }
        return added
    }

    /// Gives the rows of a store of the first schema their identities, by which the next set knows them.
    ///
    /// It was given all of the first set. A row that is gone, or has another name, only counts as given.
    static func identifyFirst(_ database: Database) throws {
        for row in first.rows {
            try markGiven(row, database)
            let old = try String.fetchOne(
                database,
                sql: "SELECT id FROM \(row.kind.rawValue) WHERE name = ? ORDER BY rowid LIMIT 1",
                arguments: [row.name]
            )
            guard let old else { continue }
            try database.execute(
                sql: "UPDATE \(row.kind.rawValue) SET id = ? WHERE id = ?",
                arguments: [row.identity, old]
            )
            guard row.kind != .item else { continue }
            try database.execute(
                sql:
                    "UPDATE item SET \(row.kind.rawValue)_id = ? WHERE \(row.kind.rawValue)_id = ?",
                arguments: [row.identity, old]
            )
        }
    }

    private static func markGiven(_ row: Row, _ database: Database) throws {
        try database.execute(
            sql: "INSERT OR IGNORE INTO given_identity (identity) VALUES (?)",
            arguments: [row.identity]
        )
    }

    /// Returns the key of the row with a name, and makes that row if it is missing.
    static func key(of kind: Kind, named name: String, _ database: Database) throws -> String {
        let found = try String.fetchOne(
            database,
            sql: "SELECT id FROM \(kind.rawValue) WHERE name = ?",
            arguments: [name]
        )
        if let found { return found }
        let identifier = UUID().uuidString
        try database.execute(
            sql: "INSERT INTO \(kind.rawValue) (id, name) VALUES (?, ?)",
            arguments: [identifier, name]
        )
        return identifier
    }
}

extension GroceryDefaults.Row {
    fileprivate func isThere(_ database: Database) throws -> Bool {
        try Bool.fetchOne(
            database,
            sql: "SELECT EXISTS (SELECT 1 FROM \(kind.rawValue) WHERE id = ? OR name = ?)",
            arguments: [identity, name]
        ) == true
    }

    fileprivate func insert(into database: Database) throws {
        guard let item else {
            try database.execute(
                sql: "INSERT INTO \(kind.rawValue) (id, name) VALUES (?, ?)",
                arguments: [identity, name]
            )
            return
        }
        try GroceryStore.Item(
            identity: identity,
            name: name,
            quantity: item.quantity,
            unit: item.unit,
            isListed: true,
            isCollected: false,
            locationAtHome: item.home,
            locationAtShop: item.shop,
            hasPhoto: false
        ).insert(into: database)
    }
}
