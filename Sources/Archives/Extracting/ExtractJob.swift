internal import Files

/// The work of one thread: a segment of a large file, many small files, or one indivisible stream.
///
/// No lock is needed inside: the pipeline's lock hands it from the thread that fills it to the one that works on it,
/// and back.
final class ExtractJob: @unchecked Sendable {
    /// One segment of a large file.
    struct Part {
        var item: ArchiveExtractor.Item
        /// A segment of the entry.
        struct Base {
            /// The offset in the archive.
            var source: Int64
            var compressedLength: Int
            /// The size in bytes after inflating.
            var length: Int
            var isLast: Bool
        }

        /// The segment of the entry; `nil` behind the end of the entry.
        var base: Base?
        /// The bytes of patches over the segment, if there are any.
        var overlay: Overlay?
        /// The patches with these bytes, unless they were verified.
        var unverified: [Patch] = []
        /// The offset in the file.
        var destination: Int64
        var length: Int
        var digest: Digest
        var isLast: Bool
        /// The file to write; `nil` to verify only.
        var target: File?
    }

    enum Work {
        case part(Part)
        /// Whole files, each with its directory.
        case files([(ArchiveExtractor.Item, Directory?)])
        case stream(ArchiveExtractor.Item, File?)
    }

    var work: Work = .files([])
    /// The number of bytes before compression, for the progress.
    var size: Int64 = 0
}
