internal import Archives
internal import Files

/// Paths in a backup as a user names them: each names a file, or a directory with everything in it.
///
/// A path that is not UTF-8 is named as it is printed.
struct NamedPaths {
    /// The names, without a leading `./` and a trailing `/`.
    let names: [String]
    /// The bytes of the names themselves, and of the paths that are printed so if those are others.
    private var forms: [(exact: [UInt8]?, printed: [UInt8]?)]

    init(_ names: [String]) {
        self.names = names.map { name in
            // Compare bytes: an accent at the start of a name would form one character with the slash.
            var text = name.utf8[...]
            while text.starts(with: "./".utf8) { text = text.dropFirst(2) }
            while text.count > 1, text.last == UInt8(ascii: "/") { text = text.dropLast() }
            return String(Substring(text))
        }
        forms = self.names.map { name in
            let exact = Array(name.utf8)
            let printed = RelativePath(printed: name)?.bytes
            return (exact, printed == exact ? nil : printed)
        }
    }

    /// Whether one of the names denotes the whole directory.
    var haveAll: Bool { names.contains { ["", ".", "/"].contains($0) } }

    /// Returns the names that match a path or one of the directories above it.
    ///
    /// - Parameter path: the path of an entry.
    /// - Returns: the indices of these names, and the path that the shortest of them denotes; `nil` if none matches.
    func match(_ path: RelativePath) -> (indices: [Int], root: RelativePath)? {
        let indices = forms.indices.filter {
            Self.leads(forms[$0].exact, to: path) || Self.leads(forms[$0].printed, to: path)
        }
        // A printed name may be longer than the path, but has as many components.
        let depths = indices.map { names[$0].utf8.count { $0 == UInt8(ascii: "/") } + 1 }
        guard let depth = depths.min() else { return nil }
        var root = path
        while root.components.count > depth, let parent = root.parent { root = parent }
        return (indices, root)
    }

    /// Lets each name denote only the path that is printed so if there is one, else only the path that it is exactly.
    ///
    /// - Parameter forEach: passes each path to a closure.
    mutating func settle(_ forEach: ((RelativePath) -> Void) throws -> Void) rethrows {
        var unsettled = Set(forms.indices.filter { forms[$0].printed != nil })
        guard !unsettled.isEmpty else { return }
        try forEach { path in
            for index in unsettled where Self.leads(forms[index].printed, to: path) {
                forms[index].exact = nil
                unsettled.remove(index)
            }
        }
    }

    private static func leads(_ name: [UInt8]?, to path: RelativePath) -> Bool {
        guard let name, path.bytes.starts(with: name) else { return false }
        return path.bytes.count == name.count || path.bytes[name.count] == UInt8(ascii: "/")
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
        var (paths, found) = (paths, [(item: ArchiveItem, root: RelativePath)]())
        try paths.settle { tell in try forEach { tell($0.attributes.path) } }
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
