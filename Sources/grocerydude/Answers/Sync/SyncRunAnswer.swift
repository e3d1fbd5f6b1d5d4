internal import Files
internal import Operations
internal import Sync
internal import SystemPackage

/// The results of an exchange for each store.
struct SyncRunAnswer: Answer, JSONConvertible {
    let stores: [StoreAnswer]
    private let isDryRun: Bool

    init(_ synced: [SyncedStore], isDryRun: Bool = false, _ invocation: Invocation) {
        self.isDryRun = isDryRun
        stores = synced.map { StoreAnswer(synced: $0, invocation: invocation) }
    }

    var json: JSONObject { ["messageType": "summary", "stores": stores, "dryRun": isDryRun] }

    func write(to console: Console) {
        let stores = stores.map(\.synced)
        let rows = stores.map {
            [$0.store, (isDryRun ? "would do: " : "") + $0.line(isDryRun: isDryRun)]
        }
        for line in Columns(rows: rows).lines { console.done(line) }
        for store in stores {
            guard let yielded = store.yielded else { continue }
            console.message("'\(store.store)' as it was is kept in '\(printable(yielded))'")
        }
    }

    struct StoreAnswer: JSONConvertible {
        let synced: SyncedStore
        let invocation: Invocation

        var json: JSONObject {
            let (overview, outcome) = (synced.overview, synced.outcome ?? ExchangeOutcome())
            let sent: JSONObject = [
                "changes": outcome.sentChanges, "files": outcome.sentFiles,
                "bytes": outcome.sentBytes,
            ]
            let taken: JSONObject = [
                "changes": outcome.takenChanges, "files": outcome.takenFiles,
                "bytes": outcome.takenBytes, "devices": synced.takenFrom,
            ]
            let written: JSONObject = [
                "inserted": outcome.inserted, "updated": outcome.updated,
                "deleted": outcome.deleted,
            ]
            return [
                "store": synced.store, "group": overview.group, "state": synced.state.rawValue,
                "decision": overview.decision, "sent": sent, "taken": taken, "written": written,
                "held": overview.held, "conflicts": overview.conflicts,
                "waiting": overview.waiting.map { $0.json(invocation) },
                "yielded": synced.yielded.map { printable($0) },
                "error": synced.error.map(explain),
            ]
        }
    }
}

extension SyncOverview.Waiting {
    /// Returns a file of the container that cannot be read yet, in JSON.
    func json(_ invocation: Invocation) -> JSONObject {
        ["file": file, "since": invocation.local(since), "reason": reason]
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
