package import Archives
package import Files

/// An increment's record of a path, beside those that every archive has; see
/// `Documentation/ArchiveFormat.md`, 11.
package enum FileChange: Equatable {
    /// Its entry has all of its content.
    case whole
    /// The content is that of the parent backup, with the runs of a patch.
    case patched(FilePatch)
    /// It is gone, and all below it.
    case removed
}

/// The patch of a file in an increment.
package struct FilePatch: Equatable {
    /// Bytes of the patch's entry; zero if only attributes changed, and then there is none.
    package var size: Int64
    /// Of the patch's entry.
    package var segments: [SegmentRecord]
    /// The SHA-256 of each segment of the file that is not as it was.
    package var changed: [ChangedSegment]

    package init(size: Int64, segments: [SegmentRecord], changed: [ChangedSegment]) {
        self.size = size
        self.segments = segments
        self.changed = changed
    }

    /// A segment of the patched file.
    package struct ChangedSegment: Equatable {
        package var index: Int
        package var digest: Digest

        package init(index: Int, digest: Digest) {
            self.index = index
            self.digest = digest
        }
    }

    /// The most changed segments that are no lie for a file of a size.
    func isPossible(forSize size: Int64) -> Bool {
        let count = Segment.count(forSize: size)
        var last = -1
        for segment in changed {
            guard segment.index > last, segment.index < count else { return false }
            last = segment.index
        }
        return self.size >= 0 && self.size / 2 <= size + Int64(Segment.size) / 2
            && segments.count == Segment.count(forSize: self.size)
    }
}
