internal import Foundation
internal import GRDB

extension GroceryStore {
    /// The result of an import.
    public struct Imported: Sendable, Equatable {
        /// Items that were added.
        public var added: Int
        /// Items that were there already, and stay as they are.
        public var present: Int
    }

    /// Returns all items with their pictures, in JSON.
    ///
    /// - Returns: the JSON, and how many items are in it.
    /// - Throws: `SampleError.failed`; `FileError` if a photo cannot be read.
    public func exportItems() throws -> (json: [UInt8], count: Int) {
        let items = try read { database in
            try Item.fetchAll(database).map { stored in
                ItemsFile.Item(stored, photo: try stored.photo.map(photos.read))
            }
        }
        return (try ItemsFile(items: items).encoded(), items.count)
    }

    /// Adds the items of such a JSON that are not there yet, by their identities: all of them or, if
    /// something is wrong, none.
    ///
    /// - Parameters:
    ///   - json: what `exportItems()` returned.
    ///   - source: where it is from, for messages.
    /// - Returns: how many items were added, and how many were there.
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
