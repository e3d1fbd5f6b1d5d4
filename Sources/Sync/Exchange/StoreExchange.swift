internal import Changes
internal import Files
public import Foundation
public import Stores
public import SystemPackage

/// The exchange of one store with its group: local edits are sent, and others' edits are taken.
///
/// Each step ends with one transaction of the sidecar or of the store, and can be repeated. The next run continues
/// after a run that was killed at any moment.
///
/// | killed | there is | the next run |
/// | --- | --- | --- |
/// | before the capture is kept | nothing | captures again |
/// | before its files are published | files in the outbox | uploads the same bytes |
/// | while files are taken | some of them joined | takes the rest; twice is harmless |
/// | before the plan is kept | rows that are not written | plans again |
/// | before the store commits | an intent, the old store | finds the old rows; drops the intent |
/// | before what was written is kept | an intent, the new store | finds the new rows; keeps them |
public struct StoreExchange {
    /// The steps after which a test can end a run.
    public enum Step: String, CaseIterable, Sendable {
        case recovered, looked, captured, published, taken, planned, written, settled, tidied
    }

    public struct Options: Sendable {
        /// Whether most rows of a table may be deleted without a question, here or elsewhere.
        public var acceptsChanges = false
        /// The meaning of the local data after an accident; `nil` to ask.
        public var rejoining: Rejoining?
        /// Whether the container is filled with all that this device knows, because it was emptied or is new.
        public var refills = false
        /// Whether nothing is sent or written, but only counted; in this case the sidecar is a copy.
        public var isDryRun = false
        /// The greatest number of rows that are computed and written at once; more are divided into parts.
        ///
        /// Tables without earlier rows are read in parts of half as many.
        var mostRows = ViewLook.mostRows
        /// The least number of new rows of a table in a file that are written without a view.
        var leastBulk = 256
        /// Whether each partial view is compared with the view of all rows, as in tests.
        var comparesViews = false
        /// The identity of this machine; see `Machine`.
        public var machine = Machine.current
        /// The rules for writing baselines and bundles, and for removing files.
        public var upkeep = UpkeepRules()
        /// The longest wait for another writer of the store.
        public var busyTimeout = Duration.seconds(5)
        /// The directory for copies of a store that must be recovered before it is read.
        public var scratch: FilePath
        /// The program and its version, as files name it.
        public var program: String
        /// A closure that keeps our other programs off the store, as long as its result lives.
        ///
        /// It covers the time from before the plan to after the write. If it returns `nil`, the changes that arrived
        /// are left for a later run.
        public var reserve: @Sendable () async throws -> (any Sendable)? = { () }
        /// A closure that is called before rows are written, with the planned rows; for very many rows, once per
        /// part.
        ///
        /// If it throws, the rows are not written. Our connection to the store may be open, without a transaction.
        public var willWrite: @Sendable ([WrittenRow]) async throws -> Void = { _ in }
        /// A closure that is called with the copy that is kept of a store before it yields to the container.
        public var kept: @Sendable (FilePath) -> Void = { _ in }
        /// A closure that is called after rows were written, for the same parts as `willWrite`.
        public var didWrite: @Sendable ([WrittenRow]) async throws -> Void = { _ in }
        /// A closure that is called between steps, and throws to end the run.
        public var check: @Sendable () throws -> Void = {}
        /// A closure that is called after each step.
        public var passed: @Sendable (Step) throws -> Void = { _ in }
        /// A closure that returns twelve random bytes for ids.
        public var random: @Sendable () -> (high: UInt64, low: UInt32) = {
            (.random(in: .min ... .max), .random(in: .min ... .max))
        }

        public init(scratch: FilePath, program: String) {
            self.scratch = scratch
            self.program = program
        }

        /// Whether most rows of a table may be deleted here: `--take container` accepts the others' deletions.
        var acceptsLoss: Bool { acceptsChanges || rejoining == .container }
    }

    let store: Store
    let sidecar: Sidecar
    let container: Container
    /// The current time, in milliseconds since 1970.
    let now: Int64
    let options: Options

    public init(
        of store: Store,
        sidecar: Sidecar,
        container: Container,
        now: Date,
        options: Options
    ) {
        self.store = store
        self.sidecar = sidecar
        self.container = container
        self.now = now.milliseconds
        self.options = options
    }

    /// Runs the exchange.
    ///
    /// A failure of the container, at once or later, does not end it: local edits are captured, and changes that
    /// arrived are written.
    ///
    /// - Returns: the outcome, with the error of the container if it failed.
    /// - Throws: `SyncDecision`, `StoreError`, `SidecarError`, `FileError`.
    public func run() async throws -> ExchangeOutcome {
        var outcome = ExchangeOutcome()
        try recover()
        try sidecar.write { try ClockReturn(access: $0, now: now).run(outgoing($0)) }
        try tidyFiles()
        try GroupMap.adopt(in: sidecar, accepts: options.acceptsChanges)
        try pass(.recovered)
        let (listing, identity) = try await meet(&outcome)
        guard let identity else { return outcome }
        let isEnabling = try sidecar.read { try $0.membership.phase == .enabling }
        let takesFirst = try isEnabling || sidecar.read { try $0.integer("rolled") != nil }
        var isTaken = false
        if takesFirst, let listing {
            // The others' files come first, so that rows with the same content become one.
            isTaken = try await intake(listing, &outcome)
        }
        // Without the others' files, nobody can know what a rolled-back sidecar has missed.
        let isAlone =
            try isEnabling && listing == nil && sidecar.read { try $0.membership.match == nil }
        if isTaken || !takesFirst || isAlone {
            try await capture(seeds: isEnabling, or: listing, &isTaken, &outcome)
        }
        try pass(.captured)
        if listing != nil {
            try await publish(&outcome)
            try pass(.published)
        }
        if let listing, !takesFirst, !isTaken { isTaken = try await intake(listing, &outcome) }
        if outcome.taken.unknownOwn > 0 || outcome.taken.isForgotten {
            try sidecar.write { try $0.membership.renew(at: now) }
        }
        try GroupMap.adopt(in: sidecar, accepts: options.acceptsChanges)
        try pass(.taken)
        try await write(&outcome)
        try tidyFiles()
        if let listing, outcome.refusal == nil, !options.isDryRun {
            let isNew = isEnabling || identity.isMoved || identity.isRolledBack
            try await tidy(listing, introducing: isNew, &outcome)
        }
        if isEnabling, isTaken { try sidecar.write { try $0.membership.setPhase(.on) } }
        try conclude(&outcome, hasListed: listing != nil)
        return outcome
    }

    func pass(_ step: Step) throws {
        try options.passed(step)
        try options.check()
    }

    // MARK: - The store

    /// Opens the store for reading; it is closed with the last reference to the snapshot.
    func snapshot() throws -> StoreSnapshot {
        let cut = try StoresCut(
            of: [store],
            scratchParent: options.scratch,
            busyTimeout: options.busyTimeout
        )
        if let failure = cut.failures.first { throw failure.error }
        guard let member = cut.members.first else {
            throw StoreError.unreadable(store.path.description, reason: "it is not there")
        }
        try member.snapshot.requireWholePages()
        return member.snapshot
    }

    /// Captures; if the map does not say enough for that, another device may have published one that does.
    private func capture(
        seeds: Bool,
        or listing: Container.Listing?,
        _ isTaken: inout Bool,
        _ outcome: inout ExchangeOutcome
    ) async throws {
        do {
            try capture(seeds: seeds)
        } catch let refusal as SyncRefusal {
            guard !isTaken, let listing else { throw refusal }
            isTaken = try await intake(listing, &outcome)
            try GroupMap.adopt(in: sidecar, accepts: options.acceptsChanges)
            try capture(seeds: seeds)
        }
    }

    /// Captures the edits since the last look; if no process has written since, it reads no page.
    func capture(seeds: Bool) throws {
        let look = try store.look()
        let (last, arrived) = try sidecar.read { access in
            (try access.text("look"), try access.awaited.arrived(files))
        }
        if !seeds, options.rejoining == nil, let look, look == last, arrived.isEmpty { return }
        // A person's answer applies to the data of that moment, and not to later edits.
        try withSnapshot(seeds: seeds, rejoining: options.rejoining) { _, _, _ in }
        try sidecar.write { access in
            try access.set("look", look)
            // A store that was put back may refer to rows as they were once, so all of it is looked at.
            if options.rejoining != nil {
                try access.dirty.alterAll()
                try access.dirty.mark(.zero)
            }
            // The application may have removed what was in their way.
            try access.dirty.retryRefused()
        }
    }

    /// Captures, and runs `body` within the same transaction of the store.
    func withSnapshot<Result>(
        seeds: Bool = false,
        rejoining: Rejoining? = nil,
        _ body: (StoreSnapshot, SyncSchema, [TableMapping]) throws -> Result
    ) throws -> Result {
        let modified = try store.modified()
        let snapshot = try snapshot()
        return try withExtendedLifetime(snapshot) {
            let (schema, tables) = try sidecar.tables(in: snapshot)
            if let refusal = schema.refusals.first { throw refusal }
            let version = try StoreVersion(of: store, snapshot)
            if rejoining == .container { options.kept(try sidecar.keep(snapshot, as: .yielded)) }
            try sidecar.write { access in
                let meaning = try CaptureMeaning(version, options, rejoining, access)
                try access.set("now", now)
                var change = try access.captured.takeSchema(schema.digest, tables, snapshot)
                try access.awaited.take(files, in: tables, RowFinder(snapshot), &change)
                var clock = try access.membership.clock
                let reading = clock.tick(now: now, modified: modified)
                let outgoing = try outgoing(access, at: reading)
                var captureOptions = meaning.options(seeds: seeds)
                captureOptions.partRows = options.mostRows / 2
                captureOptions.change = change
                if seeds { captureOptions.match = try access.membership.match }
                var capture = Capture(
                    of: tables,
                    in: access,
                    stamp: Stamp(clock: reading, device: try access.membership.own),
                    random: options.random(),
                    options: captureOptions,
                    outgoing: outgoing,
                    files: files
                )
                let isFirst = try seeds && access.states.isEmpty
                try capture.run(snapshot)
                try outgoing.finish()
                // The data that were there first are shown unchanged.
                if isFirst { try access.set("view", bytes: tables.viewSignature) }
                try meaning.check(capture.result, store)
                try version.keep(access)
                if outgoing.changes > 0 { try access.membership.setClock(clock) }
            }
            return try body(snapshot, schema, tables)
        }
    }

    // MARK: - Recovery

    /// Records the rows of an interrupted write that reached the store; the others are planned again.
    func recover() throws {
        let (planned, bulk) = try sidecar.write { access in
            try access.bulkRows.releaseAll()
            return (try access.intents.all(), try access.bulkRows.pending())
        }
        if planned.isEmpty, bulk.isEmpty { return }
        let snapshot = try snapshot()
        let (rows, bulkRows) = try withExtendedLifetime(snapshot) {
            let rows = try Evidence(planned, in: snapshot, sidecar)
            return (rows, try Evidence(bulk, in: snapshot, sidecar))
        }
        try sidecar.write { access in
            for intent in rows.written {
                try access.intents.settle(intent)
                try access.dirty.clean(intent.id)
            }
            try access.bulkRows.undo(bulkRows.unwritten)
            try access.bulkRows.settle()
            // After a wrong decision, the next capture must find the difference as an edit.
            try access.shadow.forgetLooks()
            try access.intents.drop()
        }
    }
}
