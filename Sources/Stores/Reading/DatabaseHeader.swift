internal import Files

/// The first 100 bytes of a database file (https://www.sqlite.org/fileformat2.html, 1.3).
public struct DatabaseHeader: Sendable {
    static let length = 100
    private static let magic = Array("SQLite format 3\0".utf8)

    /// Whether the file says that it is in WAL mode.
    let saysWAL: Bool
    /// Bytes; 512 to 65,536.
    let pageSize: Int

    /// Whether bytes are the beginning of a database file, be it one that was cut off in its header.
    public static func begins(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.starts(with: magic)
    }

    /// Whether a file begins as a database does; see `read`.
    static func begins(_ file: File) throws -> Bool {
        try withUnsafeTemporaryAllocation(byteCount: magic.count, alignment: 1) { buffer in
            let count = try file.read(into: buffer, at: 0)
            return begins(UnsafeRawBufferPointer(rebasing: buffer.prefix(count)))
        }
    }

    /// Reads a header; `nil` if it is not one of SQLite.
    init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count >= Self.length, bytes.starts(with: Self.magic) else { return nil }
        let bytes = Array(bytes.prefix(Self.length))
        saysWAL = bytes[18] == 2 || bytes[19] == 2
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        pageSize = size == 1 ? 65_536 : size
    }

    /// Reads the header of a file; `nil` if it is not a database's.
    ///
    /// The file is opened and closed: no connection to it may be open in this process, whose locks
    /// that would drop (https://www.sqlite.org/howtocorrupt.html, 2.2).
    static func read(_ file: File) throws -> DatabaseHeader? {
        try withUnsafeTemporaryAllocation(byteCount: length, alignment: 1) { buffer in
            let count = try file.read(into: buffer, at: 0)
            return DatabaseHeader(buffer.prefix(count))
        }
    }
}
