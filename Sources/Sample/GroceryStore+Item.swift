internal import Foundation
internal import GRDB

extension GroceryStore {
    /// An item of the grocery list.
    public struct Item: Sendable, Equatable {
        /// The key, a UUID; a default item has the same one in every store.
        public var identity: String
        public var name: String
        public var quantity: Double
        public var unit: String?
        public var isListed: Bool
        public var isCollected: Bool
        public var locationAtHome: String?
        public var locationAtShop: String?
        public var hasPhoto: Bool
    }
}

extension GroceryStore.Item {
    /// An item with its pictures, as in its row.
    struct Stored {
        var item: GroceryStore.Item
        /// The reference to the photo's file.
        var photo: Data?
        /// The thumbnail as a PNG.
        var thumbnail: Data?
    }

    /// Reads all items, by name.
    static func fetchAll(_ database: Database) throws -> [Stored] {
        let sql = """
            SELECT item.*, unit.name AS unit_name, home.name AS home, shop.name AS shop
            FROM item
            LEFT JOIN unit ON unit.id = item.unit_id
            LEFT JOIN location_at_home AS home ON home.id = item.location_at_home_id
            LEFT JOIN location_at_shop AS shop ON shop.id = item.location_at_shop_id
            ORDER BY item.name, item.id
            """
        return try Row.fetchAll(database, sql: sql).map { row in
            let item = GroceryStore.Item(
                identity: row["id"],
                name: row["name"],
                quantity: row["quantity"],
                unit: row["unit_name"],
                isListed: row["listed"],
                isCollected: row["collected"],
                locationAtHome: row["home"],
                locationAtShop: row["shop"],
                hasPhoto: row["photo"] != nil
            )
            return Stored(item: item, photo: row["photo"], thumbnail: row["thumbnail"])
        }
    }

    /// Inserts the item's row; adds its unit and its locations if they are missing.
    func insert(
        into database: Database,
        photo: Data? = nil,
        thumbnail: Data? = nil
    ) throws {
        func key(_ kind: GroceryDefaults.Kind, _ name: String?) throws -> String? {
            try name.map { try GroceryDefaults.key(of: kind, named: $0, database) }
        }
        try database.execute(
            sql: """
                INSERT INTO item (id, name, quantity, listed, collected, unit_id,
                    location_at_home_id, location_at_shop_id, photo, thumbnail)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                identity, name, quantity, isListed, isCollected, key(.unit, unit),
                key(.home, locationAtHome), key(.shop, locationAtShop), photo, thumbnail,
            ]
        )
    }
}
