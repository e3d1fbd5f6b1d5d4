internal import Files
internal import Foundation
internal import Operations
internal import Sync

/// The state of the stores that take part in sync.
struct SyncStatusAnswer: Answer {
    var messageType = "summary"
    var stores: [StoreAnswer]

    init(_ stores: [ShowSync.Outcome], _ invocation: Invocation) {
        self.stores = stores.map { StoreAnswer($0, invocation) }
    }

    func write(to console: Console) {
        for store in stores { console.answer(lines: store.lines) }
    }

    struct StoreAnswer: Encodable {
        var store: String
        var group: String?
        var container: String?
        var device: String?
        var state: String
        /// Whether the store has changed since the last exchange.
        var changed: Bool
        var decision: String?
        var lastExchange: LocalTime?
        var outbox: Outbox
        var unwritten: Int64
        var held: Int64
        var conflicts: Int64
        var tombstones: Int64
        var containerFiles: Known
        var waiting: [WaitingAnswer]
        var devices: [Device]
        var tables: [Table]
        /// The reasons for which files that rows name do not travel; `nil` if there are none.
        var files: [String]?
        fileprivate var lines: [String] = []

        private enum CodingKeys: CodingKey {
            case store, group, container, device, state, changed, decision, lastExchange, outbox
            case unwritten, held, conflicts, tombstones, containerFiles, waiting, devices, tables,
                files
        }

        init(_ outcome: ShowSync.Outcome, _ invocation: Invocation) {
            let overview = outcome.overview
            store = outcome.store
            group = overview.group
            container = overview.container
            device = overview.device
            state = outcome.state.rawValue
            changed = overview.hasChanged
            decision = overview.decision
            lastExchange = overview.lastExchange.map(invocation.local)
            outbox = Outbox(
                changes: overview.unsentChanges,
                files: overview.unsentFiles,
                bytes: overview.unsentBytes
            )
            unwritten = overview.unwritten
            held = overview.held
            conflicts = overview.conflicts
            tombstones = overview.tombstones
            containerFiles = Known(files: overview.knownFiles, bytes: overview.knownBytes)
            waiting = overview.waiting.map { WaitingAnswer($0, invocation) }
            devices = overview.devices.map { Device($0, invocation) }
            tables = Table.tables(overview, outcome.preview)
            files = overview.fileTroubles.isEmpty ? nil : overview.fileTroubles
            lines = overview.lines(of: outcome, devices, invocation)
            lines += (outcome.preview?.leftOut ?? []).map { "  left out: \($0)" }
        }
    }

    struct Outbox: Encodable {
        var changes: Int64
        var files: Int
        var bytes: Int64
    }

    /// The known files of the container.
    struct Known: Encodable {
        var files: Int
        var bytes: Int64
    }

    struct Device: Encodable {
        var id: String
        var name: String?
        var heard: LocalTime?
        var hasAll: Bool
        var forgotten: Bool
        /// The time in seconds by which its clock is ahead of this machine's.
        var clockAhead: Int64
        fileprivate let cells: [String]

        private enum CodingKeys: CodingKey {
            case id, name, heard, hasAll, forgotten, clockAhead
        }

        init(_ device: SyncOverview.Device, _ invocation: Invocation) {
            id = device.id
            name = device.name
            heard = device.heard.map(invocation.local)
            hasAll = device.hasAll
            forgotten = device.isForgotten
            // The clock of changes follows that of any other device, and so proves nothing by itself.
            let clock = min(device.clock, device.heard ?? device.clock)
            clockAhead = max(0, Int64(clock.timeIntervalSince(invocation.now)))
            // Its card may say what it has before a change of it has come.
            let unheard = hasAll ? "has sent nothing yet" : "not heard yet"
            var text = heard.map { "heard \($0)" } ?? unheard
            if let heard = device.heard {
                let days = Int(invocation.now.timeIntervalSince(heard) / 86_400)
                if days > 0 { text += ", not for \(counted(days, "day", "days"))" }
            }
            if hasAll { text += ", has everything" }
            if clockAhead > 86_400 {
                text += ", its clock is \(counted(Int(clockAhead / 86_400), "day", "days")) ahead"
            }
            if forgotten { text += ", forgotten" }
            cells = ["  \(device.title)", text]
        }
    }

    struct Table: Encodable {
        var name: String
        /// The way in which all devices identify its rows; `nil` if the store has no such table or cannot be read.
        var identity: String?
        var rows: Int64
        var held: Int64
        /// The number of rows that do not sync, since their key is NULL.
        var nameless: Int64 = 0
        /// The reason why it does not sync.
        var leftOut: String?

        static func tables(_ overview: SyncOverview, _ preview: SyncPreview?) -> [Table] {
            let known = overview.tables.map { table in
                let found = preview?.tables.first { $0.name.lowercased() == table.name }
                return Table(
                    name: table.name,
                    identity: found?.identity.rawValue,
                    rows: table.rows,
                    held: table.held,
                    nameless: table.nameless
                )
            }
            let leftOut = (preview?.leftOut ?? []).filter(\.isOfTable).map {
                Table(name: $0.table, rows: 0, held: 0, leftOut: $0.description)
            }
            return known + leftOut
        }
    }
}

extension SyncOverview {
    /// The maximum number of waiting rows that are printed one by one.
    private static var mostWaiting: Int { 10 }

    /// Returns lines about the store's state, its devices and other remarks.
    fileprivate func lines(
        of outcome: ShowSync.Outcome,
        _ devices: [SyncStatusAnswer.Device],
        _ invocation: Invocation
    ) -> [String] {
        let last = lastExchange.map { "last exchange \(invocation.local($0))" } ?? "never exchanged"
        let state = summary(outcome.state)
        var lines = ["\(outcome.store)  \(state), \(last)"]
        lines += Columns(rows: devices.map(\.cells)).lines
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
        let count = Int(unsentChanges)
        let waiting = count == 0 ? "nothing waits" : counted(count, "change waits", "changes wait")
        return "local only, \(waiting)"
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
            (isOfFilesAlone ? 0 : Int(unwritten), "row", "rows", "written"),
            (waiting.count + untaken, "file", "files", "read"),
            (damaged, "own file", "own files", "whole in the container"),
        ].filter { $0.0 > 0 }
        if counts.isEmpty { return nil }
        return "behind, "
            + counts.map { "\(counted($0.0, $0.1, $0.2)) not \($0.3)" }.joined(separator: ", ")
    }
}
