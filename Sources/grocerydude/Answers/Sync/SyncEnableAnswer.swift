internal import Files
internal import Operations
internal import Sync

/// A store that takes part now, or would.
struct SyncEnableAnswer: Answer {
    var messageType = "summary"
    var store: String
    var group: String
    var container: String
    var device: String
    /// Whether it begins the group, and joins none.
    var begins: Bool
    var devices: [String]
    var tables: [Table]
    var leftOut: [LeftOutTable]
    /// The copy of the store from before.
    var before: String?
    var dryRun: Bool
    /// The first exchange.
    var exchange: SyncRunAnswer.StoreAnswer?
    private let plan: EnableSync.Plan
    private let first: SyncRunAnswer?

    private enum CodingKeys: CodingKey {
        case messageType, store, group, container, device, begins, devices, tables, leftOut, before
        case dryRun, exchange
    }

    struct Table: Encodable {
        var name: String
        var identity: String
        var columns: [String]
        var rows: Int64?
    }

    struct LeftOutTable: Encodable {
        var table: String
        var reason: String
    }

    init(_ outcome: EnableSync.Outcome, isDryRun: Bool, _ invocation: Invocation) {
        plan = outcome.plan
        store = plan.store
        group = plan.group
        container = plan.container
        device = plan.device
        begins = plan.look.begins
        devices = plan.look.devices
        tables = plan.preview.tables.map {
            Table(name: $0.name, identity: $0.identity.rawValue, columns: $0.columns, rows: $0.rows)
        }
        leftOut = plan.preview.leftOut.map {
            LeftOutTable(table: $0.table, reason: $0.description)
        }
        before = outcome.before.map { printable($0) }
        dryRun = isDryRun
        first = outcome.synced.map { SyncRunAnswer([$0], invocation) }
        exchange = first?.stores.first
    }

    func write(to console: Console) {
        guard !dryRun else {
            console.answer(lines: ["would do: \(plan.headline)"] + plan.lines)
            return
        }
        first?.write(to: console)
        if let before { console.message("the store as it was is kept in '\(before)'") }
    }
}

extension Console {
    /// Shows a person what is to be agreed to.
    func show(_ plan: EnableSync.Plan) {
        for line in [plan.headline] + plan.lines { message(line) }
    }
}

extension EnableSync.Plan {
    fileprivate var headline: String {
        if look.begins { return "'\(store)' begins '\(group)' in '\(container)'" }
        let names = look.devices.isEmpty ? "" : " with \(look.devices.joined(separator: ", "))"
        return "'\(store)' joins '\(group)'\(names) in '\(container)'"
    }

    fileprivate var lines: [String] {
        let rows = preview.tables.map { table in
            let columns = table.columns.map { "'\($0)'" }.joined(separator: ", ")
            let how = columns.isEmpty ? "their content" : columns
            let count = table.rows.map { counted(Int($0), "row", "rows") } ?? "rows"
            return ["  \(table.name)", "\(count)", "known by \(how)"]
        }
        return Columns(rows: rows, right: [1]).lines
            + preview.leftOut.map { "  left out: \($0)" }
    }
}
