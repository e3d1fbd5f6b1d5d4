internal import Files
internal import Stores

/// The paths of a stores directory that a restore exchanges, if it leaves everything else alone.
///
/// Each path includes everything in it, and none contains another.
struct RestoredPart: Sendable, Equatable {
    /// The paths, sorted by their bytes.
    let roots: [RelativePath]
    private let known: Set<RelativePath>
    /// The directories above the paths.
    let above: Set<RelativePath>
    private let printed: Set<ExactString>
    private let printedAbove: Set<ExactString>

    /// Creates a part from paths, some of which may contain others.
    init(_ paths: some Sequence<RelativePath>) {
        let all = Set(paths)
        known = all.filter { path in
            !sequence(first: path, next: \.parent).dropFirst().contains(where: all.contains)
        }
        roots = known.sorted()
        above = Set(known.flatMap { sequence(first: $0, next: \.parent).dropFirst() })
        printed = Set(known.map { $0.description.exact })
        printedAbove = Set(above.map { $0.description.exact })
    }

    /// Returns whether a path is one of the paths, or in one.
    func contains(_ path: RelativePath) -> Bool {
        sequence(first: path, next: \.parent).contains(where: known.contains)
    }

    /// Returns whether a path, as it is printed, is one of the paths, or in one.
    func contains(printed path: String) -> Bool {
        sequence(first: path[...]) { path in
            path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[..<$0] }
        }.contains { printed.contains($0.exact) }
    }

    /// Returns whether a path, as it is printed, is one of the paths, in one, or above one.
    func leads(toPrinted path: String) -> Bool {
        contains(printed: path) || printedAbove.contains(path.exact)
    }

    /// Returns whether a directory contains one of the paths.
    func isBelow(_ path: RelativePath) -> Bool { above.contains(path) }

    /// Returns whether the exchange includes a store, or something that belongs to it.
    func concerns(_ store: Store) -> Bool {
        let support = store.supportDirectory
        return contains(store.path) || store.files.contains(where: known.contains)
            || contains(support) || isBelow(support)
    }
}

extension StoresDirectory.Survey {
    /// Removes the stores and failures outside a part; does nothing without a part.
    mutating func limit(to part: RestoredPart?) {
        guard let part else { return }
        stores.removeAll { !part.contains($0.path) }
        failures.removeAll { !part.contains($0.path) }
    }
}
