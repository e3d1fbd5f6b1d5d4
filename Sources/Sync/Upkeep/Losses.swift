internal import Changes
internal import Files
internal import Remotes

/// The data files that the container has lost: they were there, are not listed, and nothing covers them.
///
/// A device removes a file only after others have covered it for a week. So some device may never have read the lost
/// files.
struct Losses {
    /// The lost files of this device that were published.
    private(set) var own: [KnownFile] = []
    /// The lost files of others that this device has read.
    private(set) var others: [Digest] = []
    /// The files of this device that are gone, and that others cover.
    private(set) var ownCovered: [KnownFile] = []
    /// Whether all files are gone that this device knew before this run, including others' files that it had read.
    ///
    /// In this case the container was emptied, and filled again.
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
        let published = try access.files.ownFiles().filter { $0.published != nil }
        let read = try access.files.readFiles()
        // A baseline that was just written may not be listed yet.
        let fresh = Set(published.filter { rules.mayBeUnlisted($0, now) }.map(\.id.short))
        let covered = standIns.covered(by: there.union(fresh))
        // Only a baseline of this device is known to have the content of a file that cannot be read any more.
        let ownCover = try standIns.filter { try access.files.owns($0.id) }
            .covered(by: there.union(fresh))
        for file in published where !isThere(file) {
            if ownCover.contains(file.id) { ownCovered.append(file) } else { own.append(file) }
        }
        others = read.filter { !isThere($0.file) && !covered.contains($0.file.id) }.map(\.file.id)
        let known = read.filter { $0.at < now }.map(\.file)
        isAll =
            !known.isEmpty && !known.contains(where: isThere)
            && !published.contains { $0.published != now && isThere($0) }
    }
}

extension UpkeepRules {
    /// Returns whether a file of this device was published so recently that it may not be listed yet.
    func mayBeUnlisted(_ file: KnownFile, _ now: Int64) -> Bool {
        file.published.map { mayBeUnlisted(publishedAt: $0, now) } ?? true
    }

    /// Returns whether a file that was published at a time may not be listed yet: in this run, or recently.
    func mayBeUnlisted(publishedAt published: Int64, _ now: Int64) -> Bool {
        // The clock may have been set back since.
        published == now || abs(now - published) < listingDelay
    }
}

extension Container.Listing {
    /// The ids in the names of the data files.
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
    /// Returns the files that complete baselines and bundles cover, if all their own files are there.
    ///
    /// One whose own files are covered counts as well, since its content is in its successor.
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
