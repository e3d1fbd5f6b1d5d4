internal import Files
package import Stores

/// A backup's record of what it left out; see `Documentation/ArchiveFormat.md`, 4.1.
public struct Excluded: Codable, Sendable, Equatable {
    /// The patterns of gitignore(5), in their order.
    public var patterns: [String]
    /// Whether directories were left out that have a cache's tag.
    public var caches: Bool
    /// How many files and directories were left out; nothing in the directories is counted.
    public var count: Int
    /// The first of them, printable.
    public var paths: [String]

    package init(_ exclusions: Exclusions, _ leftOut: LeftOut) {
        patterns = exclusions.patterns.map(\.text)
        caches = exclusions.excludesCaches
        count = leftOut.count
        paths = leftOut.paths.map(\.description)
    }

    /// Returns the rules as they can be applied.
    ///
    /// - Throws: `PathPatternError` if a pattern is not known here.
    package func rules() throws -> Exclusions {
        Exclusions(patterns: try patterns.map { try PathPattern($0) }, excludesCaches: caches)
    }

    /// The rules as text: equal for two backups that leave out the same names.
    package var key: String { ((caches ? ["caches"] : [""]) + patterns).joined(separator: "\n") }
}
