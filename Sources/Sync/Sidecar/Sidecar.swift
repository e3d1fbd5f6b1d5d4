internal import Files
internal import GRDB
public import SystemPackage

/// This device's own database of one store that takes part: the state of all rows, and what the store
/// held when we last looked.
///
/// It lies outside the stores directory and outside the container. Whoever changes it holds the lock on
/// its directory.
public final class Sidecar: Sendable {
    /// The version of the tables.
    private static let format: Int64 = 1
    static let fileName = "sync.sqlite"

    /// The directory that it has for itself.
    public let directory: FilePath
    let queue: DatabaseQueue

    /// The database file.
    let path: FilePath
    /// The directory of files that wait for upload.
    let outbox: FilePath

    /// Opens the sidecar in a directory, which is made if it is missing.
    ///
    /// - Throws: `SidecarError`, `FileError`.
    public init(in directory: FilePath) throws {
        self.directory = directory
        let path = directory.appending(Self.fileName)
        self.path = path
        outbox = directory.appending("outbox")
        let fileSystem = LocalFileSystem()
        try fileSystem.createDirectories(outbox)
        // SQLite would make it with whatever the umask leaves.
        if try FileInfo.ifPresent(path) == nil { _ = try File.create(path) }
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { database in
            // Ids come in no order: with SQLite's 2 MB, each row of many is read and written anew.
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
    /// - Throws: `SidecarError`; what `body` throws.
    func read<Result>(_ body: (SidecarAccess) throws -> Result) throws -> Result {
        try Self.translating(path) {
            try queue.read { try body(SidecarAccess($0, of: path)) }
        }
    }

    /// Changes it in one transaction, which is on the disk when this returns.
    ///
    /// - Throws: `SidecarError`; what `body` throws; then nothing was changed.
    func write<Result>(_ body: (SidecarAccess) throws -> Result) throws -> Result {
        try Self.translating(path) {
            try queue.write { database in
                let access = SidecarAccess(database, of: path)
                let result = try body(access)
                try access.saveTallies()
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
