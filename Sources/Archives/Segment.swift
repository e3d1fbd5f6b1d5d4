/// The parts that files are cut into, to be compressed, hashed, verified and restored in parallel.
public enum Segment {
    /// Bytes in every segment of a file but its last.
    public static let size = 1 << 20
    /// The most bytes that a segment has in an archive.
    static let compressedLimit = size + 1024

    /// Returns how many segments a file of `size` bytes has.
    public static func count(forSize size: Int64) -> Int {
        // Not by adding first: a size that an archive declares may be the largest there is.
        Int(size / Int64(Self.size)) + (size % Int64(Self.size) == 0 ? 0 : 1)
    }

    /// Returns how many bytes the segment with an index has in a file of `size` bytes.
    public static func length(at index: Int, ofSize size: Int64) -> Int {
        Int(min(Int64(Self.size), size - Int64(index) * Int64(Self.size)))
    }
}
