internal import Files

/// The first 100 bytes of a database file (https://www.sqlite.org/fileformat2.html, 1.3).
public struct DatabaseHeader: Sendable {
    /// Bytes in it.
    public static let length = 100
    private static let magic = Array("SQLite format 3\0".utf8)

    /// Whether the file says that it is in WAL mode.
    public let saysWAL: Bool

    /// Whether bytes are the beginning of a database file, be it one that was cut off in its header.
    public static func begins(_ bytes: some Sequence<UInt8>) -> Bool { bytes.starts(with: magic) }

    /// Returns whether a file of some size is a whole number of pages (1.3.2), as any database is unless a write was cut
    /// off in it.
    public static func isOfPages(size: Int64) -> Bool { size % leastPage == 0 }

    private static let leastPage: Int64 = 512

    /// Reads a header; `nil` if it is not one of SQLite.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.length, Self.begins(bytes) else { return nil }
        saysWAL = bytes[18] == 2 || bytes[19] == 2
    }

    /// Reads the header of a file; `nil` if it is not a database's.
    ///
    /// The file is opened and closed: no connection to it may be open in this process, whose locks
    /// that would drop (https://www.sqlite.org/howtocorrupt.html, 2.2).
    init?(of file: File) throws {
        self.init(try Self.start(of: file))
    }

    /// Returns the first bytes of a file: as many as a header has, or the whole of a shorter file.
    static func start(of file: File) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            count = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
        }
    }
}
