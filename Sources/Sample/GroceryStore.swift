internal import Files
internal import Foundation
internal import GRDB
public import SystemPackage

/// The sample application's store: a grocery list, so that there is something to back up.
///
/// It stands for any application: a SQLite database in WAL mode, with photos that are kept as files
/// beside it as Core Data keeps them.
public struct GroceryStore {
    /// An item of the grocery list.
    public struct Item: Sendable, Equatable {
        public var name: String
        public var quantity: Double
        public var unit: String?
        public var isListed: Bool
        public var isCollected: Bool
        public var locationAtHome: String?
        public var locationAtShop: String?
        public var hasPhoto: Bool
    }

    /// The database's name in a stores directory.
    public static let fileName = "Grocery-Dude.sqlite"

    private let queue: DatabaseQueue
    private let directory: FilePath

    private var path: FilePath { directory.appending(Self.fileName) }

    /// Opens the store in a stores directory.
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
        try store.write { try GroceryDefaults.insert(into: $0) }
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

    private func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try SampleError.translating(path) { try queue.read(body) }
    }

    private func write<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try SampleError.translating(path) { try queue.write(body) }
    }

    /// Returns all items, by name.
    ///
    /// - Throws: `SampleError.failed`.
    public func items() throws -> [Item] {
        try read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT item.*, unit.name AS unit_name, home.name AS home, shop.name AS shop
                    FROM item
                    LEFT JOIN unit ON unit.id = item.unit_id
                    LEFT JOIN location_at_home AS home ON home.id = item.location_at_home_id
                    LEFT JOIN location_at_shop AS shop ON shop.id = item.location_at_shop_id
                    ORDER BY item.name, item.id
                    """
            ).map { row in
                Item(
                    name: row["name"],
                    quantity: row["quantity"],
                    unit: row["unit_name"],
                    isListed: row["listed"],
                    isCollected: row["collected"],
                    locationAtHome: row["home"],
                    locationAtShop: row["shop"],
                    hasPhoto: row["photo"] != nil
                )
            }
        }
    }

    /// Adds an item to the list; a unit that is not known yet is made.
    ///
    /// - Throws: `SampleError.failed`.
    public func add(name: String, quantity: Double, unit: String?) throws {
        try write { database in
            let unitID = try unit.map { try GroceryDefaults.row(in: "unit", named: $0, database) }
            try database.execute(
                sql: """
                    INSERT INTO item (id, name, quantity, listed, collected, unit_id)
                    VALUES (?, ?, ?, 1, 0, ?)
                    """,
                arguments: [UUID().uuidString, name, quantity, unitID]
            )
        }
    }

    /// Removes the items with a name, and their photos.
    ///
    /// - Returns: how many there were.
    /// - Throws: `SampleError.noItem` if there is none; `SampleError.failed`, `FileError`.
    public func remove(name: String) throws -> Int {
        let sql = "DELETE FROM item WHERE name = ? RETURNING photo"
        let photos = try write { try Data?.fetchAll($0, sql: sql, arguments: [name]) }
        guard !photos.isEmpty else { throw SampleError.noItem(name) }
        for case let photo? in photos {
            let file = String(decoding: photo.dropFirst().dropLast(), as: UTF8.self)
            try LocalFileSystem().remove(externalDirectory.appending(file))
        }
        return photos.count
    }

    private var externalDirectory: FilePath {
        directory.appending(".Grocery-Dude_SUPPORT").appending("_EXTERNAL_DATA")
    }

    /// Adds items with photos until there are about 20 MB of them.
    private func insertTestData() throws {
        try LocalFileSystem().createDirectories(externalDirectory)
        var generator = SystemRandomNumberGenerator()
        try write { database in
            for number in 1...200 {
                let identifier = UUID().uuidString
                // A photo does not compress, so random bytes stand for one.
                let photo = (0..<(100_000 / 8)).map { _ in generator.next() as UInt64 }
                let file = try File.create(externalDirectory.appending(identifier))
                try photo.withUnsafeBytes { try file.write($0, at: 0) }
                let reference = Data([2]) + Data(identifier.utf8) + Data([0])
                try database.execute(
                    sql: """
                        INSERT INTO item (id, name, quantity, listed, collected, photo)
                        VALUES (?, ?, 1, 0, 0, ?)
                        """,
                    arguments: [UUID().uuidString, "Test Item \(number)", reference]
                )
            }
        }
    }
}
