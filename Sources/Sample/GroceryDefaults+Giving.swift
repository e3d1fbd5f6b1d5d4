internal import Foundation
internal import GRDB

extension GroceryDefaults {
    /// Adds the default rows that a store has never received, and records them as received.
    ///
    /// So rows that were removed or renamed do not come back. A row is not added if another one has its name.
    ///
    /// - Parameters:
    ///   - database: the store, in a transaction.
    ///   - isNew: whether the store was just created, so that it has received nothing.
    /// - Returns: the number of added rows.
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

    /// Gives the default rows of a store of the first schema their identities, by which later sets recognize them.
    ///
    /// The store has received the whole first set. A row that was removed or renamed is only recorded as received.
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

    /// Returns the key of the row with a name; adds the row if it is missing.
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
