internal import Changes
internal import Files
internal import GRDB
internal import Stores
public import SystemPackage

/// This device's own database for one store: the state of all rows, and the store's content at the last look.
///
/// It is outside the stores directory and the container. A process that changes it holds the lock on its directory.
public final class Sidecar: Sendable {
    /// The version of the tables.
    private static let format: Int64 = 1
    static let fileName = "sync.sqlite"

    /// The directory, which belongs to the sidecar alone.
    public let directory: FilePath
    let queue: DatabaseQueue

    /// The database file.
    let path: FilePath
    /// The directory of files that wait for upload.
    let outbox: FilePath

    /// Opens the sidecar in a directory, and creates it if it is missing.
    ///
    /// - Throws: `SidecarError`, `FileError`.
    public init(in directory: FilePath) throws {
        self.directory = directory
        let path = directory.appending(Self.fileName)
        self.path = path
        outbox = directory.appending("outbox")
        let fileSystem = LocalFileSystem()
        try fileSystem.createDirectories(outbox)
        // SQLite would create the file with permissions by the umask.
        if try FileInfo.ifPresent(path) == nil { _ = try File.create(path) }
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { database in
            // Ids are in no order. With SQLite's default cache of 2 MB, pages would be read and written again for
            // each of many rows.
            try database.execute(
                sql: """
                    PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16384;
                    PRAGMA wal_autocheckpoint = 8192;
                    \(SidecarSchema.passing)
                    """
            )
            database.add(function: SidecarSchema.hintNumber)
        }
        queue = try Self.translating(path) {
            let queue = try DatabaseQueue(path: path.string, configuration: configuration)
            try SidecarSchema.migrator.migrate(queue)
            return queue
        }
        try write { access in
            let format = try access.integer("format")
            if let format, format > Self.format { throw SidecarError.tooNew(path, format: format) }
            if format == nil { try access.set("format", Self.format) }
        }
    }

    /// Returns whether a directory has a sidecar.
    public static func isThere(in directory: FilePath) throws -> Bool {
        try FileInfo.ifPresent(directory.appending(fileName)) != nil
    }

    /// Reads in one transaction.
    ///
    /// - Throws: `SidecarError`; any error of `body`.
    func read<Result>(_ body: (SidecarAccess) throws -> Result) throws -> Result {
        try Self.translating(path) {
            try queue.read { try body(SidecarAccess($0, of: path)) }
        }
    }

    /// Writes in one transaction, which is on the disk when this returns.
    ///
    /// - Throws: `SidecarError`; any error of `body`. Nothing is changed if it throws.
    func write<Result>(_ body: (SidecarAccess) throws -> Result) throws -> Result {
        try Self.translating(path) {
            try queue.write { database in
                let access = SidecarAccess(database, of: path)
                let result = try body(access)
                try withExtendedLifetime(access) { try access.states.saveTallies() }
                return result
            }
        }
    }

    /// Closes the database.
    ///
    /// - Throws: `SidecarError`.
    public func close() throws {
        try Self.translating(path) { try queue.close() }
    }

    private static func translating<Result>(
        _ path: FilePath,
        _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw SidecarError(error, of: path)
        }
    }
}

// The end of the last run, for commands that only show it.
extension Sidecar {
    /// Records how a run ended.
    ///
    /// - Parameters:
    ///   - decision: the question that a person must answer before anything is exchanged; `nil` if there is none.
    ///   - isAway: whether the container was missing.
    /// - Throws: `SidecarError`.
    public func note(_ decision: SyncDecision?, isAway: Bool) throws {
        try write { access in
            try access.set("decision", decision?.code)
            try access.set("decision_text", decision?.description)
            try access.set("away", isAway ? 1 : 0)
        }
    }
}

extension Sidecar {
    /// Returns the directory for the sidecar of a store, in the directory of all sidecars of this user.
    ///
    /// The store's path must have no symbolic links. The sidecar may or may not exist.
    public static func directory(for store: FilePath, in parent: FilePath) -> FilePath {
        let digest = Array(store.string.utf8).withUnsafeBytes { Digest(of: $0) }
        return parent.appending(String(digest.description.prefix(16)))
    }
}

extension Sidecar {
    /// Returns the parts of a store that sync by the group's map, and the mappings of its tables.
    func tables(in snapshot: StoreSnapshot) throws -> (SyncSchema, [TableMapping]) {
        let rules = try read { SchemaRules(try $0.membership.map) }
        let schema = try SyncSchema(of: snapshot, rules: rules)
        return (schema, TableMapping.mappings(of: schema.tables))
    }
}

// The store that a sidecar belongs to, which the name of its directory does not show.
extension Sidecar {
    static let storeFileName = "store"
    /// The limit of a path's length in bytes, greater than that of any system.
    private static let longestPath: Int64 = 1 << 16

    /// Records which store the sidecar belongs to.
    ///
    /// - Throws: `FileError`.
    public func note(store: FilePath) throws {
        guard try Self.store(in: directory) != store else { return }
        try LocalFileSystem()
            .write(Array(store.string.utf8), to: directory.appending(Self.storeFileName))
    }

    /// Returns the store whose sidecar is in a directory; `nil` if there is no sidecar, or no record of the store.
    ///
    /// - Throws: `FileError`.
    public static func store(in directory: FilePath) throws -> FilePath? {
        let path = directory.appending(storeFileName)
        guard try isThere(in: directory), try FileInfo.ifPresent(path) != nil else { return nil }
        let bytes = try File.contents(of: path, limit: longestPath)
        return String(validating: bytes, as: UTF8.self).map { FilePath($0) }
    }
}
