internal import Files
internal import Foundation
internal import GRDB

/// A set of default rows for a sample store; newer versions of the application have newer sets.
struct GroceryDefaults {
    /// A table with default rows.
    enum Kind: String {
        case unit, item
        case home = "location_at_home"
        case shop = "location_at_shop"
    }

    /// An item of a set.
    struct Item {
        var name: String
        var quantity: Double
        var unit: String
        var home: String
        var shop: String
    }

    /// A row of a set.
    struct Row {
        var kind: Kind
        var name: String
        var item: Item?

        var identity: String { GroceryDefaults.identity(of: kind, named: name) }
    }

    var units: [String]
    var items: [Item]

    /// All rows; referenced rows come first.
    var rows: [Row] {
        let homes = Self.inOrder(items.map(\.home)).map { Row(kind: .home, name: $0) }
        let shops = Self.inOrder(items.map(\.shop)).map { Row(kind: .shop, name: $0) }
        return units.map { Row(kind: .unit, name: $0) } + homes + shops
            + items.map { Row(kind: .item, name: $0.name, item: $0) }
    }

    private static func inOrder(_ names: [String]) -> [String] {
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }

    /// The namespace UUID of all identities of default rows: 5F0B7C36-9E53-4D41-8A6B-2D7A1C94E0F3.
    private static let namespace = UUID(
        uuid: (
            0x5F, 0x0B, 0x7C, 0x36, 0x9E, 0x53, 0x4D, 0x41,
            0x8A, 0x6B, 0x2D, 0x7A, 0x1C, 0x94, 0xE0, 0xF3
        )
    )

    /// Returns the identity of a default row, a UUID of version 5 (RFC 9562), which is the same everywhere.
    static func identity(of kind: Kind, named name: String) -> String {
        UUID(named: "\(kind.rawValue)/\(name)", in: namespace).uuidString
    }

    // MARK: - The sets

    /// The set of the first schema's stores; it never changes.
    static let first = GroceryDefaults(
        units: ["bag", "bottle", "box", "g", "kg", "l", "ml", "pack"],
        items: firstItems.map {
            Item(name: $0, quantity: $1, unit: $2, home: $3, shop: $4)
        }
    )

    private static let firstItems: [(String, Double, String, String, String)] = [
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

    /// The set of the present version.
    static let current = GroceryDefaults(
        units: first.units + ["bunch", "can", "jar"],
        items: first.items
    )
}
