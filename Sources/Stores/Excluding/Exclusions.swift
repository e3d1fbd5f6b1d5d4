public import Files
public import SystemPackage

/// What is to be left out of backups, and stays as it is when one is restored.
///
/// It is a matter of names, and of directories that call themselves caches. Links are not followed. What is
/// in a directory that is left out is left out too.
public struct Exclusions: Sendable, Equatable {
    /// The patterns that come before all others: directories that are not for other machines.
    public static let standard = ["*.nosync/"]
    /// Nothing is left out.
    public static let none = Exclusions()

    /// The last one that means a path decides.
    public var patterns: [PathPattern]
    /// Whether directories are left out that have a tag by which they are caches.
    public var excludesCaches: Bool

    public init(patterns: [PathPattern] = [], excludesCaches: Bool = false) {
        self.patterns = patterns
        self.excludesCaches = excludesCaches
    }

    /// Whether nothing can be left out.
    public var isEmpty: Bool { patterns.isEmpty && !excludesCaches }

    /// Returns whether something is left out that a walk came upon; it is in no directory that is.
    public func excludes(_ file: WalkedFile) -> Bool {
        excludes(file.path, file.info.kind, in: file.directory)
    }

    /// Returns whether a path is left out, or a directory that it is in.
    ///
    /// - Throws: `FileError` if it cannot be looked at; it may be missing.
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

    /// The beginning of the file by which a directory is a cache (https://bford.info/cachedir/).
    private static let signature = Array("Signature: 8a477f597d28d172789f06886806bc55".utf8)

    /// Returns whether a directory has the tag; one that cannot be read is not left out without a word.
    private static func isCache(_ name: FileName, in directory: Directory) -> Bool {
        guard let cache = try? directory.directory(name), let tag = try? cache.file("CACHEDIR.TAG"),
            let start = try? tag.readExactly(count: signature.count, at: 0)
        else { return false }
        return start == signature
    }
}

extension Exclusions: Codable {
    private enum CodingKeys: CodingKey {
        case patterns, caches
    }

    /// Reads them.
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

/// What a walk passes over.
public enum LeavingOut: Sendable {
    /// Everything that these mean.
    case matches(Exclusions)
    /// These paths, and all that is in them.
    case paths(Set<RelativePath>)

    public static let nothing = LeavingOut.paths([])

    /// Returns whether the walk passes over something that it came upon.
    public func leavesOut(_ file: WalkedFile) -> Bool {
        switch self {
        case .matches(let exclusions): exclusions.excludes(file)
        case .paths(let paths): !paths.isEmpty && paths.contains(file.path)
        }
    }

    /// Returns whether a walk passes over a path, or a directory that it is in.
    ///
    /// - Throws: `FileError` if it cannot be looked at.
    public func leavesOut(_ path: RelativePath, in root: FilePath) throws -> Bool {
        switch self {
        case .matches(let exclusions): try exclusions.excludes(path, in: root)
        case .paths(let paths):
            sequence(first: path, next: \.parent).contains { paths.contains($0) }
        }
    }
}
