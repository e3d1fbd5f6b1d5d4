internal import Foundation

/// A JSON file of items, for another store or another program.
struct ItemsFile: Codable {
    /// The identifier of the format.
    static let format = "grocerydude-items"
    /// The version of the format.
    ///
    /// Newer files may contain unknown data.
    static let version = 1

    var format = ItemsFile.format
    var version = ItemsFile.version
    /// The person whose list it is.
    var owner: String?
    var items: [Item]

    /// An item with its pictures, which the file contains in Base64.
    struct Item: Codable {
        var id: String
        var name: String
        var quantity: Double
        var unit: String?
        var listed: Bool
        var collected: Bool
        var locationAtHome: String?
        var locationAtShop: String?
        var photo: Data?
        var thumbnail: Data?

        enum CodingKeys: String, CodingKey {
            case id, name, quantity, unit, listed, collected, photo, thumbnail
            case locationAtHome = "location_at_home"
            case locationAtShop = "location_at_shop"
        }
    }

    /// Returns the file's bytes, with keys and items in a fixed order, so that files can be compared.
    func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
    }

    /// Parses a file.
    ///
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - source: the file's name, for messages.
    /// - Returns: the file with valid items.
    /// - Throws: `SampleError.badItems` if anything is invalid.
    static func decode(_ bytes: [UInt8], from source: String) throws -> ItemsFile {
        func refuse(_ reason: String) -> SampleError { .badItems(source, reason: reason) }
        // A newer version's file is recognized first, whatever its items are like.
        struct Head: Decodable {
            var format: String
            var version: Int
        }
        do {
            let head = try JSONDecoder().decode(Head.self, from: Data(bytes))
            guard head.format == format else { throw refuse("'format' is not '\(format)'") }
            guard head.version <= version else {
                throw refuse("a newer version of the program wrote it")
            }
            let file = try JSONDecoder().decode(ItemsFile.self, from: Data(bytes))
            if let reason = file.fault { throw refuse(reason) }
            return file
        } catch let error as DecodingError {
            throw refuse(Self.reason(error))
        }
    }

    /// The reason why the items of a readable file cannot be imported; `nil` if there is none.
    private var fault: String? {
        var seen: Set<String> = []
        for (index, item) in items.enumerated() {
            let place = "items[\(index)]"
            if item.name.isEmpty { return "'\(place).name' is empty" }
            if item.id.isEmpty { return "'\(place).id' is empty" }
            if item.quantity < 0 { return "'\(place).quantity' cannot be \(item.quantity)" }
            if !seen.insert(item.identity).inserted { return "two items have the id '\(item.id)'" }
        }
        return nil
    }

    private static func reason(_ error: DecodingError) -> String {
        func place(_ path: [any CodingKey]) -> String {
            path.reduce("") { text, key in
                if let index = key.intValue { return "\(text)[\(index)]" }
                return text.isEmpty ? key.stringValue : "\(text).\(key.stringValue)"
            }
        }
        switch error {
        case .keyNotFound(let key, let context):
            return "'\(place(context.codingPath + [key]))' is missing"
        case .valueNotFound(_, let context), .typeMismatch(_, let context):
            return context.codingPath.isEmpty
                ? "it is not an object" : "'\(place(context.codingPath))' is of the wrong type"
        case .dataCorrupted(let context):
            return context.codingPath.isEmpty
                ? "it is not JSON" : "'\(place(context.codingPath))' cannot be read"
        @unknown default: return "it cannot be read"
        }
    }
}

extension ItemsFile.Item {
    /// The identity in the form that stores use for UUIDs.
    var identity: String { UUID(uuidString: id)?.uuidString ?? id }

    /// The item in the form of a store.
    var item: GroceryStore.Item {
        GroceryStore.Item(
            identity: identity,
            name: name,
            quantity: quantity,
            unit: unit,
            isListed: listed,
            isCollected: collected,
            locationAtHome: locationAtHome,
            locationAtShop: locationAtShop,
            hasPhoto: photo != nil
        )
    }

    init(_ stored: GroceryStore.Item.Stored, photo: Data?) {
        self.init(
            id: stored.item.identity,
            name: stored.item.name,
            quantity: stored.item.quantity,
            unit: stored.item.unit,
            listed: stored.item.isListed,
            collected: stored.item.isCollected,
            locationAtHome: stored.item.locationAtHome,
            locationAtShop: stored.item.locationAtShop,
            photo: photo,
            thumbnail: stored.thumbnail
        )
    }
}
