internal import Changes
internal import Files
public import Foundation
public import Stores
public import SystemPackage

/// One store's exchange with its group: what was edited here goes out, what was edited elsewhere comes in.
///
/// Each step ends with one transaction of the sidecar, or of the store, and can be done again: a run that
/// is killed anywhere is gone on with by the next one.
///
/// | killed | there is | the next run |
/// | --- | --- | --- |
/// | before the capture is kept | nothing | captures again |
/// | before its files are published | files in the outbox | uploads the same bytes |
/// | while files are taken | some of them joined | takes the rest; twice is harmless |
/// | before the plan is kept | rows that are not written | plans anew |
/// | before the store commits | an intent, the old store | finds the old rows; drops the intent |
/// | before what was written is kept | an intent, the new store | finds the new rows; keeps them |
public struct StoreExchange {
    /// The moments at which a test lets a run end.
    public enum Step: String, CaseIterable, Sendable {
        case recovered, looked, captured, published, taken, planned, written, settled, tidied
    }

    public struct Options: Sendable {
        /// Whether most rows of a table may go, here or elsewhere.
        public var acceptsChanges = false
        /// What the local data mean after an accident; `nil` asks.
        public var rejoining: Rejoining?
        /// Whether the container is filled with all that this device knows: it was emptied, or is new.
        public var refills = false
        /// Whether nothing is sent and nothing written, and only counted; the sidecar is a copy then.
        public var isDryRun = false
        /// The most rows that are looked at and written at once; more are in parts, and rows of a table of
        /// which none was there before are read in parts of half as many.
        var mostRows = ViewLook.mostRows
        /// Whether each view of a part is held to the view of all rows, as tests do.
        var comparesViews = false
        /// Which machine this is; see `Machine`.
        public var machine = Machine.current
        /// When baselines and bundles are written, and files removed.
        public var upkeep = UpkeepRules()
        /// How long to wait for another writer of the store.
        public var busyTimeout = Duration.seconds(5)
        /// Where copies go of a store that must be recovered before it is read.
        public var scratch: FilePath
        /// The program and its version, as files tell it.
        public var program: String
        /// Keeps other programs of ours off the store from before the plan to after the write, as long as
        /// the result lives; `nil` leaves what arrived for a later run.
        public var reserve: @Sendable () async throws -> (any Sendable)? = { () }
        /// Called before rows are written, with those that are planned, for each part of very many.
        ///
        /// An error leaves them unwritten. A connection of ours may be open to the store, without a transaction.
        public var willWrite: @Sendable ([WrittenRow]) async throws -> Void = { _ in }
        /// Told the copy that is kept of a store before it yields to the container.
        public var kept: @Sendable (FilePath) -> Void = { _ in }
        /// Called after rows were written, for each part of very many, as `willWrite` is.
        public var didWrite: @Sendable ([WrittenRow]) async throws -> Void = { _ in }
        /// Throws to end the run; called between steps.
        public var check: @Sendable () throws -> Void = {}
        /// Called after each step.
        public var passed: @Sendable (Step) throws -> Void = { _ in }
        /// Twelve random bytes for ids.
        public var random: @Sendable () -> (high: UInt64, low: UInt32) = {
            (.random(in: .min ... .max), .random(in: .min ... .max))
        }

        public init(scratch: FilePath, program: String) {
            self.scratch = scratch
            self.program = program
        }
    }

    let store: Store
    let sidecar: Sidecar
    let container: Container
    /// Milliseconds since 1970.
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
        self.now = Int64((now.timeIntervalSince1970 * 1000).rounded())
        self.options = options
    }

    /// Exchanges.
    ///
    /// A container that fails, at once or in the middle, ends nothing: what was edited is captured, and what
    /// has arrived is written.
    ///
    /// - Returns: what was sent, taken and written, and how the container failed.
    /// - Throws: `SyncDecision`, `StoreError`, `SidecarError`, `FileError`.
    public func run() async throws -> ExchangeOutcome {
        var outcome = ExchangeOutcome()
        try recover()
        try tidyFiles()
        try adoptMap()
        try pass(.recovered)
        let (listing, identity) = try await meet(&outcome)
        guard let identity else { return outcome }
        let isEnabling = try sidecar.read { try $0.phase == .enabling }
        let takesFirst = try isEnabling || sidecar.read { try $0.integer("rolled") != nil }
        var isTaken = false
        if takesFirst, let listing {
            // What others have comes first: rows that are alike become one.
            isTaken = try await intake(listing, &outcome)
        }
        // Without the others' files, nobody can say what a sidecar that was rolled back has missed.
        let isAlone = try isEnabling && listing == nil && sidecar.read { try $0.match == nil }
        if isTaken || !takesFirst || isAlone {
            try capture(seeds: isEnabling)
        }
        try pass(.captured)
        if listing != nil {
            try await publish(&outcome)
            try pass(.published)
        }
        if let listing, !takesFirst { isTaken = try await intake(listing, &outcome) }
        if outcome.taken.unknownOwn > 0 || outcome.taken.isForgotten {
            try sidecar.write { try $0.renew(at: now) }
        }
        try adoptMap()
        try pass(.taken)
        try await write(&outcome)
        try tidyFiles()
        if let listing, outcome.refusal == nil, !options.isDryRun {
            _ = try await reach(&outcome) { _ in
                try await tidy(
                    listing,
                    isEnabling || identity.isMoved || identity.isRolledBack
                )
            }
            try await publish(&outcome)
            try pass(.tidied)
        }
        if isEnabling, isTaken {
            try sidecar.write { try $0.set("phase", SidecarAccess.Phase.on.rawValue) }
        }
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
        return member.snapshot
    }

    /// Captures what was edited since the last look; if nobody has written since, no page is read.
    func capture(seeds: Bool) throws {
        let look = try store.look()
        let last = try sidecar.read { try $0.text("look") }
        if !seeds, options.rejoining == nil, let look, look == last { return }
        // What a person said is about what was there then, and not about what comes meanwhile.
        try withSnapshot(seeds: seeds, rejoining: options.rejoining) { _, _, _ in }
        try sidecar.write { try $0.set("look", look) }
    }

    /// Captures, and goes on within the same transaction of the store.
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
                let id = Array(schema.digest.bytes.prefix(16))
                let change = try access.takeSchema(id, tables)
                var clock = try access.clock
                let reading = clock.tick(now: now, modified: modified)
                let outgoing = Outgoing(
                    access,
                    outbox: sidecar.outbox,
                    clock: reading,
                    wall: now,
                    program: options.program
                )
                var captureOptions = meaning.options(seeds: seeds)
                captureOptions.partRows = options.mostRows / 2
                captureOptions.change = change
                if seeds { captureOptions.match = try access.match }
                var capture = Capture(
                    of: tables,
                    in: access,
                    stamp: Stamp(clock: reading, device: try access.own),
                    random: options.random(),
                    options: captureOptions,
                    outgoing: outgoing,
                    files: files
                )
                let isFirst = try seeds && access.isBlank
                try capture.run(snapshot)
                try outgoing.finish()
                // What was there first is shown as it is.
                if isFirst { try access.set("view", bytes: tables.viewSignature) }
                try meaning.check(capture.result, store)
                try version.keep(access)
                if outgoing.changes > 0 { try access.setClock(clock) }
            }
            return try body(snapshot, schema, tables)
        }
    }

    // MARK: - Recovery

    /// Finds out whether an interrupted write reached the store, and keeps it if so.
    ///
    /// The rows tell: those that are as they were to be count for it, those that are as they were against
    /// it. The application may have written since; the majority decides, and a tie means not written.
    private func recover() throws {
        let intents = try sidecar.read { try $0.intents() }
        guard !intents.isEmpty else { return }
        let snapshot = try snapshot()
        let isWritten = try withExtendedLifetime(snapshot) {
            try Evidence(intents, sidecar).isWritten(in: snapshot)
        }
        try sidecar.write { access in
            if isWritten {
                for intent in intents {
                    try access.settle(intent)
                    try access.clean(intent.id)
                }
            }
            // A wrong guess is an edit that the next capture must find.
            try access.forgetLooks()
            try access.dropIntents()
        }
    }
}
