/// How hard an archive's data is compressed; all choices give standard deflate or stored data.
public enum Compression: String, CaseIterable, Sendable {
    /// ISA-L level 1.
    case fast
    /// ISA-L level 2.
    case `default`
    /// zlib level 9: many times slower, and smaller by one or two percent.
    case best
    /// Stored as it is.
    case none
}
