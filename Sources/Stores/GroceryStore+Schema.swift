internal import Foundation
internal import GRDB

/// The tables of the sample store.
enum GrocerySchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: items, units, locations") { database in
            for table in ["unit", "location_at_home", "location_at_shop"] {
                try database.create(table: table) { definition in
                    definition.primaryKey("id", .text)
                    definition.column("name", .text).notNull().unique()
                }
            }
            try database.create(table: "item") { definition in
                definition.primaryKey("id", .text)
                definition.column("name", .text).notNull().indexed()
                definition.column("quantity", .double).notNull().defaults(to: 1)
                definition.column("listed", .boolean).notNull().defaults(to: false)
                definition.column("collected", .boolean).notNull().defaults(to: false)
                definition.column("unit_id", .text).references("unit", onDelete: .setNull)
                definition.column("location_at_home_id", .text)
                    .references("location_at_home", onDelete: .setNull)
                definition.column("location_at_shop_id", .text)
                    .references("location_at_shop", onDelete: .setNull)
                // 0x02, the UUID of a file in the external data as text, NUL.
                definition.column("photo", .blob)
            }
        }
        return migrator
    }
}

/// What a new sample store holds.
enum GroceryDefaults {
    private static let units = ["bag", "bottle", "box", "g", "kg", "l", "ml", "pack"]
    private static let items:
        [(name: String, quantity: Double, unit: String, home: String, shop: String)] = [
            ("Apples", 6, "pack", "Fruit Bowl", "Produce"),
            ("Bread", 1, "pack", "Bread Box", "Bakery"),
            ("Butter", 250, "g", "Fridge", "Dairy"),
            ("Carrots", 1, "kg", "Fridge", "Produce"),
            ("Cheese", 400, "g", "Fridge", "Dairy"),
            ("Coffee", 500, "g", "Pantry", "Hot Drinks"),
            ("Eggs", 10, "box", "Fridge", "Dairy"),
            ("Flour", 1, "kg", "Pantry", "Baking"),
            ("Milk", 2, "l", "Fridge", "Dairy"),
            ("Olive Oil", 1, "bottle", "Pantry", "Oils"),
            ("Rice", 1, "bag", "Pantry", "Grains"),
            ("Tomatoes", 6, "pack", "Fruit Bowl", "Produce"),
        ]

    static func insert(into database: Database) throws {
        for unit in units { _ = try row(in: "unit", named: unit, database) }
        for item in items {
            try database.execute(
                sql: """
                    INSERT INTO item (id, name, quantity, listed, collected, unit_id,
                        location_at_home_id, location_at_shop_id)
                    VALUES (?, ?, ?, 1, 0, ?, ?, ?)
                    """,
                arguments: [
                    UUID().uuidString, item.name, item.quantity,
                    try row(in: "unit", named: item.unit, database),
                    try row(in: "location_at_home", named: item.home, database),
                    try row(in: "location_at_shop", named: item.shop, database),
                ]
            )
        }
    }

    /// The key of a row with a name, which is made where it is missing.
    static func row(in table: String, named name: String, _ database: Database) throws -> String {
        let found = try String.fetchOne(
            database,
            sql: "SELECT id FROM \(table) WHERE name = ?",
            arguments: [name]
        )
        if let found { return found }
        let identifier = UUID().uuidString
        try database.execute(
            sql: "INSERT INTO \(table) (id, name) VALUES (?, ?)",
            arguments: [identifier, name]
        )
        return identifier
    }
}
