internal import Backups
internal import Files
internal import Operations
internal import Stores

/// The history of a row, in JSON an object on its own line.
struct HistoryAnswer: Answer, JSONConvertible {
    let history: RowHistory
    let invocation: Invocation

    var json: JSONObject {
        let end =
            switch history.end {
            case .there: "there"
            case .gone: "gone"
            case .unknown: "unknown"
            }
        return [
            "messageType": "row", "store": history.store, "table": history.table,
            "entity": history.entity, "key": history.properties.json(history.key),
            "first": history.first.name, "last": history.last.name, "end": end,
            "command": history.command(invocation), "events": history.events.map(json),
        ]
    }

    private func json(_ event: RowHistory.Event) -> JSONObject {
        let (change, cells): (String, [RowChange.Cell]) =
            switch event.change {
            case .first(let values): ("first", values)
            case .changed(let values): ("changed", values)
            case .gone: ("gone", [])
            case .back(let values): ("back", values)
            case .unknown: ("unknown", [])
            }
        var (time, until, reason) = (LocalTime?.none, String?.none, String?.none)
        if case .backup(let backup) = event.place { time = backup.time.map(invocation.local) }
        if case .unknown(let place, let why) = event.change { (until, reason) = (place.name, why) }
        return [
            "change": change, "state": event.place.name, "time": time, "until": until,
            "reason": reason, "cells": history.properties.json(cells),
        ]
    }

    func write(to console: Console) {
        let command = history.command(invocation).map { ["    \($0)"] } ?? []
        console.answer(lines: history.lines + command)
    }
}

/// The last answer about rows that were found: their number.
struct HistorySummary: Answer, JSONConvertible {
    let outcome: FindRows.Outcome

    var json: JSONObject {
        [
            "messageType": "summary", "rows": outcome.rows.count, "more": outcome.hasMore,
            "backups": outcome.backups, "problems": outcome.problems,
        ]
    }

    func write(to console: Console) {
        let count = outcome.rows.count
        if outcome.hasMore {
            console.message(
                "there are more rows than these \(count): for more of them add '--limit'"
            )
        } else if count == 0, outcome.problems.isEmpty {
            console.message("no row matches")
        }
        if count > 0 { console.message(RowHistory.lifeKey) }
    }
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
