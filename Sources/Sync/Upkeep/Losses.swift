internal import Changes
internal import Files
internal import Remotes

/// The files of data that the container has lost: they were there, are not listed, and nothing stands for them.
///
/// Whoever removes files has let others stand for them for a week. So somebody may never have read these.
struct Losses {
    /// Of this device's files those that were published.
    private(set) var own: [KnownFile] = []
    /// Those that this device has read.
    private(set) var others: [Digest] = []
    /// Files of this device that are gone, and that others stand for.
    private(set) var stoodFor: [KnownFile] = []
    /// Whether all is gone that this device has known before this run, and read others' files: the container was
    /// emptied, and filled again since.
    private(set) var isAll = false

    var ids: [Digest] { own.map(\.id) + others }

    init(
        of listing: Container.Listing,
        _ standIns: [StandIn],
        _ access: SidecarAccess,
        _ rules: UpkeepRules,
        now: Int64
    ) throws {
        let names = Set(listing.all.map(\.file.name))
        let there = listing.ids
        func isThere(_ file: KnownFile) -> Bool {
            names.contains(file.name) || there.contains(file.id.short)
        }
        let published = try access.ownFiles().filter { $0.published != nil }
        let read = try access.readFiles()
        // A baseline that was written just now need not be listed yet.
        let fresh = published.filter { rules.mayBeUnlisted($0, now) }.map(\.id.short)
        let covered = standIns.covered(by: there.union(fresh))
        for file in published where !isThere(file) {
            if covered.contains(file.id) { stoodFor.append(file) } else { own.append(file) }
        }
        others = read.filter { !isThere($0.file) && !covered.contains($0.file.id) }.map(\.file.id)
        let known = read.filter { $0.at < now }.map(\.file)
        isAll =
            !known.isEmpty && !known.contains(where: isThere)
            && !published.contains { $0.published != now && isThere($0) }
    }
}

extension UpkeepRules {
    /// Whether a file of this device was published so lately that it may not be listed yet.
    func mayBeUnlisted(_ file: KnownFile, _ now: Int64) -> Bool {
        // A clock that was put right since may be behind that time.
        file.published.map { abs(now - $0) < patience } ?? true
    }
}

extension Container.Listing {
    /// The ids that the names of files of data tell.
    var ids: Set<UInt64> {
        Set(
            all.compactMap { folder, file in
                switch ContainerName(file: file.name, in: folder.rawValue) {
                case .changes(_, _, let id), .part(_, _, let id), .baseline(_, _, let id): id
                default: nil
                }
            }
        )
    }
}

extension [StandIn] {
    /// Returns the files that complete ones stand for of which all files are there.
    ///
    /// What stood for files before, and is itself stood for, counts as well: its content is in what came after it.
    fileprivate func covered(by there: Set<UInt64>) -> Set<Digest> {
        let isStanding = { (standIn: StandIn) in
            standIn.complete != nil && standIn.files.allSatisfy { there.contains($0.short) }
        }
        var covered = Set(filter(isStanding).flatMap(\.covers))
        var rest = filter { !isStanding($0) }
        while let index = rest.firstIndex(where: { covered.isSuperset(of: $0.files) }) {
            covered.formUnion(rest.remove(at: index).covers)
        }
        return covered
    }
}
