internal import CSQLite
internal import Files
internal import Foundation
internal import GRDB
public import SystemPackage

/// The sample application's store: a grocery list, which gives users something to back up.
///
/// It represents any application: an SQLite database in WAL mode, with photos in files beside it, as Core Data keeps
/// them.
public struct GroceryStore {
    /// The database's file name in a stores directory.
    public static let fileName = "Grocery-Dude.sqlite"

    private let queue: DatabaseQueue
    private let directory: FilePath

    private var path: FilePath { directory.appending(Self.fileName) }

    /// The directory of the photos, which need not exist.
    var photos: PhotoFiles {
        PhotoFiles(
            directory: directory.appending(".Grocery-Dude_SUPPORT").appending("_EXTERNAL_DATA")
        )
    }

    /// Opens the store in a stores directory, and upgrades one of an older version.
    ///
    /// - Throws: `SampleError.missing` if it does not exist; `SampleError.failed`.
    public init(in directory: FilePath) throws {
        let path = directory.appending(Self.fileName)
        guard try FileInfo.ifPresent(path) != nil else { throw SampleError.missing(path) }
        try self.init(opening: path, in: directory)
    }

    /// Creates the store with its default data, and the stores directory if it is missing.
    ///
    /// - Parameters:
    ///   - directory: the stores directory.
    ///   - besideOthers: whether the directory may contain other data.
    ///   - withTestData: whether to add about 20 MB of items with photos.
    /// - Returns: the new store, opened.
    /// - Throws: `SampleError.exists` if the store exists already; `SampleError.otherData` and `.failed`.
    public static func create(
        in directory: FilePath,
        besideOthers: Bool = false,
        withTestData: Bool
    ) throws -> GroceryStore {
        let path = directory.appending(Self.fileName)
        guard try FileInfo.ifPresent(path) == nil else { throw SampleError.exists(path) }
        if !besideOthers, try FileInfo.ifPresent(directory) != nil {
            // A new file system contains that directory.
            let others = try Directory.open(directory).names().filter { $0 != "lost+found" }
            if let name = others.min() { throw SampleError.otherData(directory, "\(name)") }
        }
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
        // The store may come from a stranger's backup.
        configuration.prepareDatabase { _ = csqlite_distrust($0.sqliteConnection, 0) }
        queue = try SampleError.translating(path) {
            let queue = try DatabaseQueue(path: path.string, configuration: configuration)
            try GrocerySchema.migrator.migrate(queue)
            return queue
        }
    }

    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try SampleError.translating(path) { try queue.read(body) }
    }

    /// Runs `body` in one transaction, which is rolled back if it throws.
    func write<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try SampleError.translating(path) { try queue.write(body) }
    }

    /// Returns all items, sorted by name.
    ///
    /// - Throws: `SampleError.failed`.
    public func items() throws -> [Item] {
        try read { try Item.fetchAll($0).map(\.item) }
    }

    /// Adds an item to the list, and its unit if that is missing.
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
    /// - Returns: the number of removed items.
    /// - Throws: `SampleError.noItem` if no item has the name; `SampleError.failed`, `FileError`.
    public func remove(name: String) throws -> Int {
        let sql = "DELETE FROM item WHERE name = ? RETURNING photo"
        let references = try write { try Data?.fetchAll($0, sql: sql, arguments: [name]) }
        guard !references.isEmpty else { throw SampleError.noItem(name) }
        for case let reference? in references {
            try LocalFileSystem().remove(photos.path(of: reference))
        }
        return references.count
    }

    /// Adds the default rows of the present version that the store has never received.
    ///
    /// - Returns: the number of added rows in all tables.
    /// - Throws: `SampleError.failed`.
    public func update() throws -> Int {
        try update(to: .current)
    }

    /// Adds the default data of a set; see `update()`.
    func update(to defaults: GroceryDefaults) throws -> Int {
        try write { try defaults.give(to: $0, isNew: false) }
    }

    /// Adds items with photos, about 20 MB in all.
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
