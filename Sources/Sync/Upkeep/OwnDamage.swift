internal import Changes
internal import Files
internal import Remotes

/// The files that this device has published, and that the container has with another size, or has lost.
struct OwnDamage {
    /// The files that are there with another size only, whether they are still needed or not.
    private(set) var cut: [OwnFile] = []
    /// The files that should be there, and are not, or are cut.
    private(set) var missing: [OwnFile] = []

    init(
        in listing: Container.Listing,
        _ access: SidecarAccess,
        _ rules: UpkeepRules,
        now: Int64
    ) throws {
        let sizes = listing.sizes
        let ids = listing.ids
        for (file, published, isDue) in try access.files.published()
        where !rules.mayBeUnlisted(publishedAt: published, now) {
            let found = sizes[file.name]
            if found?.contains(file.size) ?? ids.contains(file.id.short) { continue }
            if found != nil { cut.append(file) }
            if isDue { missing.append(file) }
        }
    }

    /// Publishes a card or a map again if it is missing; a baseline is written for the missing data.
    func repair(_ access: SidecarAccess, _ outgoing: Outgoing, now: Int64) throws {
        for file in missing {
            switch ContainerName(file: file.name, in: file.folder) {
            case .card: try access.set("card", nil as Int64?)
            case .map(_, let clock, _):
                guard try access.integer("map_clock") == Int64(clock) else { break }
                try GroupMap(access: access)
                    .publish(access.membership.groupMap, through: outgoing, now: now)
            default: continue
            }
            try access.files.setRemoved(file.id, at: now)
        }
    }
}

extension Container.Listing {
    /// The sizes of the listed files, by their names.
    var sizes: [String: Set<Int64>] {
        Dictionary(grouping: marks + all.map(\.file), by: \.name)
            .mapValues { Set($0.map(\.size)) }
    }

    /// Returns the listing without the data files that have another size than when they were written or read.
    func whole(_ access: SidecarAccess) throws -> Container.Listing {
        let known = try access.files.ownFiles() + access.files.readFiles().map(\.file)
        let sizes = Dictionary(known.map { ($0.name, $0.size) }) { own, _ in own }
        var listing = self
        for folder in [Container.Folder.log, .base] {
            listing.files[folder]?.removeAll { (sizes[$0.name] ?? $0.size) != $0.size }
        }
        return listing
    }
}
