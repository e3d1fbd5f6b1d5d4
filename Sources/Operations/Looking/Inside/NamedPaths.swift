internal import Archives
internal import Files

/// Paths in a backup as a person names them: each a file, or a directory with all that is in it.
///
/// A name that is not UTF-8 is named as it is printed.
struct NamedPaths {
    /// What was named, without `./` before it and `/` behind it.
    let names: [String]
    private let bytes: [[UInt8]]

    /// Takes what was named.
    init(_ names: [String]) {
        self.names = names.map { name in
            var text = name[...]
            while text.hasPrefix("./") { text = text.dropFirst(2) }
            while text.count > 1, text.hasSuffix("/") { text = text.dropLast() }
            return String(text)
        }
        bytes = self.names.map { Array($0.utf8) }
    }

    /// Whether one of the names is of the whole directory.
    var haveAll: Bool { names.contains { ["", ".", "/"].contains($0) } }

    /// Returns which of the names a path is, or is in.
    ///
    /// - Parameter path: the path of an entry.
    /// - Returns: the indices of these names, and the path of what the shortest of them names; `nil` if there is
    ///   none.
    func match(_ path: RelativePath) -> (indices: [Int], root: RelativePath)? {
        let text = path.description.utf8
        let shown = text.count == path.bytes.count ? nil : Array(text)
        let indices = bytes.indices.filter { index in
            Self.leads(bytes[index], to: path.bytes)
                || shown.map { Self.leads(bytes[index], to: $0) } ?? false
        }
        // As it is printed, a name may be longer than it is; it has as many components.
        let depths = indices.map { bytes[$0].count { $0 == UInt8(ascii: "/") } + 1 }
        guard let depth = depths.min() else { return nil }
        var root = path
        while root.components.count > depth, let parent = root.parent { root = parent }
        return (indices, root)
    }

    private static func leads(_ name: [UInt8], to path: [UInt8]) -> Bool {
        guard path.starts(with: name) else { return false }
        return path.count == name.count || path[name.count] == UInt8(ascii: "/")
    }
}

extension OpenedBackup {
    /// Returns the entries that are named, in the order of the backup.
    ///
    /// - Parameter paths: what was named.
    /// - Returns: each entry, and the path of what was named that it is, or is in. None of these paths is in another.
    /// - Throws: `LookingError.noFile` if one of the names is of nothing; see `forEach`.
    func items(
        _ paths: NamedPaths
    ) throws -> [(item: ArchiveExtractor.Item, root: RelativePath)] {
        var found: [(item: ArchiveExtractor.Item, root: RelativePath)] = []
        var missing = Set(paths.names.indices)
        var others: [String] = []
        try forEach { item in
            guard let match = paths.match(item.attributes.path) else {
                if !missing.isEmpty { others.append(item.attributes.path.description) }
                return
            }
            found.append((item, match.root))
            missing.subtract(match.indices)
        }
        guard let first = missing.min() else { return found }
        throw LookingError.noFile(paths.names[first], in: name, among: others)
    }
}
