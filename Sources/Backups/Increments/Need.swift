/// A backup that an increment is built on; see `Documentation/ArchiveFormat.md`, 11.
public struct Need: Codable, Sendable, Equatable {
    /// The name of its file when the increment was made.
    public var name: String
    /// Bytes of its archive.
    public var size: Int64
    /// As its manifest has it: RFC 3339 with an offset.
    public var created: String
    /// Its number in its lineage.
    public var number: Int
    /// The digest of its state, which no other backup of the lineage has unless it holds the same.
    public var state: String

    package init(name: String, size: Int64, created: String, number: Int, state: String) {
        self.name = name
        self.size = size
        self.created = created
        self.number = number
        self.state = state
    }
}
