internal import Changes
internal import Files
internal import Foundation
internal import Remotes

// The steps that keep the container small and complete.
extension StoreExchange {
    /// Writes this device's card, joins old files, and removes covered files.
    func tidy(_ listing: Container.Listing, _ introduces: Bool) async throws {
        try sidecar.write { access in
            try access.expireRemoved(options.upkeep, now: now)
            let outgoing = try upkeep(access)
            let card = Card(
                access: access,
                outgoing: outgoing,
                rules: options.upkeep,
                now: now,
                program: options.program
            )
            try card.introduce(atOnce: introduces)
            _ = try access.completeStandIns(at: now)
            let compaction = Compaction(
                access: access,
                rules: options.upkeep,
                now: now,
                listing: listing
            )
            if let covers = try compaction.covers(refills: options.refills) {
                try BaselineWriter(access: access, outgoing: outgoing).write(covers: covers)
            }
        }
        try await lookAfterBlobs(listing)
        try await bundle(listing)
        try await removeCovered(listing)
        try await removeAbandoned(listing)
    }

    /// Removes the remains of killed uploads, of any device; an upload that is still running after a day is
    /// repeated.
    private func removeAbandoned(_ listing: Container.Listing) async throws {
        let day = 86_400.0
        let old = listing.partials.filter { file in
            file.modified.map { Double(now) / 1000 - $0.timeIntervalSince1970 > day } ?? false
        }
        try await container.remove(old.map { (nil, $0.name) }, check: options.check)
    }

    /// Removes long values that no row has referred to for long, and sends lost ones again.
    private func lookAfterBlobs(_ listing: Container.Listing) async throws {
        let round = BlobRound(
            sidecar: sidecar,
            container: container,
            rules: options.upkeep,
            now: now,
            listing: listing
        )
        let isLost = try sidecar.read { try $0.integer("resend") } != nil
        guard try isLost || round.isDue() else { return }
        // It forgets values that are gone and not sent again now, so that they are sent once a row refers to them.
        let missing = try await round.run(check: options.check)
        if isLost {
            try resend(nil)
        } else if !missing.isEmpty {
            try resend(missing)
        }
        try sidecar.write { try $0.set("blobs", now) }
    }

    /// Sends lost long values again; all of them if the lost ones are unknown.
    private func resend(_ missing: Set<Digest>?) throws {
        let snapshot = try snapshot()
        try withExtendedLifetime(snapshot) {
            let (_, tables) = try sidecar.tables(in: snapshot)
            try sidecar.write { access in
                let blobs = LostBlobs(
                    access: access,
                    outgoing: try upkeep(access),
                    files: files,
                    missing: missing
                )
                try blobs.send(tables, in: snapshot)
                try access.forget("resend")
            }
        }
    }

    /// Returns the writer of files without new changes, at the present clock.
    func upkeep(_ access: SidecarAccess) throws -> Outgoing {
        Outgoing(
            access,
            outbox: sidecar.outbox,
            clock: try access.clock.last,
            wall: now,
            program: options.program
        )
    }

    /// Removes files of this device, and of forgotten ones, that others have covered long enough.
    private func removeCovered(_ listing: Container.Listing) async throws {
        let removed = try sidecar.read { access in
            let standing = try access.standIns().standing(in: listing).filter {
                $0.complete.map { now - $0 >= options.upkeep.keeping } ?? false
            }
            let cover = Cover(standing)
            let own = try access.ownIDs
            return try listing.all.filter { folder, _ in folder != .info }
                .compactMap { folder, file -> (Container.Folder, KnownFile)? in
                    guard let known = try access.file(named: file.name), cover.has(known.id) else {
                        return nil
                    }
                    if known.isOwn { return (folder, known) }
                    guard let device = known.device else { return nil }
                    let isOurs = try own.contains(device) || access.isGone(device)
                    return isOurs ? (folder, known) : nil
                }
        }
        try await container.remove(removed.map { ($0.rawValue, $1.name) }, check: options.check) {
            let file = removed[$0].1
            if file.isOwn { try sidecar.write { try $0.setRemoved(file.id, at: now) } }
        }
    }
}
