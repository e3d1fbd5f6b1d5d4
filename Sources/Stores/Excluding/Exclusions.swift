public import Files
public import SystemPackage

/// The files to leave out of backups; a restore leaves them as they are.
///
/// Names decide, and the tag of a cache directory. Links are not followed. The contents of an excluded directory are
/// excluded too.
public struct Exclusions: Sendable, Equatable {
    /// The patterns that come before all others: directories that are not for other machines.
    public static let standard = ["*.nosync/"]
    /// Exclusions that leave out nothing.
    public static let none = Exclusions()

    /// The patterns; the last matching pattern wins.
    public var patterns: [PathPattern]
    /// Whether directories with the tag of a cache are left out.
    public var excludesCaches: Bool

    public init(patterns: [PathPattern] = [], excludesCaches: Bool = false) {
        self.patterns = patterns
        self.excludesCaches = excludesCaches
    }

    /// Whether nothing can be left out.
    public var isEmpty: Bool { patterns.isEmpty && !excludesCaches }

    /// Returns whether a file found by a walk is left out; none of its directories is.
    public func excludes(_ file: WalkedFile) -> Bool {
        excludes(file.path, file.info.kind, in: file.directory)
    }

    /// Returns whether a path, or a directory above it, is left out.
    ///
    /// - Throws: `FileError` if it cannot be examined; it may be missing.
    public func excludes(_ path: RelativePath, in root: FilePath) throws -> Bool {
        var directory = try Directory.open(root)
        var prefix: RelativePath?
        for name in path.components {
            let current = prefix?.appending(name) ?? RelativePath(name: name)
            prefix = current
            let info: FileInfo
            do {
                info = try directory.info(name)
            } catch let error as FileError where error.isMissing {
                return patterns.verdict(on: current, isDirectory: current != path) ?? false
            }
            if excludes(current, info.kind, in: directory) { return true }
            guard info.kind == .directory, current != path else { return false }
            directory = try directory.directory(name)
        }
        return false
    }

    private func excludes(
        _ path: RelativePath,
        _ kind: FileInfo.Kind,
        in directory: Directory
    ) -> Bool {
        let isDirectory = kind == .directory
        if patterns.verdict(on: path, isDirectory: isDirectory) ?? false { return true }
        return excludesCaches && isDirectory && Self.isCache(path.name, in: directory)
    }

    /// The name of the file that marks a directory as a cache.
    public static let cacheTag: FileName = "CACHEDIR.TAG"

    /// The beginning of the file that marks a directory as a cache (https://bford.info/cachedir/).
    private static let signature = Array("Signature: 8a477f597d28d172789f06886806bc55".utf8)

    /// Returns whether a directory has the tag.
    ///
    /// An unreadable one counts as untagged, so that it is not silently left out.
    private static func isCache(_ name: FileName, in directory: Directory) -> Bool {
        guard let cache = try? directory.directory(name), let tag = try? cache.file(Self.cacheTag),
            let start = try? tag.readExactly(count: signature.count, at: 0)
        else { return false }
        return start == signature
    }
}

extension Exclusions: Codable {
    private enum CodingKeys: CodingKey {
        case patterns, caches
    }

    /// Decodes the patterns and the setting for caches.
    ///
    /// - Throws: `PathPatternError`, `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        patterns = try values.decode([String].self, forKey: .patterns).map { try PathPattern($0) }
        excludesCaches = try values.decodeIfPresent(Bool.self, forKey: .caches) ?? false
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(patterns.map(\.text), forKey: .patterns)
        try values.encode(excludesCaches, forKey: .caches)
    }
}

/// The files that a walk leaves out.
public enum LeavingOut: Sendable {
    /// Every file that matches the exclusions.
    case matches(Exclusions)
    /// These paths, and everything below them.
    case paths(Set<RelativePath>)

    public static let nothing = LeavingOut.paths([])

    /// Returns whether the walk leaves out a file that it found.
    public func leavesOut(_ file: WalkedFile) -> Bool {
        switch self {
        case .matches(let exclusions): exclusions.excludes(file)
        case .paths(let paths): !paths.isEmpty && paths.contains(file.path)
        }
    }

    /// Returns whether a walk leaves out a path, or a directory above it.
    ///
    /// - Throws: `FileError` if it cannot be examined.
    public func leavesOut(_ path: RelativePath, in root: FilePath) throws -> Bool {
        switch self {
        case .matches(let exclusions): try exclusions.excludes(path, in: root)
        case .paths(let paths):
            sequence(first: path, next: \.parent).contains { paths.contains($0) }
        }
    }
}
