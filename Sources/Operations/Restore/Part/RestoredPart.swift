internal import Files
internal import Stores

/// The paths of a stores directory that a restore exchanges, if it leaves all else alone.
///
/// Each stands for all that is in it, and none is in another.
struct RestoredPart: Sendable, Equatable {
    /// In the order of their bytes.
    let roots: [RelativePath]
    private let known: Set<RelativePath>
    /// The directories that lead to them.
    let above: Set<RelativePath>
    private let printed: Set<Substring>
    private let printedAbove: Set<Substring>

    /// Takes paths, of which some may be in others.
    init(_ paths: some Sequence<RelativePath>) {
        let all = Set(paths)
        known = all.filter { path in
            !sequence(first: path, next: \.parent).dropFirst().contains(where: all.contains)
        }
        roots = known.sorted()
        above = Set(known.flatMap { sequence(first: $0, next: \.parent).dropFirst() })
        printed = Set(known.map { $0.description[...] })
        printedAbove = Set(above.map { $0.description[...] })
    }

    /// Returns whether a path is one of them, or in one.
    func contains(_ path: RelativePath) -> Bool {
        sequence(first: path, next: \.parent).contains(where: known.contains)
    }

    /// Returns whether a path, as it is printed, is one of them, or in one.
    func contains(printed path: String) -> Bool {
        sequence(first: path[...]) { path in
            path.lastIndex(of: "/").map { path[..<$0] }
        }.contains(where: printed.contains)
    }

    /// Returns whether a path, as it is printed, is one of them, or in one, or leads to one.
    func leads(toPrinted path: String) -> Bool {
        contains(printed: path) || printedAbove.contains(path[...])
    }

    /// Returns whether one of them is in a directory.
    func isBelow(_ path: RelativePath) -> Bool { above.contains(path) }

    /// Returns whether a store, or something that belongs to it, is exchanged.
    func concerns(_ store: Store) -> Bool {
        let support = store.supportDirectory
        return contains(store.path) || store.files.contains(where: known.contains)
            || contains(support) || isBelow(support)
    }
}

extension StoresDirectory.Survey {
    /// Takes out all that a part has nothing to do with; nothing if there is none.
    mutating func limit(to part: RestoredPart?) {
        guard let part else { return }
        stores.removeAll { !part.contains($0.path) }
        failures.removeAll { !part.contains($0.path) }
    }
}
