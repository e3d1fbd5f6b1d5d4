package import Archives
package import Files

/// An increment's record of a path, in addition to the record that every archive has; see
/// `Documentation/Design/ArchiveFormat.md`, 11.
package enum FileChange: Equatable {
    /// The entry has the complete content.
    case whole
    /// The content is that of the parent backup, modified by a patch.
    case patched(FilePatch)
    /// The path and everything below it were removed.
    case removed
}

/// The patch of a file in an increment.
package struct FilePatch: Equatable {
    /// The size of the patch's entry in bytes.
    ///
    /// Zero if only attributes changed, so that there is no entry.
    package var size: Int64
    /// The segments of the patch's entry.
    package var segments: [SegmentRecord]
    /// The index and the SHA-256 of each changed segment of the file.
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

    /// Returns whether a file of the given size can have this patch.
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
