internal import Changes
internal import Files
internal import Foundation
internal import Remotes

// The steps that keep the container small and complete.
extension StoreExchange {
    /// Keeps the container small and complete, and sends the files that this takes.
    ///
    /// - Parameters:
    ///   - listing: the files in the container.
    ///   - introduces: whether the other devices do not know this one yet.
    ///   - outcome: the outcome of the run.
    /// - Throws: errors that are not the container's.
    func tidy(
        _ listing: Container.Listing,
        introducing introduces: Bool,
        _ outcome: inout ExchangeOutcome
    ) async throws {
        _ = try await reach(&outcome) { _ in try await tidy(listing, introduces) }
        try await publish(&outcome)
        _ = try await reach(&outcome) { _ in try await removal(listing).removeCut() }
        try pass(.tidied)
    }

    /// The rules for this container.
    var rules: UpkeepRules { options.upkeep.fitting(container) }

    /// Writes this device's card, joins old files, and removes covered files.
    private func tidy(_ all: Container.Listing, _ introduces: Bool) async throws {
        let rules = rules
        let listing = try sidecar.write { access in
            try access.removed.expire(rules, now: now)
            try access.removed.addHeld(now: now)
            let outgoing = try outgoing(access)
            try OwnDamage(in: all, access, rules, now: now).repair(access, outgoing, now: now)
            let whole = try all.whole(access)
            let card = Card(
                access: access,
                outgoing: outgoing,
                rules: rules,
                now: now,
                program: options.program
            )
            try card.introduce(atOnce: introduces)
            try access.files.completeStandIns(at: now)
            let compaction = Compaction(
                access: access,
                rules: rules,
                now: now,
                listing: whole
            )
            if let covers = try compaction.covers(refills: options.refills) {
                try BaselineWriter(access: access, outgoing: outgoing).write(covers: covers)
            }
            return whole
        }
        try KeptFiles(sidecar: sidecar).expire(rules, now: now)
        try await lookAfterBlobs(listing)
        try await bundle(listing)
        try await removal(listing).removeCovered()
        try await removeAbandoned(listing)
    }

    private func removal(_ listing: Container.Listing) -> Removal {
        Removal(
            sidecar: sidecar,
            container: container,
            rules: rules,
            now: now,
            listing: listing,
            check: options.check
        )
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
                    outgoing: try outgoing(access),
                    files: files,
                    missing: missing
                )
                try blobs.send(tables, in: snapshot)
                try access.forget("resend")
            }
        }
    }

    /// Returns the writer of this device's files.
    ///
    /// - Parameters:
    ///   - access: the state.
    ///   - clock: the clock of the files; the present one for files without new changes.
    /// - Returns: the writer.
    /// - Throws: `SidecarError`.
    func outgoing(_ access: SidecarAccess, at clock: UInt64? = nil) throws -> Outgoing {
        Outgoing(
            access,
            outbox: sidecar.outbox,
            clock: try clock ?? access.membership.clock.last,
            wall: now,
            program: options.program
        )
    }
}
