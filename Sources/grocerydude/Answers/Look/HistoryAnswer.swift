internal import Backups
internal import Files
internal import Operations
internal import Stores

/// The history of a row, or at the end the number of found rows.
///
/// In JSON each is an object on its own line.
struct HistoryAnswer: Answer {
    private enum Content {
        case row(RowObject)
        case summary(Summary)
    }

    private let content: Content

    init(_ history: RowHistory, _ invocation: Invocation) {
        content = .row(RowObject(history, invocation))
    }

    init(_ outcome: FindRows.Outcome, limit: Int) {
        content = .summary(
            Summary(
                rows: outcome.rows.count,
                more: outcome.hasMore,
                backups: outcome.backups,
                problems: outcome.problems
            )
        )
    }

    func encode(to encoder: any Encoder) throws {
        switch content {
        case .row(let row): try row.encode(to: encoder)
        case .summary(let summary): try summary.encode(to: encoder)
        }
    }

    func write(to console: Console) {
        switch content {
        case .row(let row):
            let command = row.command.map { ["    \($0)"] } ?? []
            console.answer(lines: row.history.lines + command)
        case .summary(let summary):
            if summary.more {
                console.message(
                    "there are more rows than these \(summary.rows): for more of them add '--limit'"
                )
            } else if summary.rows == 0, summary.problems.isEmpty {
                console.message("no row matches")
            }
            if summary.rows > 0 { console.message(RowHistory.lifeKey) }
        }
    }
}

private struct RowObject: Encodable {
    struct Event: Encodable {
        /// The kind of event: `first`, `changed`, `gone`, `back` or `unknown`.
        var change: String
        /// The first state with this content: a backup's file name, or `live`.
        var state: String
        var time: LocalTime?
        /// The last state with this content, for a row whose fate is unknown.
        var until: String?
        var reason: String?
        var cells: [CellObject]
    }

    var messageType = "row"
    var store: String
    var table: String
    var entity: String?
    var key: [KeyObject]
    /// The first and the last state with the row: a backup's file name, or `live`.
    var first: String
    var last: String
    /// The row's state in the newest known data: `there`, `gone` or `unknown`.
    var end: String
    /// The command that brings the row back as it was before it was lost or changed.
    var command: String?
    var events: [Event]

    let history: RowHistory

    private enum CodingKeys: String, CodingKey {
        case messageType, store, table, entity, key, first, last, end, command, events
    }

    init(_ history: RowHistory, _ invocation: Invocation) {
        self.history = history
        store = history.store
        table = history.table
        entity = history.entity
        let properties = history.properties
        key = history.key.map { KeyObject($0.column, $0.value, properties) }
        first = history.first.name
        last = history.last.name
        end =
            switch history.end {
            case .there: "there"
            case .gone: "gone"
            case .unknown: "unknown"
            }
        command = history.command(invocation)
        events = history.events.map { event in
            var object = Event(change: "", state: event.place.name, cells: [])
            if case .backup(let backup) = event.place {
                object.time = backup.time.map(invocation.local)
            }
            var cells: [RowChange.Cell] = []
            switch event.change {
            case .first(let values): (object.change, cells) = ("first", values)
            case .changed(let values): (object.change, cells) = ("changed", values)
            case .gone: object.change = "gone"
            case .back(let values): (object.change, cells) = ("back", values)
            case .unknown(let place, let reason):
                object.change = "unknown"
                object.until = place.name
                object.reason = reason
            }
            object.cells = cells.map { CellObject($0, properties) }
            return object
        }
    }
}

private struct Summary: Encodable {
    var messageType = "summary"
    var rows: Int
    /// Whether there are more rows than were printed.
    var more: Bool
    /// The number of searched backups.
    var backups: Int
    /// The backups that could not be read, or not completely.
    var problems: [Problem]
}

extension RowHistory.Place {
    /// The file name of a backup, or `live`.
    fileprivate var name: String {
        switch self {
        case .backup(let backup): backup.name
        case .live: LiveStores.name
        }
    }

    /// The display name of a backup, or `live`.
    fileprivate var title: String {
        switch self {
        case .backup(let backup): backup.displayName
        case .live: LiveStores.name
        }
    }
}

extension RowHistory.Event {
    fileprivate var isUnknown: Bool { if case .unknown = change { true } else { false } }
}

extension RowHistory {
    /// The history for people: the row, and its events below it.
    fileprivate var lines: [String] {
        let title = entity.map { "\($0) (\(table))" } ?? table
        let key = key.map { "\(name($0.column)) \($0.value.shown)" }.joined(separator: ", ")
        var rows: [(place: Place, text: String)] = []
        for (index, event) in events.enumerated() {
            // The event after a period without information, whatever the reasons.
            let next = events[index...].first { !$0.isUnknown }?.change ?? .gone
            // If the row vanished during such a period, the line before already says so.
            let isListed = index > 0 && events[index - 1].isUnknown
            let isLast = !isListed && (!event.isUnknown || next == .gone)
            if let last = event.last, rows.last?.place != last, isLast {
                rows.append((last, event.isUnknown ? "last known to be there" : "last there"))
            }
            rows.append((event.place, text(event)))
        }
        if end == .there, rows.last?.place != last { rows.append((last, "still there")) }
        let columns = Columns(rows: rows.map { ["    \($0.place.title)", $0.text] })
        return ["\(store)  \(title)  \(key)", "    \(lifeLine)"] + columns.lines
    }

    /// The maximum number of signs in a line of life.
    private static let lifeLimit = 60

    /// A sign for each state, oldest first; of many states each sign has the most notable of some.
    private var lifeLine: String {
        let count = min(life.count, Self.lifeLimit)
        return (0..<count).map { index in
            let states = life[(index * life.count / count)..<((index + 1) * life.count / count)]
            return (states.max { $0.weight < $1.weight } ?? .absent).sign.description
        }.joined()
    }

    /// The meaning of the signs.
    fileprivate static var lifeKey: String {
        let marks: [(Mark, String)] = [
            (.appeared, "is there"), (.same, "as before"), (.changed, "changed"), (.gone, "gone"),
        ]
        return "a sign for each backup, oldest first, and for the stores directory: "
            + marks.map { "\($0.sign) \($1)" }.joined(separator: ", ")
    }

    /// Returns the command that brings the row back as it was before it was lost or changed; `nil` if there is none.
    fileprivate func command(_ invocation: Invocation) -> String? {
        guard let source, let condition, source.distrust == nil || invocation.knowsNobody else {
            return nil
        }
        let options = [
            Advice.option("rows", table), Advice.option("where", condition),
            Advice.option("store", store),
        ]
        let conflict = end == .there ? ["--on-conflict replace"] : []
        let name = (source.name.hasPrefix("-") ? ["--"] : []) + [shellWord(source.name)]
        return (["grocerydude restore"] + options + conflict + invocation.placeOptions + name)
            .joined(separator: " ")
    }

    private func text(_ event: Event) -> String {
        switch event.change {
        case .first(let cells):
            let known = Set(key.map(\.column.exact))
            return "first: \(text(cells.filter { !known.contains($0.column.exact) }))"
        case .changed(let cells): return "changed: \(text(cells))"
        case .gone: return "gone"
        case .back(let cells):
            return cells.isEmpty ? "back, as it was" : "back, changed: \(text(cells))"
        case .unknown(let place, _):
            return place == event.place ? "not known" : "not known until \(place.title)"
        }
    }

    private func text(_ cells: [RowChange.Cell]) -> String {
        cells.map { cell in
            let values = [cell.old, cell.new].compactMap { $0?.shown }
            return "\(name(cell.column)) \(values.joined(separator: " → "))"
        }.joined(separator: ", ")
    }

    private func name(_ column: String) -> String { properties[column] ?? column }
}

extension RowHistory.Mark {
    /// The weight among several states that share a sign.
    fileprivate var weight: Int {
        switch self {
        case .absent: 0
        case .same: 1
        case .unknown: 2
        case .appeared: 3
        case .changed: 4
        case .gone: 5
        }
    }

    fileprivate var sign: Sign {
        switch self {
        case .absent: .nothing
        case .same: Sign("=")
        case .unknown: Sign("?")
        case .appeared: Sign("+")
        case .changed: Sign("~")
        case .gone: .failed
        }
    }
}
