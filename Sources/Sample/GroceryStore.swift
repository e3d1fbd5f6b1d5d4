internal import Files
internal import Foundation
internal import GRDB
public import SystemPackage

/// The sample application's store: a grocery list, so that there is something to back up.
///
/// It stands for any application: a SQLite database in WAL mode, with photos that are kept as files
/// beside it as Core Data keeps them.
public struct GroceryStore {
    /// The database's name in a stores directory.
    public static let fileName = "Grocery-Dude.sqlite"

    private let queue: DatabaseQueue
    private let directory: FilePath

    private var path: FilePath { directory.appending(Self.fileName) }

    /// The directory of the photos, which need not be there.
    var photos: PhotoFiles {
        PhotoFiles(
            directory: directory.appending(".Grocery-Dude_SUPPORT").appending("_EXTERNAL_DATA")
        )
    }

    /// Opens the store in a stores directory; one of an older version is upgraded.
    ///
    /// - Throws: `SampleError.missing` if there is none; `SampleError.failed`.
    public init(in directory: FilePath) throws {
        let path = directory.appending(Self.fileName)
        guard try FileInfo.ifPresent(path) != nil else { throw SampleError.missing(path) }
        try self.init(opening: path, in: directory)
    }

    /// Creates the store with its default data, and the stores directory if it is missing.
    ///
    /// - Parameters:
    ///   - directory: the stores directory.
    ///   - withTestData: adds some 20 MB of items with photos.
    /// - Returns: the new store, opened.
    /// - Throws: `SampleError.exists` if there is a store already; `SampleError.failed`.
    public static func create(in directory: FilePath, withTestData: Bool) throws -> GroceryStore {
        let path = directory.appending(Self.fileName)
        guard try FileInfo.ifPresent(path) == nil else { throw SampleError.exists(path) }
        try LocalFileSystem().createDirectories(directory)
        let store = try GroceryStore(opening: path, in: directory)
        _ = try store.write { try GroceryDefaults.current.give(to: $0, isNew: true) }
        if withTestData { try store.insertTestData() }
        return store
    }

    private init(opening path: FilePath, in directory: FilePath) throws {
        self.directory = directory
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        configuration.journalMode = .wal
        queue = try SampleError.translating(path) {
            let queue = try DatabaseQueue(path: path.string, configuration: configuration)
            try GrocerySchema.migrator.migrate(queue)
            return queue
        }
    }

    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try SampleError.translating(path) { try queue.read(body) }
    }

    /// Runs `body` in one transaction, of which nothing stays if it throws.
    func write<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try SampleError.translating(path) { try queue.write(body) }
    }

    /// Returns all items, by name.
    ///
    /// - Throws: `SampleError.failed`.
    public func items() throws -> [Item] {
        try read { try Item.fetchAll($0).map(\.item) }
    }

    /// Adds an item to the list; a unit that is not known yet is made.
    ///
    /// - Throws: `SampleError.failed`.
    public func add(name: String, quantity: Double, unit: String?) throws {
        try write { database in
            try Item(
                identity: UUID().uuidString,
                name: name,
                quantity: quantity,
                unit: unit,
                isListed: true,
                isCollected: false,
                hasPhoto: false
            ).insert(into: database)
        }
    }

    /// Removes the items with a name, and their photos.
    ///
    /// - Returns: how many there were.
    /// - Throws: `SampleError.noItem` if there is none; `SampleError.failed`, `FileError`.
    public func remove(name: String) throws -> Int {
        let sql = "DELETE FROM item WHERE name = ? RETURNING photo"
        let references = try write { try Data?.fetchAll($0, sql: sql, arguments: [name]) }
        guard !references.isEmpty else { throw SampleError.noItem(name) }
        for case let reference? in references {
            try LocalFileSystem().remove(photos.path(of: reference))
        }
        return references.count
    }

    /// Adds the default data of this version that the store was never given, each row once.
    ///
    /// - Returns: how many rows were added, in all tables.
    /// - Throws: `SampleError.failed`.
    public func update() throws -> Int {
        try update(to: .current)
    }

    /// Adds the default data of a set; see `update()`.
    func update(to defaults: GroceryDefaults) throws -> Int {
        try write { try defaults.give(to: $0, isNew: false) }
    }

    /// Adds items with photos until there are about 20 MB of them.
    private func insertTestData() throws {
        try photos.whileAdding(isSynced: false) { photos in
            try write { database in
                for name in (1...200).map({ "Test Item \($0)" }) {
                    let picture = ItemPicture(of: name)
                    try Item(
                        identity: GroceryDefaults.identity(of: .item, named: name),
                        name: name,
                        quantity: 1,
                        isListed: false,
                        isCollected: false,
                        hasPhoto: true
                    ).insert(
                        into: database,
                        photo: photos.add(picture.photo),
                        thumbnail: Data(picture.thumbnail)
                    )
                }
            }
        }
    }
}
