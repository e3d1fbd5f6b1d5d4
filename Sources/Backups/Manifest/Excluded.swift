internal import Files
package import Stores

/// A backup's record of excluded files; see `Documentation/Design/ArchiveFormat.md`, 4.1.
public struct Excluded: Codable, Sendable, Equatable {
    /// The patterns of gitignore(5), in order.
    public var patterns: [String]
    /// Whether directories with a cache tag were excluded.
    public var caches: Bool
    /// The number of excluded files and directories; the content of excluded directories is not counted.
    public var count: Int
    /// The first excluded paths, printable.
    public var paths: [String]

    package init(_ exclusions: Exclusions, _ leftOut: LeftOut) {
        patterns = exclusions.patterns.map(\.text)
        caches = exclusions.excludesCaches
        count = leftOut.count
        paths = leftOut.paths.map(\.description)
    }

    /// Returns the rules in a form that can be applied.
    ///
    /// - Throws: `PathPatternError` if this version does not know a pattern.
    package func rules() throws -> Exclusions {
        Exclusions(patterns: try patterns.map { try PathPattern($0) }, excludesCaches: caches)
    }

    /// The rules as text, or its digest if it is long; it is equal for two backups with the same rules.
    package var key: String {
        let text = ((caches ? ["caches"] : [""]) + patterns).joined(separator: "\n")
        return text.utf8.count <= 1024
            ? text : "\(Array(text.utf8).withUnsafeBytes { Digest(of: $0) })"
    }
}
