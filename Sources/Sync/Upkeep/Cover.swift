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

    /// Returns the id of a covered file, by its name.
    func id(of name: String, in folder: Container.Folder) -> Digest? {
        switch ContainerName(file: name, in: folder.rawValue) {
        case .changes(_, _, let id), .part(_, _, let id), .baseline(_, _, let id): ids[id]
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
