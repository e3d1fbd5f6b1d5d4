internal import Files
internal import Remotes

// The container may go away at any moment: what is done without it is done all the same.
extension StoreExchange {
    /// Does something with the container, unless that has failed before in this run.
    ///
    /// - Returns: whether it was done; if the container fails, or has failed, the outcome has the error.
    /// - Throws: what is no failure of the container.
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

    /// Lists the container, and finds out whether this device is still the one that it was.
    ///
    /// - Returns: no identity if that cannot be found out: then nothing is captured.
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

    /// Takes what others have sent.
    ///
    /// - Returns: whether all of it was.
    func intake(
        _ listing: Container.Listing,
        _ outcome: inout ExchangeOutcome
    ) async throws -> Bool {
        let intake = Intake(sidecar: sidecar, container: container, now: now)
        return try await reach(&outcome) { outcome in
            try await intake.run(listing, options.check, &outcome.taken)
        }
    }

    /// Sends what waits; a container that is full, or may only be read, keeps nothing from being taken.
    func publish(_ outcome: inout ExchangeOutcome) async throws {
        guard outcome.refusal == nil else { return }
        if options.isDryRun {
            let waiting = try sidecar.read { try $0.unpublished() }
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

    /// Ends a run: what the container refused is told as its failure.
    func conclude(_ outcome: inout ExchangeOutcome, hasListed: Bool) throws {
        outcome.trouble = outcome.trouble ?? outcome.refusal
        guard hasListed, outcome.trouble == nil else { return }
        try sidecar.write { try $0.set("exchanged", now) }
    }
}
