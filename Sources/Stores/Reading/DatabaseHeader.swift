internal import Files

/// The first 100 bytes of a database file (https://www.sqlite.org/fileformat2.html, 1.3).
public struct DatabaseHeader: Sendable {
    /// The length of the header in bytes.
    public static let length = 100
    private static let magic = Array("SQLite format 3\0".utf8)

    /// Whether the header says that the file is in WAL mode.
    public let saysWAL: Bool

    /// Whether a newer version of SQLite wrote the file, in a format that this one refuses to read (1.3.3, 1.3.7).
    let isNewer: Bool

    /// Returns whether bytes are the beginning of a database file, even of one truncated within its header.
    public static func begins(_ bytes: some Sequence<UInt8>) -> Bool { bytes.starts(with: magic) }

    /// Returns whether a file size is a whole number of pages (1.3.2), as for every database without an interrupted
    /// write.
    public static func isOfPages(size: Int64) -> Bool { size % leastPage == 0 }

    private static let leastPage: Int64 = 512

    /// Reads a header; `nil` if it is not SQLite's.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.length, Self.begins(bytes) else { return nil }
        saysWAL = bytes[18] == 2 || bytes[19] == 2
        // Numbers beyond these are damage.
        let schemaFormat = bytes[44..<48].reduce(0) { $0 << 8 | Int($1) }
        isNewer =
            (1...9).contains(bytes[18]) && (1...9).contains(bytes[19])
            && (0...9).contains(schemaFormat) && (bytes[19] > 2 || schemaFormat > 4)
    }

    /// Reads the header of a file; `nil` if the file is no database.
    ///
    /// This opens and closes the file. No connection to it may be open in this process, since closing drops its
    /// locks (https://www.sqlite.org/howtocorrupt.html, 2.2).
    init?(of file: File) throws {
        self.init(try Self.start(of: file))
    }

    /// Returns the first bytes of a file: the length of a header, or the whole of a shorter file.
    static func start(of file: File) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            count = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
        }
    }
}
