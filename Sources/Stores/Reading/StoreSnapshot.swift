public import Files
internal import GRDB
public import SystemPackage

/// One store's pages as of one committed transaction, read while the transaction is held.
///
/// It changes no byte in the stores directory, and in WAL mode no writer waits for it. It holds the
/// store until its last reference goes. While one thread reads pages, another may ask for a `report`.
public final class StoreSnapshot {
    /// The source of the snapshot's pages.
    private enum Pages {
        /// The database file alone.
        case database
        /// The database file, with the newest frame of each page that is in the log.
        case overlaid(WriteAheadLog, frames: [UInt32: UInt32])
    }

    /// The store's path below the stores directory.
    public let path: RelativePath
    /// Bytes in a page.
    public let pageSize: Int
    /// Pages in the database.
    public let pageCount: Int64
    /// Bytes to save: those of the database's pages, and those behind them in its file.
    ///
    /// A damaged header may tell too few pages. If there is a log, only that knows the size.
    public let size: Int64
    /// Whether the store's journal or log had to be played back into a copy of it.
    public var wasRecovered: Bool {
        if case .copy = transaction?.hold { true } else { false }
    }

    let connection: Connection
    /// `nil` of a store in a backup, which nobody changes.
    private let transaction: ReadTransaction?
    let file: VFSFile
    private let pages: Pages
    /// The scratch directory that the store is in, if it is in one.
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

    /// Takes one store as it is now; see `StoresCut`, which takes several as of one moment.
    ///
    /// - Parameters:
    ///   - store: one of a stores directory.
    ///   - scratchParent: where a copy goes if it must be recovered first.
    ///   - busyTimeout: how long to wait for a writer that lets nobody read.
    ///   - directory: a scratch directory that the store is in, to be kept as long.
    /// - Returns: its snapshot.
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

    /// Opens a store in bytes that nobody changes, as those of a backup.
    ///
    /// SQLite reads what it needs of them, and no more.
    /// - Parameters:
    ///   - source: a database without a log or a journal beside it.
    ///   - path: the store's path below the stores directory.
    /// - Throws: `StoreError`; the source's errors but `DamagedBytes`.
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

    /// Runs `body`, which uses SQLite on this store by more than this type's methods.
    ///
    /// - Throws: what `body` throws; in place of SQLite's error that of the bytes that it could not read.
    public func reading<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as StoreError {
            throw connection.source?.takeFailure(of: path.description) ?? error
        }
    }

    /// Returns whether everything that was read so far is one state of the store.
    ///
    /// It may not be if the store was at rest, and an application has opened it since.
    public func isStill() throws -> Bool { try transaction?.isStill() ?? true }

    /// Reads bytes of the database.
    ///
    /// - Parameters:
    ///   - buffer: filled from the start; whole pages, or the rest of the database.
    ///   - offset: the first byte; where a page begins.
    /// - Returns: the count of bytes, less than asked for only at the end of the database.
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
                // Runs of pages that are not in the log are read with one call.
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
