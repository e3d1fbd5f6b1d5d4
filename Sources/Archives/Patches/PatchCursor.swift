internal import Files

/// A reader of the runs of a patch from beginning to end, one segment of the file at a time.
///
/// The SHA-256 of the patch is not checked, since the digest of each final segment proves as much. If that digest is
/// wrong, `SegmentBuffers.verifiedSize` finds the damaged part.
final class PatchCursor {
    /// The size of a part in bytes.
    ///
    /// There is one part for each of up to twelve patches.
    private static let partSize = 64 << 10

    private let patch: Patch
    private let stream: EntryStream
    private let overlays: Overlay.Pool
    /// The number of usable bytes of the patch that were not consumed yet.
    private var left: Int64
    /// Whether all bytes of the patch are usable.
    private let isWhole: Bool
    /// The bytes of the last part that were not consumed yet.
    private var part = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The run whose head was read last, and whether its bytes were consumed.
    private var run: Patch.Run?
    private var isTaken = true

    /// Starts at the beginning of a patch.
    ///
    /// - Parameters:
    ///   - patch: the patch.
    ///   - overlays: the memory of overlays.
    ///   - size: the number of usable bytes; `nil` for all.
    /// - Throws: `ArchiveError` if the table contradicts the archive, or if the patch is impossibly large.
    init(_ patch: Patch, _ overlays: Overlay.Pool, upTo size: Int64? = nil) throws {
        try patch.entry.check(patch.segments)
        try patch.checkSize()
        self.patch = patch
        self.overlays = overlays
        left = size ?? patch.entry.size
        isWhole = left == patch.entry.size
        stream = try EntryStream(patch.entry, partSize: Self.partSize)
    }

    /// Reads the runs in one segment of the file.
    ///
    /// The runs of earlier segments must have been read.
    ///
    /// - Parameters:
    ///   - index: the index of the segment.
    ///   - overlay: receives the bytes; created if there are any.
    /// - Throws: `ArchiveError`, `FileError`.
    func takeRuns(ofSegment index: Int, into overlay: inout Overlay?) throws {
        let start = Int64(index) * Int64(Segment.size)
        while let run = try nextRun(), run.offset < start + Int64(Segment.size) {
            guard run.offset >= start else {
                throw patch.damage("a run lies before the one before it")
            }
            try overlays.add(run, from: start, to: &overlay, take)
            isTaken = true
        }
    }

    /// Returns the run with the next bytes; `nil` at the end of the patch.
    private func nextRun() throws -> Patch.Run? {
        guard isTaken else { return run }
        guard left > 0 else {
            // This throws if there is more data than the entry declares.
            if isWhole, part.isEmpty { _ = try stream.next() }
            return nil
        }
        var head: (UInt64, UInt32) = (0, 0)
        run = try withUnsafeMutableBytes(of: &head) { space in
            let bytes = UnsafeMutableRawBufferPointer(
                rebasing: space[..<Int(PatchLayout.headLength)]
            )
            try take(bytes)
            return try patch.run(bytes, after: run)
        }
        isTaken = false
        return run
    }

    /// Fills a buffer with the next bytes of the patch.
    private func take(_ buffer: UnsafeMutableRawBufferPointer) throws {
        left -= Int64(buffer.count)
        guard left >= 0 else { throw patch.endsWithinRun }
        var filled = 0
        while filled < buffer.count {
            if part.isEmpty {
                guard let next = try stream.next() else { throw patch.endsWithinRun }
                part = next
            }
            let count = min(part.count, buffer.count - filled)
            UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<(filled + count)])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: part[..<count]))
            part = UnsafeRawBufferPointer(rebasing: part[count...])
            filled += count
        }
    }
}
