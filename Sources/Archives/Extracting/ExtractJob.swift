internal import Files

/// The work of one thread: one segment of a large file, many small files, or one stream that cannot be
/// cut.
///
/// Nothing in it is guarded: the pipeline's lock hands it from the thread that fills it to the one that
/// works on it, and back.
final class ExtractJob: @unchecked Sendable {
    /// One segment of a large file.
    struct Part {
        var item: ArchiveExtractor.Item
        /// A segment of the entry.
        struct Base {
            /// Where it is in the archive.
            var source: Int64
            var compressedLength: Int
            /// Bytes that it inflates to.
            var length: Int
            var isLast: Bool
        }

        /// `nil` behind the end of the entry.
        var base: Base?
        /// The bytes of patches over it, if there are any.
        var overlay: Overlay?
        /// The patches whose bytes these are, unless they were verified.
        var unverified: [Patch] = []
        /// Where it goes in the file.
        var destination: Int64
        var length: Int
        var digest: Digest
        var isLast: Bool
        /// `nil` if the data is only verified.
        var target: File?
    }

    enum Work {
        case part(Part)
        /// Whole files, each with the directory it goes to.
        case files([(ArchiveExtractor.Item, Directory?)])
        case stream(ArchiveExtractor.Item, File?)
    }

    var work: Work = .files([])
    /// Bytes before compression, for the progress.
    var size: Int64 = 0
}
