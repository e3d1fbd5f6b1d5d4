internal import Foundation
internal import GRDB

extension GroceryStore {
    /// The result of an import.
    public struct Imported: Sendable, Equatable {
        /// The number of added items.
        public var added: Int
        /// The number of items that existed already, and were not changed.
        public var present: Int
    }

    /// Returns all items with their pictures, as JSON.
    ///
    /// - Returns: the JSON, and the number of items.
    /// - Throws: `SampleError.failed`; `FileError` if a photo cannot be read.
    public func exportItems() throws -> (json: [UInt8], count: Int) {
        let items = try read { database in
            try Item.fetchAll(database).map { stored in
                ItemsFile.Item(stored, photo: try stored.photo.map(photos.read))
            }
        }
        return (try ItemsFile(items: items).encoded(), items.count)
    }

    /// Adds the items of exported JSON whose identities are missing.
    ///
    /// If there is an error, it adds none.
    ///
    /// - Parameters:
    ///   - json: the result of `exportItems()`.
    ///   - source: the origin of the JSON, for messages.
    /// - Returns: the numbers of added and of existing items.
    /// - Throws: `SampleError.badItems`, `.failed`; `FileError`.
    public func importItems(_ json: [UInt8], from source: String) throws -> Imported {
        let file = try ItemsFile.decode(json, from: source)
        return try photos.whileAdding(isSynced: true) { photos in
            try write { database in
                var imported = Imported(added: 0, present: 0)
                for entry in file.items {
                    let isThere = try Bool.fetchOne(
                        database,
                        sql: "SELECT EXISTS (SELECT 1 FROM item WHERE id = ?)",
                        arguments: [entry.identity]
                    )
                    guard isThere != true else {
                        imported.present += 1
                        continue
                    }
                    try entry.item.insert(
                        into: database,
                        photo: entry.photo.map { try photos.add(Array($0)) },
                        thumbnail: entry.thumbnail
                    )
                    imported.added += 1
                }
                return imported
            }
        }
    }
}
