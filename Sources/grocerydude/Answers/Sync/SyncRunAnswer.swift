internal import Files
internal import Operations
internal import Sync
internal import SystemPackage

/// The results of an exchange for each store.
struct SyncRunAnswer: Answer {
    var messageType = "summary"
    var stores: [StoreAnswer]
    var dryRun: Bool

    init(_ synced: [SyncedStore], isDryRun: Bool = false, _ invocation: Invocation) {
        dryRun = isDryRun
        stores = synced.map { StoreAnswer($0, isDryRun: isDryRun, invocation) }
    }

    func write(to console: Console) {
        let rows = stores.map { [$0.store, (dryRun ? "would do: " : "") + $0.line] }
        for line in Columns(rows: rows).lines { console.done(line) }
        for store in stores {
            guard let yielded = store.yielded else { continue }
            console.message("'\(store.store)' as it was is kept in '\(yielded)'")
        }
    }

    struct StoreAnswer: Encodable {
        var store: String
        var group: String?
        var state: String
        var decision: String?
        var sent: Sent
        var taken: Taken
        var written: Written
        var held: Int64
        var conflicts: Int64
        var waiting: [WaitingAnswer]
        /// The copy of the store from before it yielded to the container.
        var yielded: String?
        /// The message of its error.
        var error: String?
        fileprivate let line: String

        private enum CodingKeys: CodingKey {
            case store, group, state, decision, sent, taken, written, held, conflicts, waiting,
                yielded, error
        }

        init(_ synced: SyncedStore, isDryRun: Bool, _ invocation: Invocation) {
            let (overview, outcome) = (synced.overview, synced.outcome ?? ExchangeOutcome())
            store = synced.store
            group = overview.group
            state = synced.state.rawValue
            decision = overview.decision
            sent = Sent(
                changes: outcome.sentChanges,
                files: outcome.sentFiles,
                bytes: outcome.sentBytes
            )
            taken = Taken(
                changes: outcome.takenChanges,
                files: outcome.takenFiles,
                bytes: outcome.takenBytes,
                devices: synced.takenFrom
            )
            written = Written(
                inserted: outcome.inserted,
                updated: outcome.updated,
                deleted: outcome.deleted
            )
            held = overview.held
            conflicts = overview.conflicts
            waiting = overview.waiting.map { WaitingAnswer($0, invocation) }
            yielded = synced.yielded.map { printable($0) }
            error = synced.error.map(explain)
            line = synced.line(isDryRun: isDryRun)
        }
    }

    struct Sent: Encodable {
        var changes: Int64
        var files: Int
        var bytes: Int64
    }

    struct Taken: Encodable {
        var changes: Int64
        var files: Int
        var bytes: Int64
        var devices: [String]
    }

    struct Written: Encodable {
        var inserted: Int
        var updated: Int
        var deleted: Int
    }
}

/// A file of the container that cannot be read yet.
struct WaitingAnswer: Encodable {
    var file: String
    var since: LocalTime
    var reason: String

    init(_ waiting: SyncOverview.Waiting, _ invocation: Invocation) {
        file = waiting.file
        since = invocation.local(waiting.since)
        reason = waiting.reason
    }
}

extension SyncedStore {
    /// Returns the results of the exchange as a line for people.
    fileprivate func line(isDryRun: Bool) -> String {
        guard let outcome else { return overview.decision == nil ? "failed" : "needs a decision" }
        guard outcome.hasContainer else {
            return overview.localOnly
        }
        var parts: [String] = []
        if outcome.sentChanges > 0 {
            parts.append("sent \(counted(Int(outcome.sentChanges), "change", "changes"))")
        }
        if outcome.takenChanges > 0 {
            let names = takenFrom.map { "'\($0)'" }.joined(separator: ", ")
            parts.append(
                "took \(outcome.takenChanges)" + (names.isEmpty ? "" : " of \(names)")
                    + (written.isEmpty ? "" : ": \(written)")
            )
        } else if !written.isEmpty {
            parts.append(written)
        }
        if outcome.trouble != nil { parts.append("cut off") }
        // A dry run writes nothing, and the error covers postponed rows.
        let behind = overview.behind(isOfFilesAlone: isDryRun || outcome.isPutOff)
        let nothing = behind == nil ? "in step, nothing new" : "nothing new"
        var text = parts.isEmpty ? nothing : parts.joined(separator: ", ")
        if outcome.isPutOff {
            text += "; \(counted(Int(overview.unwritten), "row waits", "rows wait"))"
        }
        if newConflicts > 0 {
            text += "; \(counted(Int(newConflicts), "conflict", "conflicts"))"
        }
        if newHeld > 0 {
            text += "; \(counted(Int(newHeld), "row", "rows")) not shown here"
        }
        if let behind { text += "; \(behind)" }
        return text
    }

    private var written: String {
        guard let outcome else { return "" }
        let counts = [
            (outcome.inserted, "added"), (outcome.updated, "changed"),
            (outcome.deleted - outcome.hidden, "removed"),
        ].filter { $0.0 > 0 }
        guard let first = counts.first else { return "" }
        let rest = counts.dropFirst().map { ", \($0) \($1)" }.joined()
        return "\(counted(first.0, "row", "rows")) \(first.1)\(rest)"
    }
}
