internal import Files

/// The bytes of a new patch: for each run its offset (8 bytes) and its length (4), little-endian, and its bytes; see
/// `Documentation/Design/ArchiveFormat.md`.
///
/// It is read from beginning to end.
public struct PatchLayout {
    static let headLength: Int64 = 12

    /// The runs, ascending; none crosses the boundary of a segment.
    private let runs: [Range<Int64>]
    /// The size of the patch in bytes.
    public let size: Int64
    /// The index of the next run, and how many bytes of it, including its head, were read.
    private var next = 0
    private var taken = 0
    /// The bytes of that run, after they were read.
    private var bytes: [UInt8] = []

    /// Lays out a patch.
    ///
    /// - Parameter ranges: the ranges of the file, ascending and without overlaps. Adjacent ranges become one run
    ///   within a segment.
    public init(of ranges: some Sequence<Range<Int64>>) {
        var runs: [Range<Int64>] = []
        let segment = Int64(Segment.size)
        for range in ranges {
            var start = range.lowerBound
            while start < range.upperBound {
                let end = min(range.upperBound, (start / segment + 1) * segment)
                if let last = runs.last, last.upperBound == start, start % segment != 0 {
                    runs[runs.count - 1] = last.lowerBound..<end
                } else {
                    runs.append(start..<end)
                }
                start = end
            }
        }
        self.runs = runs
        size = runs.reduce(0) { $0 + Self.headLength + Int64($1.count) }
    }

    /// Reads the next bytes of the patch.
    ///
    /// - Parameters:
    ///   - buffer: filled up to the end of the patch.
    ///   - read: reads the file: fills the buffer from an offset, and returns the number of bytes.
    ///   - accepts: whether the bytes of a run at an offset are the expected ones.
    /// - Returns: the number of bytes. There are fewer if the file ended early, or if a run was not accepted.
    /// - Throws: the error of `read` or `accepts`.
    public mutating func read(
        into buffer: UnsafeMutableRawBufferPointer,
        from read: (UnsafeMutableRawBufferPointer, Int64) throws -> Int,
        accepting accepts: (UnsafeRawBufferPointer, Int64) throws -> Bool
    ) throws -> Int {
        var filled = 0
        while filled < buffer.count, next < runs.count {
            let run = runs[next]
            if taken == 0 {
                bytes = Self.head(of: run) + [UInt8](repeating: 0, count: run.count)
                let isGood = try bytes.withUnsafeMutableBytes { bytes in
                    let content = UnsafeMutableRawBufferPointer(
                        rebasing: bytes[Int(Self.headLength)...]
                    )
                    return try read(content, run.lowerBound) == run.count
                        && accepts(UnsafeRawBufferPointer(content), run.lowerBound)
                }
                guard isGood else { return filled }
            }
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let part = bytes[taken...].prefix(room.count)
            room.copyBytes(from: part)
            filled += part.count
            taken += part.count
            if taken == bytes.count { (next, taken) = (next + 1, 0) }
        }
        return filled
    }

    private static func head(of run: Range<Int64>) -> [UInt8] {
        withUnsafeBytes(of: UInt64(run.lowerBound).littleEndian, Array.init)
            + withUnsafeBytes(of: UInt32(run.count).littleEndian, Array.init)
    }
}
