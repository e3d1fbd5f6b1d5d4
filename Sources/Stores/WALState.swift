internal import CSQLite

/// Which frames of a write-ahead log a reader that begins now would see
/// (https://www.sqlite.org/walformat.html).
///
/// Two equal states, one from before a read transaction began and one from after, tell which
/// snapshot the transaction has: the header changes with every commit.
struct WALState: Equatable {
    /// A counter of transactions; 0 where there is no shared index.
    var change: UInt32
    /// The last frame of the last committed transaction; 0 where the log is empty.
    var lastFrame: UInt32
    /// The log's generation; a frame with another belongs to an older one.
    var salt: UInt64
    /// Whether all frames are in the database file already, so that readers leave the log alone.
    var isInDatabase: Bool
}

/// What can be known of a log at a moment.
enum LogState: Equatable {
    /// No process keeps an index of one.
    case absent
    /// Somebody is changing it just now.
    case changing
    case state(WALState)
}

/// SQLite's own handle of a file, through its VFS: reading through it opens and closes no
/// descriptor, which would drop SQLite's locks.
///
/// To read is pread(2) in SQLite's VFS for Unix, which keeps no position, so the connection may be
/// reading on another thread; `Connection` sees to it that nothing is mapped (xFetch).
struct VFSFile {
    private let file: UnsafeMutablePointer<sqlite3_file>

    /// The handle of the database file (SQLITE_FCNTL_FILE_POINTER).
    static func database(of connection: OpaquePointer) -> VFSFile? {
        VFSFile(connection, SQLITE_FCNTL_FILE_POINTER)
    }

    /// The handle of the journal or the log (SQLITE_FCNTL_JOURNAL_POINTER); `nil` where none is open.
    static func journal(of connection: OpaquePointer) -> VFSFile? {
        VFSFile(connection, SQLITE_FCNTL_JOURNAL_POINTER)
    }

    private init?(_ connection: OpaquePointer, _ control: CInt) {
        var pointer: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(connection, "main", control, &pointer) == SQLITE_OK,
            let pointer, pointer.pointee.pMethods != nil
        else { return nil }
        file = pointer
    }

    /// Reads from an offset (sqlite3_io_methods.xRead); what is beyond the end reads as zeros, as
    /// it does for SQLite.
    ///
    /// - Returns: SQLite's result code, `SQLITE_OK` also for a short read.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> CInt {
        guard let read = file.pointee.pMethods.pointee.xRead else { return SQLITE_IOERR }
        let code = read(file, buffer.baseAddress, CInt(buffer.count), offset)
        return code == SQLITE_IOERR | (2 << 8) ? SQLITE_OK : code
    }

    /// The file's size in bytes (xFileSize), or `nil`.
    var size: Int64? {
        var size: sqlite3_int64 = 0
        guard file.pointee.pMethods.pointee.xFileSize?(file, &size) == SQLITE_OK else { return nil }
        return size
    }

    /// What the shared index says now (the database's handle only); `nil` where no process keeps
    /// one, or it is being changed at this moment.
    func sharedState() -> LogState {
        let methods = file.pointee.pMethods.pointee
        guard methods.iVersion >= 2, let map = methods.xShmMap else { return .absent }
        var region: UnsafeMutableRawPointer?
        let code = withUnsafeMutablePointer(to: &region) { pointer in
            pointer.withMemoryRebound(to: Optional<UnsafeMutableRawPointer>.self, capacity: 1) {
                map(file, 0, 32_768, 0, $0)
            }
        }
        // A read-only mapping is told with SQLITE_READONLY.
        guard code == SQLITE_OK || code == SQLITE_READONLY, let region else { return .absent }
        methods.xShmBarrier?(file)
        return WALState(index: region).map(LogState.state) ?? .changing
    }
}

extension WALState {
    /// Reads the header of a shared index, in the machine's byte order: twice the same 48 bytes,
    /// then the checkpoint's progress.
    fileprivate init?(index: UnsafeMutableRawPointer) {
        func word(_ offset: Int) -> UInt32 { index.load(fromByteOffset: offset, as: UInt32.self) }
        let first = (0..<12).map { word(4 * $0) }
        let second = (0..<12).map { word(48 + 4 * $0) }
        let isInitialized = index.load(fromByteOffset: 12, as: UInt8.self) == 1
        guard first == second, isInitialized else { return nil }
        self.init(
            change: first[2],
            lastFrame: first[4],
            salt: index.load(fromByteOffset: 32, as: UInt64.self),
            isInDatabase: word(96) == first[4]
        )
    }
}
