internal import Files

/// The bytes of a patch that is written: for each run its offset (8 bytes) and its length (4), little-endian,
/// and its bytes; see `Documentation/ArchiveFormat.md`.
///
/// It is read from its beginning to its end.
public struct PatchLayout {
    static let headLength: Int64 = 12

    /// Ascending, none over the boundary of a segment.
    private let runs: [Range<Int64>]
    /// Bytes of the patch.
    public let size: Int64
    /// The run that comes next, and how many bytes of it, with its head, were read.
    private var next = 0
    private var taken: Int64 = 0

    /// Lays out a patch.
    ///
    /// - Parameter ranges: the ranges of the file, ascending and not overlapping; those that touch become one
    ///   run as far as segments allow it.
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
    ///   - buffer: filled as far as the patch goes.
    ///   - read: reads the file: fills the buffer from an offset on, and returns how many bytes there were.
    /// - Returns: how many bytes there were; fewer if the file ended early.
    /// - Throws: the error of `read`.
    public mutating func read(
        into buffer: UnsafeMutableRawBufferPointer,
        from read: (UnsafeMutableRawBufferPointer, Int64) throws -> Int
    ) throws -> Int {
        var filled = 0
        while filled < buffer.count, next < runs.count {
            let run = runs[next]
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            if taken < Self.headLength {
                let head = Self.head(of: run)[Int(taken)...].prefix(room.count)
                room.copyBytes(from: head)
                filled += head.count
                taken += Int64(head.count)
                continue
            }
            let start = run.lowerBound + taken - Self.headLength
            let length = min(Int64(room.count), run.upperBound - start)
            let space = UnsafeMutableRawBufferPointer(rebasing: room[..<Int(length)])
            let count = try read(space, start)
            filled += count
            taken += Int64(count)
            guard count == space.count else { return filled }
            if start + length == run.upperBound { (next, taken) = (next + 1, 0) }
        }
        return filled
    }

    private static func head(of run: Range<Int64>) -> [UInt8] {
        withUnsafeBytes(of: UInt64(run.lowerBound).littleEndian, Array.init)
            + withUnsafeBytes(of: UInt32(run.count).littleEndian, Array.init)
    }
}
