internal import Archives
internal import Files

/// Paths in a backup as a user names them: each names a file, or a directory with everything in it.
///
/// A path that is not UTF-8 is named as it is printed.
struct NamedPaths {
    /// The names, without a leading `./` and a trailing `/`.
    let names: [String]
    private let bytes: [[UInt8]]

    init(_ names: [String]) {
        self.names = names.map { name in
            // Compare bytes: an accent at the start of a name would form one character with the slash.
            var text = name.utf8[...]
            while text.starts(with: "./".utf8) { text = text.dropFirst(2) }
            while text.count > 1, text.last == UInt8(ascii: "/") { text = text.dropLast() }
            return String(Substring(text))
        }
        bytes = self.names.map { Array($0.utf8) }
    }

    /// Whether one of the names denotes the whole directory.
    var haveAll: Bool { names.contains { ["", ".", "/"].contains($0) } }

    /// Returns the names that match a path or one of the directories above it.
    ///
    /// - Parameter path: the path of an entry.
    /// - Returns: the indices of these names, and the path that the shortest of them denotes; `nil` if none matches.
    func match(_ path: RelativePath) -> (indices: [Int], root: RelativePath)? {
        let text = path.description.utf8
        let shown = text.count == path.bytes.count ? nil : Array(text)
        let indices = bytes.indices.filter { index in
            Self.leads(bytes[index], to: path.bytes)
                || shown.map { Self.leads(bytes[index], to: $0) } ?? false
        }
        // A printed name may be longer than the path, but has as many components.
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
    /// Returns the named entries, in the order of the backup.
    ///
    /// - Parameter paths: the names.
    /// - Returns: each entry with the named path that is the entry's or above it. None of these paths contains another.
    /// - Throws: `LookingError.noFile` if one of the names matches nothing; see `forEach`.
    func items(
        _ paths: NamedPaths
    ) throws -> [(item: ArchiveItem, root: RelativePath)] {
        var found: [(item: ArchiveItem, root: RelativePath)] = []
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
