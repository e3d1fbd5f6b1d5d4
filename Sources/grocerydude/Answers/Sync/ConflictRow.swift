internal import Files
internal import Operations
internal import Stores
internal import Sync

/// A lost edit, or a row that is not shown, or of which a change waits.
struct ConflictRow: AnswerRow, JSONConvertible {
    private let store: String
    /// The number of a lost edit.
    private let number: Int64?
    private let found: LocalTime?
    private let table: String
    private let row: String
    private let title: String?
    private let column: String?
    private let kind: String
    private var (won, lost, wonBy, lostBy): (String?, String?, String?, String?)
    /// The reason why a row is not shown, as a word and as text; the text also says what became of one that was not.
    private let (why, reason): (String?, String?)

    /// Creates the entry of a row that is not shown.
    init(_ unshown: UnshownRow, of store: Store) {
        (self.store, number, found) = (store.path.description, unshown.number, nil)
        (table, row, title) = (unshown.table, unshown.row, unshown.title)
        (column, kind) = (unshown.column, unshown.waits ? "waiting" : "held")
        (why, reason) = (unshown.why, unshown.reason)
    }

    init(
        _ conflict: SyncConflict,
        of store: Store,
        _ overview: SyncOverview,
        _ invocation: Invocation
    ) {
        (self.store, number) = (store.path.description, conflict.number)
        found = invocation.local(conflict.found)
        (table, row, title) = (conflict.table, conflict.row, conflict.title)
        (column, kind) = (conflict.column, conflict.kind)
        (won, lost) = (conflict.won, conflict.lost)
        wonBy = Self.name(conflict.wonBy, overview)
        lostBy = Self.name(conflict.lostBy, overview)
        (why, reason) = (nil, conflict.fate)
    }

    var json: JSONObject {
        [
            "store": store, "number": number, "found": found, "table": table, "row": row,
            "title": title, "column": column, "kind": kind, "won": won, "lost": lost,
            "wonBy": wonBy, "lostBy": lostBy, "why": why, "reason": reason,
        ]
    }

    /// Returns the name of a device; `nil` if the value is no edit of a device.
    private static func name(_ id: String, _ overview: SyncOverview) -> String? {
        if id.allSatisfy({ $0 == "0" }) { return nil }
        return id == overview.ownID ? overview.device : overview.title(of: id)
    }

    static func write(_ rows: [ConflictRow], to console: Console) {
        let several = Set(rows.map(\.store.exact)).count > 1
        let cells = rows.compactMap { row -> [String]? in
            guard row.why == nil, let number = row.number, let found = row.found else { return nil }
            let place = [row.table, row.column].compactMap(\.self).joined(separator: ".")
            return [
                "\(number)", "\(found)", place, row.title.map { "'\($0)'" } ?? "",
                row.sentence, several ? row.store : "",
            ]
        }
        console.answer(lines: Columns(rows: cells, right: [0]).lines)
        for (kind, title) in [("held", "not shown here:"), ("waiting", "waiting here:")] {
            let rows = rows.filter { $0.kind == kind }
            if !rows.isEmpty { console.answer(lines: [title] + Self.lines(rows, several)) }
        }
        if rows.isEmpty { console.message("no lost edits and no hidden rows are known") }
    }

    /// The maximum number of hidden rows that are printed one by one.
    private static let most = 100

    private static func lines(_ unshown: [ConflictRow], _ several: Bool) -> [String] {
        let cells = unshown.prefix(most).map { row in
            [
                "  \(row.number.map(String.init) ?? String(row.row.prefix(8)))",
                [row.table, row.column].compactMap(\.self).joined(separator: "."),
                row.title.map { "'\($0)'" } ?? "",
                row.reason ?? "", several ? row.store : "",
            ]
        }
        let more = unshown.count - cells.count
        return Columns(rows: cells).lines
            + (more > 0 ? ["  and \(more) more: see them with '--json'"] : [])
    }

    private var sentence: String {
        let lost = (lost.map { "'\(short($0))'" } ?? "an edit") + (lostBy.map { " of \($0)" } ?? "")
        let winner = wonBy.map { " of \($0)" } ?? ""
        if let reason { return reason }
        switch kind {
        case "deleted" where self.lost == nil: return "deleted" + (wonBy.map { " by \($0)" } ?? "")
        case "deleted": return "\(lost) lost to a delete\(winner)"
        case "renamed":
            return "the delete\(lostBy.map { " of \($0)" } ?? "") lost to another key\(winner)"
        case "yielded": return "waits until another row gives up the same unique value"
        case "hidden": return "not shown any more"
        case "emptied":
            return "its reference\(self.lost.map { " to '\(short($0))'" } ?? "") was emptied"
        case "edited" where column == nil: return "has another key now"
        case "inserted": return "\(lost) lost to a new row\(winner)"
        default: return "\(lost) lost to \(won.map { "'\(short($0))'" } ?? "an edit")\(winner)"
        }
    }

    private func short(_ text: String) -> String {
        text.count > 40 ? "\(text.prefix(39))…" : text
    }
}

/// A value of a row that is not shown any more.
struct LostValueRow: AnswerRow, JSONConvertible {
    let column: String
    let value: String

    var json: JSONObject { ["column": column, "value": value] }

    static func write(_ rows: [LostValueRow], to console: Console) {
        console.answer(lines: Columns(rows: rows.map { [$0.column, $0.value] }).lines)
    }
}
