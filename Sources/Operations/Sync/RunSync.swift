internal import Changes
internal import Files
public import Foundation
public import Stores
public import Sync
internal import Synchronization
internal import SystemPackage

/// Exchanges stores with their groups; a failure of one store does not affect the others.
///
/// It locks a store's sidecar first, and the stores directory only during a write. So a backup, a restore and a sync
/// wait for each other without a deadlock.
public struct RunSync: Sendable {
    public struct Options: Sendable {
        /// The start time of the run.
        public var date: Date
        /// The program and its version, as files record it.
        public var program: String
        /// The container address in the settings; `nil` for the address that each store has recorded.
        public var container: String?
        /// Whether a change may delete most rows of a table, here or elsewhere.
        public var acceptsChanges = false
        /// The meaning of the local data after an accident; `nil` asks.
        public var rejoining: Rejoining?
        /// Whether to fill the container with everything that this machine knows.
        public var refills = false
        /// Whether to only report what would be done.
        public var isDryRun = false
        /// Whether to write to a store that an application has open.
        ///
        /// `nil` allows it except for Core Data stores, because Core Data keeps rows in memory and writes whole rows.
        public var writesWhileOpen: Bool?
        /// The user's commands before and after others' changes are written.
        public var commands = ImportCommands()

        public init(date: Date, program: String) {
            self.date = date
            self.program = program
        }
    }

    private let places: SyncPlaces
    private let options: Options
    private var context: OperationContext { places.context }

    /// - Parameters:
    ///   - places: the stores.
    ///   - options: the options of the exchange.
    public init(in places: SyncPlaces, options: Options) {
        self.places = places
        self.options = options
    }

    /// Exchanges enabled stores, one after the other.
    ///
    /// - Returns: the result for each store, including its error.
    /// - Throws: `CancellationError`.
    public func run(_ stores: [Store]) async throws -> [SyncedStore] {
        // Otherwise only a run that creates a scratch directory removes them, and most runs create none.
        ScratchDirectory.removeAbandoned(in: context.scratch)
        var results: [SyncedStore] = []
        for store in stores { results.append(try await run(store)) }
        return results
    }

    private func run(_ store: Store) async throws -> SyncedStore {
        var result = SyncedStore(store: store.path.description)
        do {
            try await places.withSidecar(of: store) { sidecar in
                let overview = try SyncOverview(of: sidecar)
                if let trouble = places.trouble(with: store, in: overview.group) {
                    result.overview = overview
                    throw trouble
                }
                guard options.isDryRun else {
                    result = try await exchange(store, sidecar)
                    return
                }
                let scratch = try ScratchDirectory(in: context.scratch)
                let copy = try sidecar.copy(to: scratch.path.appending("sync"))
                defer { try? copy.close() }
                result = try await exchange(store, copy)
                withExtendedLifetime(scratch) {}
            }
        } catch  where !(error is CancellationError) {
            result.error = error
        }
        return result
    }

    /// Exchanges a store whose sidecar is locked.
    ///
    /// - Throws: `CancellationError`, `SidecarError`.
    func exchange(_ store: Store, _ sidecar: Sidecar) async throws -> SyncedStore {
        var result = SyncedStore(store: store.path.description)
        let before = try SyncOverview(of: sidecar)
        guard let group = before.group, let group = GroupName(group) else {
            result.error = SyncError.notEnabled(result.store)
            return result
        }
        try sidecar.note(store: store.location)
        let kept = KeptCopy()
        var decision: SyncDecision?
        let writing = StoreReservation(store, options.writesWhileOpen, context)
        do {
            var exchange = exchangeOptions(of: store)
            exchange.kept = { kept.path = $0 }
            exchange.reserve = { try await writing.make() }
            let address = options.container ?? before.container ?? ""
            let acceptance = Acceptance(
                store: store,
                sidecar: sidecar,
                container: try places.container(of: group, at: address),
                date: options.date,
                context: context
            )
            result.outcome = try await acceptance.exchange(exchange, before, &decision)
        } catch let error as CancellationError {
            throw error
        } catch StoreError.damaged(let name, let reason) {
            result.error = SyncError.damagedStore(name, reason: reason)
        } catch {
            let refused = (error as? SyncRefusal).map { SyncDecision.refused($0.description) }
            (result.error, decision) = (error, error as? SyncDecision ?? decision ?? refused)
        }
        let isAway = result.outcome.map { !$0.hasContainer || $0.isCutOff } ?? before.isAway
        try sidecar.note(decision, isAway: isAway)
        result.overview = try SyncOverview(of: sidecar, store)
        result.newConflicts = result.overview.conflicts - before.conflicts
        result.newYielding = result.overview.yielding - before.yielding
        result.newHeld = result.overview.held - before.held
        result.yielded = kept.path
        let reason = writing.reason(rows: result.overview.unwritten)
        result.judge(putOffBy: reason, at: options.date)
        return result
    }

    private func exchangeOptions(of store: Store) -> StoreExchange.Options {
        var exchange = StoreExchange.Options(scratch: context.scratch, program: options.program)
        exchange.acceptsChanges = options.acceptsChanges
        exchange.rejoining = options.rejoining
        exchange.refills = options.refills
        exchange.isDryRun = options.isDryRun
        exchange.check = context.checkCancellation
        let (commands, context) = (options.commands, context)
        exchange.willWrite = { try await commands.runBefore($0, store, context) }
        exchange.didWrite = { try await commands.runAfter($0, store, context) }
        return exchange
    }
}

/// The copy that an exchange kept of a store, available even if the exchange failed later.
private final class KeptCopy: Sendable {
    private let kept = Mutex<FilePath?>(nil)

    var path: FilePath? {
        get { kept.withLock { $0 } }
        set { kept.withLock { $0 = newValue } }
    }
}
