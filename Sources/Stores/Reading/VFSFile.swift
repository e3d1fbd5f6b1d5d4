internal import CSQLite

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

    /// The handle of the journal or the log (SQLITE_FCNTL_JOURNAL_POINTER); `nil` if none is open.
    static func journal(of connection: OpaquePointer) -> VFSFile? {
        VFSFile(connection, SQLITE_FCNTL_JOURNAL_POINTER)
    }

    private init?(_ connection: OpaquePointer, _ control: CInt) {
        var pointer: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(connection, "main", control, &pointer) == SQLITE_OK,
            let pointer, csqlite_is_open(pointer) != 0
        else { return nil }
        file = pointer
    }

    /// Reads from an offset (sqlite3_io_methods.xRead); what is beyond the end reads as zeros, as
    /// it does for SQLite.
    ///
    /// - Returns: SQLite's result code, `SQLITE_OK` also for a short read.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> CInt {
        let code = csqlite_read(file, buffer.baseAddress, CInt(buffer.count), offset)
        return code == SQLITE_IOERR | (2 << 8) ? SQLITE_OK : code
    }

    /// The file's size in bytes (xFileSize), or `nil`.
    var size: Int64? {
        var size: sqlite3_int64 = 0
        return csqlite_size(file, &size) == SQLITE_OK ? size : nil
    }

    /// Returns the state in the shared index (the database's handle only); `nil` if no process keeps
    /// one, or it is being changed at this moment.
    func sharedState() -> LogState {
        var region: UnsafeMutableRawPointer?
        let code = csqlite_map_index(file, 32_768, &region)
        // A read-only mapping is told with SQLITE_READONLY.
        guard code == SQLITE_OK || code == SQLITE_READONLY, let region else { return .absent }
        return WALState(index: region).map(LogState.state) ?? .changing
    }
}
