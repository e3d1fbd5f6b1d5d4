public import Files
internal import GRDB
public import SystemPackage

/// The pages of one store as of one committed transaction, read while the transaction is held.
///
/// It changes no byte in the stores directory, and in WAL mode no writer waits for it. It holds the store until its
/// last reference ends. While one thread reads pages, another may call `report`.
public final class StoreSnapshot {
    /// The source of the snapshot's pages.
    private enum Pages {
        /// The database file alone.
        case database
        /// The database file, with the newest frame of each page in the log.
        case overlaid(WriteAheadLog, frames: [UInt32: UInt32])
    }

    /// The store's path below the stores directory.
    public let path: RelativePath
    /// The length of a page in bytes.
    public let pageSize: Int
    /// The number of pages in the database.
    public let pageCount: Int64
    /// The number of bytes to save: the database's pages, and any bytes after them in its file.
    ///
    /// A damaged header may report too few pages, so the file's length counts too. If there is a log, only the log
    /// knows the size.
    public let size: Int64
    /// Whether the snapshot reads a copy into which the store's journal or log had to be played back.
    public var wasRecovered: Bool {
        if case .copy = transaction?.hold { true } else { false }
    }

    /// The log, if damage in it hides later transactions; the snapshot has the transactions before the damage.
    public var damagedLog: DamagedLog? { transaction?.damagedLog }

    let connection: Connection
    /// The transaction; `nil` for a store in a backup, which nobody changes.
    private let transaction: ReadTransaction?
    let file: VFSFile
    private let pages: Pages
    /// The scratch directory that contains the store, if any.
    private var directory: ScratchDirectory?

    /// Takes the pages of a transaction that has begun.
    ///
    /// - Throws: `StoreError`.
    init(_ transaction: ReadTransaction) throws {
        self.transaction = transaction
        path = transaction.store.path
        connection = transaction.connection
        (pageSize, pageCount) = try connection.pages()
        file = try VFSFile.database(of: connection)
        if let state = transaction.state, !state.isInDatabase {
            guard let logFile = try VFSFile.log(of: connection) else {
                let reason = "SQLite has no handle of its log"
                throw StoreError.unreadable(path.description, reason: reason)
            }
            let log = WriteAheadLog(file: logFile, pageSize: pageSize)
            guard let frames = try log.frames(upTo: state) else {
                throw StoreError.neverStill(path.description)
            }
            pages = .overlaid(log, frames: frames)
        } else {
            pages = .database
        }
        let pagesSize = Int64(pageSize) * pageCount
        switch transaction.hold {
        case .rest, .rollback: size = max(pagesSize, file.size ?? 0)
        case .log, .copy: size = pagesSize
        }
    }

    /// Throws if the file ends within a page: SQLite reads the rest of that page as zeros, without an error.
    ///
    /// - Throws: `StoreError.damaged`.
    public func requireWholePages() throws {
        let length = file.size ?? 0
        let page = length / Int64(pageSize) + 1
        guard page <= pageCount, length % Int64(pageSize) != 0 else { return }
        if case .overlaid(_, let frames) = pages, frames[UInt32(page)] != nil { return }
        let reason = "its file ends within page \(page) of \(pageCount)"
        throw StoreError.damaged(path.description, reason: reason)
    }

    /// Takes a snapshot of one store now; `StoresCut` takes several stores as of one moment.
    ///
    /// - Parameters:
    ///   - store: a store of a stores directory.
    ///   - scratchParent: the directory for a copy, if the store must be recovered first.
    ///   - busyTimeout: the longest wait for a writer that excludes readers.
    ///   - directory: a scratch directory that contains the store, kept as long as the snapshot.
    /// - Returns: the snapshot.
    /// - Throws: `StoreError`, `FileError`.
    public static func ofNow(
        _ store: Store,
        scratchParent: FilePath,
        busyTimeout: Duration,
        keeping directory: ScratchDirectory? = nil
    ) throws -> StoreSnapshot {
        let transaction = try store.beginReading(
            scratchParent: scratchParent,
            busyTimeout: busyTimeout
        )
        let snapshot = try StoreSnapshot(transaction)
        snapshot.directory = directory
        return snapshot
    }

    /// Opens a store in bytes that nobody changes, such as those of a backup.
    ///
    /// SQLite reads only the bytes that it needs.
    ///
    /// - Parameters:
    ///   - source: a database without a log or a journal beside it.
    ///   - path: the store's path below the stores directory.
    /// - Throws: `StoreError`; the source's errors except `DamagedBytes`.
    public init(over source: any ByteSource, path: RelativePath) throws {
        let bytes = try SourceFile(source)
        self.path = path
        connection = try Connection.open(bytes, name: path.description)
        transaction = nil
        (pageSize, pageCount) = try connection.pages()
        file = try VFSFile.database(of: connection)
        pages = .database
        size = max(Int64(pageSize) * pageCount, bytes.size)
    }

    /// Runs `body`, which uses SQLite on this store beyond this type's methods.
    ///
    /// - Throws: any error of `body`; if bytes could not be read, the reason in place of SQLite's error.
    public func reading<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as StoreError {
            throw connection.source?.takeFailure(of: path.description) ?? error
        }
    }

    /// Returns whether everything read so far is of one state of the store.
    ///
    /// It may not be if an application has opened a store at rest since, or if a process writes without SQLite's
    /// locks.
    public func isStill() throws -> Bool { try transaction?.isStill() ?? true }

    /// Reads bytes of the database.
    ///
    /// - Parameters:
    ///   - buffer: the buffer to fill from its start, with room for whole pages or the rest of the database.
    ///   - offset: the offset of the first byte, at the beginning of a page.
    /// - Returns: the number of bytes; fewer than requested only at the end of the database.
    /// - Throws: `StoreError`.
    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        let length = Int(min(Int64(buffer.count), max(0, size - offset)))
        func part(_ range: Range<Int>) -> UnsafeMutableRawBufferPointer {
            UnsafeMutableRawBufferPointer(rebasing: buffer[range])
        }
        guard case .overlaid(let log, let frames) = pages else {
            try file.read(into: part(0..<length), at: offset)
            return length
        }
        var done = 0
        while done < length {
            let position = offset + Int64(done)
            let page = UInt32(position / Int64(pageSize)) + 1
            let start = Int(position % Int64(pageSize))
            var end = min(done + pageSize - start, length)
            if let frame = frames[page] {
                try log.readPage(inFrame: frame, into: part(done..<end), from: start)
            } else {
                // A run of pages outside the log is read with one call.
                var next = page + 1
                while end < length, frames[next] == nil {
                    end = min(end + pageSize, length)
                    next += 1
                }
                try file.read(into: part(done..<end), at: position)
            }
            done = end
        }
        return length
    }
}
