/// An entry that was written, for the manifest.
public struct WrittenEntry: Sendable {
    public var attributes: EntryAttributes
    /// Bytes before compression.
    public var size: Int64
    /// Its data's segments, in order.
    public var segments: [SegmentRecord]
    /// Bytes in the archive.
    public var compressedSize: Int64
}
