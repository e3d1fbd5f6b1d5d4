internal import Files

/// What one thread restores at a time: one segment of a large file, many small files, or one
/// stream that cannot be cut.
///
/// The thread that fills it and the one that works on it take turns, handed over by the pipeline's
/// lock, so nothing in it is guarded.
final class ExtractJob: @unchecked Sendable {
    /// One segment of a large file.
    struct Part {
        var item: ArchiveExtractor.Item
        /// Where it is in the archive.
        var source: Int64
        var compressedLength: Int
        /// Where it goes in the file.
        var destination: Int64
        var length: Int
        var digest: Digest
        var isLast: Bool
        /// `nil` where the data is only verified.
        var target: File?
    }

    enum Work {
        case part(Part)
        /// Whole files, each with the directory it goes to.
        case files([(ArchiveExtractor.Item, Directory?)])
        case stream(ArchiveExtractor.Item, File?)
    }

    var work: Work = .files([])
    /// Bytes before compression, for telling how far it is.
    var size: Int64 = 0
}
