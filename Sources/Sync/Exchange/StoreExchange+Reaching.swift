internal import Files
internal import Remotes

// The container may go away at any moment: what is done without it is done all the same.
extension StoreExchange {
    /// Does something with the container, unless that has failed before in this run.
    ///
    /// - Returns: `nil` if the container fails, or has failed: the outcome then has the error.
    /// - Throws: what is no failure of the container.
    func reach<Result>(
        _ outcome: inout ExchangeOutcome,
        _ body: (inout ExchangeOutcome) async throws -> Result
    ) async throws -> Result? {
        guard outcome.trouble == nil else { return nil }
        do {
            return try await body(&outcome)
        } catch let error as RemoteError {
            outcome.trouble = error
        } catch let error as FileError {
            outcome.trouble = error
        }
        return nil
    }

    /// Lists the container, and finds out whether this device is still the one that it was.
    ///
    /// - Returns: no identity if that cannot be found out: then nothing is captured.
    func meet(
        _ outcome: inout ExchangeOutcome
    ) async throws -> (listing: Container.Listing?, identity: Identity?) {
        let listing = try await reach(&outcome) { try await look(&$0) } ?? nil
        try pass(.looked)
        guard let listing else {
            outcome.hasContainer = false
            return (nil, try await identify(nil))
        }
        let found = try await reach(&outcome) { _ in try await identify(listing) }
        guard outcome.trouble == nil else {
            outcome.hasContainer = false
            return (nil, try await identify(nil))
        }
        return (listing, found ?? nil)
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
        } != nil
    }

    /// Sends what waits.
    func publish(_ outcome: inout ExchangeOutcome) async throws {
        let publication = Publication(sidecar: sidecar, container: container, now: now)
        _ = try await reach(&outcome) { try await publication.run(&$0.sent) }
    }
}
