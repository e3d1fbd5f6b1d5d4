internal import Foundation
internal import GRDB

/// The rows of a new sample store.
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

    /// Returns the key of the row with a name, and makes that row if it is missing.
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
