internal import Files
internal import Foundation
internal import GRDB

extension GroceryStore {
    /// The result of an import.
    public struct Imported: Sendable, Equatable {
        /// The number of added items.
        public var added: Int
        /// The number of items that existed already, and were not changed.
        public var present: Int
        /// The number of items that existed already, and were replaced.
        public var replaced = 0
        /// The person whose list it is, if the file names one.
        public var owner: String?
    }

    /// Returns all items with their pictures, as JSON.
    ///
    /// - Parameter owner: the person whose list it is, for those who import it.
    /// - Returns: the JSON, and the number of items.
    /// - Throws: `SampleError.failed`; `FileError` if a photo cannot be read.
    public func exportItems(of owner: String? = nil) throws -> (json: [UInt8], count: Int) {
        let items = try read { database in
            try Item.fetchAll(database).map { stored in
                ItemsFile.Item(stored, photo: try stored.photo.map(photos.read))
            }
        }
        return (try ItemsFile(owner: owner, items: items).encoded(), items.count)
    }

    /// Adds the items of exported JSON whose identities are missing.
    ///
    /// If there is an error, it changes nothing.
    ///
    /// - Parameters:
    ///   - json: the result of `exportItems()`.
    ///   - source: the origin of the JSON, for messages.
    ///   - replaces: whether items that exist already become those of the JSON.
    /// - Returns: the numbers of added, replaced and unchanged items.
    /// - Throws: `SampleError.badItems`, `.failed`; `FileError`.
    public func importItems(
        _ json: [UInt8],
        from source: String,
        replacing replaces: Bool = false
    ) throws -> Imported {
        let file = try ItemsFile.decode(json, from: source)
        var replacedPhotos: [Data] = []
        let imported = try photos.whileAdding(isSynced: true) { photos in
            try write { database in
                var imported = Imported(added: 0, present: 0, owner: file.owner)
                for entry in file.items {
                    let isThere = try Bool.fetchOne(
                        database,
                        sql: "SELECT EXISTS (SELECT 1 FROM item WHERE id = ?)",
                        arguments: [entry.identity]
                    )
                    guard isThere != true || replaces else {
                        imported.present += 1
                        continue
                    }
                    if isThere == true {
                        let sql = "DELETE FROM item WHERE id = ? RETURNING photo"
                        let photos = try Data?.fetchAll(
                            database,
                            sql: sql,
                            arguments: [entry.identity]
                        )
                        replacedPhotos += photos.compactMap(\.self)
                    }
                    try entry.item.insert(
                        into: database,
                        photo: entry.photo.map { try photos.add(Array($0)) },
                        thumbnail: entry.thumbnail
                    )
                    if isThere == true { imported.replaced += 1 } else { imported.added += 1 }
                }
                return imported
            }
        }
        // A crash before this leaves files that no row refers to.
        for photo in replacedPhotos { try LocalFileSystem().remove(photos.path(of: photo)) }
        return imported
    }
}
