/// An error for bytes of a source that differ from the saved ones, according to a digest.
public struct DamagedBytes: ExplainedError, Equatable {
    /// The name of the damaged content, printable.
    public var name: String
    /// The archive that was read, printable.
    public var archive: String
    /// The range that contains damaged bytes, counted from the beginning of the content.
    public var range: Range<Int64>
    public var reason: String

    public init(in name: String, of archive: String, _ range: Range<Int64>, reason: String) {
        self.name = name
        self.archive = archive
        self.range = range
        self.reason = reason
    }

    public var description: String {
        "'\(name)' in '\(archive)' is damaged in its bytes \(range.lowerBound) to \(range.upperBound - 1): \(reason)"
    }

    public var hint: String? { Advice.olderBackup }
}
