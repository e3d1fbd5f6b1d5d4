internal import Changes
internal import Files
internal import Remotes

/// The removal of files that others have the content of.
struct Removal {
    let sidecar: Sidecar
    let container: Container
    let rules: UpkeepRules
    /// The current time, in milliseconds since 1970.
    let now: Int64
    let listing: Container.Listing
    /// A closure that is called between files, and throws to stop.
    let check: @Sendable () throws -> Void

    /// Removes damaged files of this device, once others have their content.
    ///
    /// A file with another's content stays: names are not believed.
    func removeCut() async throws {
        let cut = try sidecar.read { access in
            guard try access.files.unpublished().isEmpty else { return [OwnFile]() }
            return try OwnDamage(in: listing, access, rules, now: now).cut.filter {
                try access.files.waiting($0.name)?.kind == .foreign
            }
        }
        let needed = Set(try sidecar.read { try $0.files.ownFiles().map(\.name) })
        let files = cut.filter { !needed.contains($0.name) && !$0.folder.isEmpty }
        try await container.remove(files.map { ($0.folder, $0.name) }, check: check)
    }

    /// Removes files of this device, and of forgotten ones, that others have covered long enough.
    func removeCovered() async throws {
        var (standing, files) = try sidecar.read { access in
            let standing = try access.files.standIns().standing(in: listing).filter {
                $0.complete.map { now - $0 >= rules.keeping } ?? false
            }
            return try (standing, removable(coveredBy: standing, access))
        }
        let isOwn = try sidecar.read { access in try standing.map { try access.files.owns($0.id) } }
        let ownCover = Cover(zip(standing, isOwn).filter(\.1).map(\.0))
        var removed = files.filter { ownCover.has($0.known.id) }
        files.removeAll { ownCover.has($0.known.id) }
        let proof = CoverProof(sidecar: sidecar, container: container, listing: listing)
        for standIn in zip(standing, isOwn).filter({ !$0.1 }).map(\.0) {
            try check()
            let cover = Cover([standIn])
            let covered = files.filter { cover.has($0.known.id) }
            switch covered.isEmpty ? .unread : try await proof.verdict(on: standIn, for: covered) {
            case .holds:
                removed += covered
                files.removeAll { cover.has($0.known.id) }
            case .lacks: try sidecar.write { try $0.files.disbelieve(standIn, at: now) }
            case .unread: continue
            }
        }
        try await container.remove(
            removed.map { ($0.folder.rawValue, $0.known.name) },
            check: check
        ) {
            let file = removed[$0].known
            if file.isOwn { try sidecar.write { try $0.files.setRemoved(file.id, at: now) } }
        }
    }

    /// Returns the covered files that this device may remove: its own, and those of forgotten devices.
    private func removable(
        coveredBy standing: [StandIn],
        _ access: SidecarAccess
    ) throws -> [CoverProof.Covered] {
        let cover = Cover(standing)
        let own = try access.membership.ownIDs
        return try listing.all.filter { folder, _ in folder != .info }.compactMap { folder, file in
            guard let known = try access.files.file(named: file.name), cover.has(known.id),
                try known.isOwn
                    || known.device.map({ try own.contains($0) || access.devices.isGone($0) })
                        ?? false
            else { return nil }
            return CoverProof.Covered(folder: folder, file: file, known: known)
        }
    }
}
