internal import Files
internal import Foundation
internal import Operations
internal import Sync

/// The state of the stores that take part in sync.
struct SyncStatusAnswer: Answer, JSONConvertible {
    let stores: [SyncStatus]
    let invocation: Invocation

    var json: JSONObject { ["messageType": "summary", "stores": stores.map(json)] }

    func write(to console: Console) {
        for store in stores {
            let leftOut = store.preview?.leftOut ?? []
            console.answer(
                lines: store.overview.lines(of: store, invocation)
                    + leftOut.map { "  left out: \($0)" }
            )
        }
    }

    private func json(_ outcome: SyncStatus) -> JSONObject {
        let overview = outcome.overview
        let outbox: JSONObject = [
            "changes": overview.unsentChanges, "files": overview.unsentFiles,
            "bytes": overview.unsentBytes,
        ]
        let known: JSONObject = ["files": overview.knownFiles, "bytes": overview.knownBytes]
        return [
            "store": outcome.store, "group": overview.group, "container": overview.container,
            "device": overview.device, "state": outcome.state.rawValue,
            "changed": overview.hasChanged, "decision": overview.decision,
            "lastExchange": overview.lastExchange.map(invocation.local), "outbox": outbox,
            "unwritten": overview.unwritten, "held": overview.held,
            "conflicts": overview.conflicts, "tombstones": overview.tombstones,
            "containerFiles": known, "waiting": overview.waiting.map { $0.json(invocation) },
            "devices": overview.devices.map { $0.json(invocation) },
            "tables": tables(overview, outcome.preview),
            "files": overview.fileTroubles.isEmpty ? nil : overview.fileTroubles,
        ]
    }

    private func tables(_ overview: SyncOverview, _ preview: SyncPreview?) -> [JSONObject] {
        let known = overview.tables.map { table -> JSONObject in
            let found = preview?.tables.first { $0.name.lowercased() == table.name }
            return [
                "name": table.name, "identity": found?.identity.rawValue, "rows": table.rows,
                "held": table.held, "nameless": table.nameless,
            ]
        }
        let leftOut = (preview?.leftOut ?? []).filter(\.isOfTable).map { part -> JSONObject in
            [
                "name": part.table, "rows": 0, "held": 0, "nameless": 0,
                "leftOut": part.description,
            ]
        }
        return known + leftOut
    }
}

extension SyncOverview.Device {
    /// Returns the time in seconds by which its clock is ahead of this machine's.
    private func clockAhead(_ now: Date) -> Int64 {
        // The clock of changes follows that of any other device, and so proves nothing by itself.
        max(0, Int64(min(clock, heard ?? clock).timeIntervalSince(now)))
    }

    fileprivate func json(_ invocation: Invocation) -> JSONObject {
        [
            "id": id, "name": name, "heard": heard.map(invocation.local), "hasAll": hasAll,
            "forgotten": isForgotten, "clockAhead": clockAhead(invocation.now),
        ]
    }

    fileprivate func cells(_ invocation: Invocation) -> [String] {
        // Its card may say what it has before a change of it has come.
        var text = hasAll ? "has sent nothing yet" : "not heard yet"
        if let heard {
            text = "heard \(invocation.local(heard))"
            let days = Int(invocation.now.timeIntervalSince(heard) / 86_400)
            if days > 0 { text += ", not for \(counted(days, "day", "days"))" }
        }
        if hasAll { text += ", has everything" }
        let ahead = clockAhead(invocation.now)
        if ahead > 86_400 {
            text += ", its clock is \(counted(Int(ahead / 86_400), "day", "days")) ahead"
        }
        if isForgotten { text += ", forgotten" }
        return ["  \(title)", text]
    }
}

extension SyncOverview {
    /// The maximum number of waiting rows that are printed one by one.
    private static var mostWaiting: Int { 10 }

    /// Returns lines about the store's state, its devices and other remarks.
    fileprivate func lines(
        of outcome: SyncStatus,
        _ invocation: Invocation
    ) -> [String] {
        let last = lastExchange.map { "last exchange \(invocation.local($0))" } ?? "never exchanged"
        let state = summary(outcome.state)
        var lines = ["\(outcome.store)  \(state), \(last)"]
        lines += Columns(rows: devices.map { $0.cells(invocation) }).lines
        lines += waiting.map { "  waiting for '\($0.file)': \($0.reason)" }
        lines += fileTroubles.map { "  \($0)" }
        lines += waitingRows.prefix(Self.mostWaiting).map { row in
            "  waiting: \(row.table)\(row.title.map { " '\($0)'" } ?? ""): \(row.reason)"
        }
        if waitingRows.count > Self.mostWaiting {
            let more = waitingRows.count - Self.mostWaiting
            lines.append("  and \(more) more: see 'grocerydude sync conflicts'")
        }
        if held > 0 {
            let rows = counted(Int(held), "row is", "rows are")
            lines.append("  \(rows) not shown here: see 'grocerydude sync conflicts'")
        }
        if conflicts > 0 {
            let edits = counted(Int(conflicts), "edit", "edits")
            lines.append("  \(edits) lost: see 'grocerydude sync conflicts'")
        }
        for table in tables where table.nameless > 0 {
            let rows = counted(Int(table.nameless), "row", "rows")
            let verb = table.nameless == 1 ? "does" : "do"
            lines.append("  \(rows) of '\(table.name)' \(verb) not sync: the key is NULL")
        }
        if tombstones > tables.reduce(0, { $0 + $1.rows }) {
            lines.append("  more rows were deleted than are there: a new group would be smaller")
        }
        return lines
    }

    /// The text for a store without its container.
    var localOnly: String {
        if unsentChanges > 0 {
            return "local only, \(counted(Int(unsentChanges), "change waits", "changes wait"))"
        }
        let files = counted(unsentFiles, "file waits", "files wait")
        return "local only, \(unsentFiles == 0 ? "nothing waits" : files)"
    }

    private func summary(_ state: StoreState) -> String {
        switch state {
        case .gone: return "its file is gone"
        case .damaged: return "its file is damaged"
        case .failed: return "its file cannot be read"
        case .inStep:
            if hasChanged { return "changed since the last exchange: run 'grocerydude sync'" }
            let count = devices.filter { !$0.isForgotten }.count
            return "in step with \(counted(count, "device", "devices"))"
        case .localOnly: return localOnly
        case .needsDecision: return "needs a decision: \(decisionText ?? decision ?? "")"
        case .behind:
            return behind(isOfFilesAlone: false) ?? "behind, its first exchange is not finished"
        case .off: return "not exchanged: 'sync.enabled' is false"
        }
    }

    /// Returns the changes that are not exchanged yet.
    ///
    /// - Parameter isOfFilesAlone: whether to count only files that cannot be read.
    /// - Returns: `nil` if there are none.
    func behind(isOfFilesAlone: Bool) -> String? {
        let counts = [
            (isOfFilesAlone ? 0 : Int(unsentChanges), "change", "changes", "sent"),
            // Files without changes have long values.
            (isOfFilesAlone || unsentChanges > 0 ? 0 : unsentFiles, "file", "files", "sent"),
            (isOfFilesAlone ? 0 : Int(unwritten), "row", "rows", "written"),
            (waiting.count + untaken, "file", "files", "read"),
            (damaged, "own file", "own files", "whole in the container"),
        ].filter { $0.0 > 0 }
        if counts.isEmpty { return nil }
        return "behind, "
            + counts.map { "\(counted($0.0, $0.1, $0.2)) not \($0.3)" }.joined(separator: ", ")
    }
}
