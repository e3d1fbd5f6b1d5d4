internal import Files
internal import Remotes

// The container may become unreachable at any moment; steps that do not need it continue.
extension StoreExchange {
    /// Runs a step that needs the container, unless the container has failed before in this run.
    ///
    /// - Returns: whether the step succeeded; if not, the outcome has the container's error.
    /// - Throws: errors that are not the container's.
    func reach(
        _ outcome: inout ExchangeOutcome,
        _ body: (inout ExchangeOutcome) async throws -> Void
    ) async throws -> Bool {
        guard outcome.trouble == nil else { return false }
        do {
            try await body(&outcome)
        } catch let error as RemoteError {
            outcome.trouble = error
        } catch let error as FileError {
            outcome.trouble = error
        }
        return outcome.trouble == nil
    }

    /// Lists the container, and checks whether this device is still the same.
    ///
    /// - Returns: no identity if that is unknown; in this case nothing is captured.
    func meet(
        _ outcome: inout ExchangeOutcome
    ) async throws -> (listing: Container.Listing?, identity: Identity?) {
        var listing: Container.Listing?
        var identity: Identity?
        _ = try await reach(&outcome) { listing = try await look(&$0) }
        try pass(.looked)
        if let listing, try await reach(&outcome, { _ in identity = try await identify(listing) }) {
            return (listing, identity)
        }
        outcome.hasContainer = false
        return (nil, try await identify(nil))
    }

    /// Takes the files of other devices.
    ///
    /// - Returns: whether all of them were taken.
    func intake(
        _ listing: Container.Listing,
        _ outcome: inout ExchangeOutcome
    ) async throws -> Bool {
        try await reach(&outcome) { outcome in
            try await Intake(of: self).run(listing, options.check, &outcome.taken)
        }
    }

    /// Sends the waiting files.
    ///
    /// A container that is full or read-only does not stop the intake.
    func publish(_ outcome: inout ExchangeOutcome) async throws {
        guard outcome.refusal == nil else { return }
        if options.isDryRun {
            let waiting = try sidecar.read { try $0.files.unpublished() }
            outcome.sent = Publication.Sent(
                files: waiting.count,
                bytes: waiting.reduce(0) { $0 + $1.size },
                changes: waiting.reduce(0) { $0 + $1.changes }
            )
            return
        }
        let publication = Publication(sidecar: sidecar, container: container, now: now)
        _ = try await reach(&outcome) { outcome in
            do {
                try await publication.run(&outcome.sent)
            } catch let error as FileError {
                outcome.refusal = error
            } catch RemoteError.readOnly(let address, let reason) {
                outcome.refusal = RemoteError.readOnly(address, reason: reason)
            } catch RemoteError.noSpace(let address, let reason) {
                outcome.refusal = RemoteError.noSpace(address, reason: reason)
            }
        }
    }

    /// Ends a run; a refusal of the container is reported as its failure.
    func conclude(_ outcome: inout ExchangeOutcome, hasListed: Bool) throws {
        outcome.trouble = outcome.trouble ?? outcome.refusal
        guard hasListed, outcome.trouble == nil else { return }
        let captured = try sidecar.read { try $0.text("look") }
        let look = try outcome.written == 0 ? captured ?? store.look() : store.look()
        try sidecar.write { access in
            try access.set("exchanged", now)
            try access.set("exchanged look", look)
        }
    }
}
