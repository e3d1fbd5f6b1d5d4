internal import CSQLite

/// SQLite's own handle of a file, through its VFS.
///
/// Reading through it opens and closes no descriptor, which would drop SQLite's locks. It uses pread(2), which keeps
/// no position, so the connection may read on another thread. `Connection` makes sure that nothing is mapped
/// (xFetch).
struct VFSFile {
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let store: String

    /// Returns the handle of the database file (SQLITE_FCNTL_FILE_POINTER).
    static func database(of connection: Connection) throws -> VFSFile {
        if let file = try VFSFile(connection, SQLITE_FCNTL_FILE_POINTER) { return file }
        throw StoreError.unreadable(connection.name, reason: "SQLite has no handle of its file")
    }

    /// Returns the handle of the log (SQLITE_FCNTL_JOURNAL_POINTER); `nil` if none is open.
    static func log(of connection: Connection) throws -> VFSFile? {
        try VFSFile(connection, SQLITE_FCNTL_JOURNAL_POINTER)
    }

    private init?(_ connection: Connection, _ control: CInt) throws {
        var pointer: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(try connection.handle(), "main", control, &pointer) == SQLITE_OK,
            let pointer, csqlite_is_open(pointer) != 0
        else { return nil }
        file = pointer
        store = connection.name
    }

    /// Reads from an offset (sqlite3_io_methods.xRead); bytes beyond the end are zeros, as for SQLite.
    ///
    /// - Throws: `StoreError`.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws {
        let code = csqlite_read(file, buffer.baseAddress, CInt(buffer.count), offset)
        // A short read has a result code of its own.
        guard code == SQLITE_OK || code == SQLITE_IOERR | (2 << 8) else {
            throw StoreError(store, code: code)
        }
    }

    /// The file's size in bytes (xFileSize); `nil` if SQLite cannot determine it.
    var size: Int64? {
        var size: sqlite3_int64 = 0
        return csqlite_size(file, &size) == SQLITE_OK ? size : nil
    }

    /// Returns the state in the shared index; only for the database's handle.
    func sharedState() -> LogState {
        var region: UnsafeMutableRawPointer?
        let code = csqlite_map_index(file, 32_768, &region)
        // SQLite reports a read-only mapping with SQLITE_READONLY.
        guard code == SQLITE_OK || code == SQLITE_READONLY, let region else { return .absent }
        return WALState(index: region).map(LogState.state) ?? .changing
    }
}
