internal import Changes
internal import Files
internal import Remotes

/// The files that complete baselines and bundles cover.
struct Cover {
    /// The ids, by the part of them that names contain.
    private let ids: [UInt64: Digest]

    init(_ standIns: [StandIn]) {
        ids = Dictionary(
            standIns.filter { $0.complete != nil }.flatMap(\.covers).map { ($0.short, $0) }
        ) { first, _ in first }
    }

    func has(_ id: Digest) -> Bool { ids[id.short] == id }

    /// Returns the id of a file that need not be read, by its name.
    ///
    /// An index is read all the same: it shows which other files it covers.
    func passed(_ name: String, in folder: Container.Folder) -> (id: Digest, kind: FileKind)? {
        guard let covered = id(of: name, in: folder), covered.kind != .baselineIndex else {
            return nil
        }
        return covered
    }

    /// Returns the id of a covered file, by its name; names only spare downloads.
    func id(of name: String, in folder: Container.Folder) -> (id: Digest, kind: FileKind)? {
        switch ContainerName(file: name, in: folder.rawValue) {
        case .changes(_, _, let id): ids[id].map { ($0, .changes) }
        case .part(_, _, let id): ids[id].map { ($0, .baselinePart) }
        case .baseline(_, _, let id): ids[id].map { ($0, .baselineIndex) }
        default: nil
        }
    }
}

extension [StandIn] {
    /// Returns the baselines and bundles whose files are all in the container now.
    func standing(in listing: Container.Listing) -> [StandIn] {
        let there = listing.ids
        return filter { standIn in standIn.files.allSatisfy { there.contains($0.short) } }
    }
}
