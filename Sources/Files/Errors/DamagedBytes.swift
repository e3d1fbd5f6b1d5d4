/// Some bytes of a source that are not those which were saved, as a digest tells.
public struct DamagedBytes: ExplainedError, Equatable {
    /// The name of what they are in, printable.
    public var name: String
    /// The archive that was read, printable.
    public var archive: String
    /// The bytes of which some are wrong, counted from the beginning of what they are in.
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

    public var hint: String? { "try an older backup; a copy in another place may be whole" }
}
