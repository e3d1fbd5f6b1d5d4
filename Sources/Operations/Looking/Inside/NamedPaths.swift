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

    /// Returns which of the names a path is, or is in; the first, if there are several.
    ///
    /// - Returns: the index of the name, and the path of what it names; `nil` if it is none of them.
    func match(_ path: RelativePath) -> (index: Int, root: RelativePath)? {
        let shown = path.description.utf8
        let index =
            bytes.firstIndex { Self.leads($0, to: path.bytes) }
            ?? (shown.count == path.bytes.count
                ? nil : bytes.firstIndex { Self.leads($0, to: Array(shown)) })
        guard let index else { return nil }
        // As it is printed, a name may be longer than it is; it has as many components.
        let depth = bytes[index].count { $0 == UInt8(ascii: "/") } + 1
        var root = path
        while root.components.count > depth, let parent = root.parent { root = parent }
        return (index, root)
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
    /// - Returns: each entry, and the path of what was named that it is, or is in.
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
            missing.remove(match.index)
        }
        guard let first = missing.min() else { return found }
        throw LookingError.noFile(paths.names[first], in: name, among: others)
    }
}
