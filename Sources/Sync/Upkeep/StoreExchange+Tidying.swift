internal import Changes
internal import Files
internal import Remotes

// What keeps the container small and complete.
extension StoreExchange {
    /// Tells of this device, joins old files, and removes those that others stand for.
    func tidy(_ listing: Container.Listing, _ introduces: Bool) async throws {
        try sidecar.write { access in
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
        try resend()
        try await bundle(listing)
        try await removeCovered(listing)
    }

    /// Sends long values again, where the container has lost files.
    private func resend() throws {
        guard try sidecar.read({ try $0.integer("resend") }) != nil else { return }
        let snapshot = try snapshot()
        try withExtendedLifetime(snapshot) {
            let (_, tables) = try sidecar.tables(in: snapshot)
            try sidecar.write { access in
                let blobs = LostBlobs(
                    access: access,
                    outgoing: try upkeep(access),
                    files: files
                )
                try blobs.send(tables, in: snapshot)
                try access.forget("resend")
            }
        }
    }

    /// Files that tell nothing new, with the clock as it is.
    func upkeep(_ access: SidecarAccess) throws -> Outgoing {
        Outgoing(
            access,
            outbox: sidecar.outbox,
            clock: try access.clock.last,
            wall: now,
            program: options.program
        )
    }

    /// Removes files of this device, and of forgotten ones, for which others have stood long enough.
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
        for (folder, file) in removed {
            try options.check()
            do {
                try await container.folder(folder.rawValue).delete(file.name)
            } catch RemoteError.notSynced {
                // It is gone; should it come back, it is removed again.
            }
            if file.isOwn { try sidecar.write { try $0.setRemoved(file.id, at: now) } }
        }
    }
}
