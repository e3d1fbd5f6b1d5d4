/// The months of a prune's plan, a sign for each day: whether its backups stay or go.
struct PruneCalendar {
    /// The fates of the backups of a day, or of more.
    private struct Fates {
        var kept = 0
        var removed = 0

        mutating func add(isKept: Bool) {
            if isKept { kept += 1 } else { removed += 1 }
        }

        var sign: Sign {
            switch (kept, removed) {
            case (0, 0): .nothing
            case (_, 0): .done
            case (0, _): .failed
            default: .both
            }
        }

        var text: String {
            let parts = [(kept, "kept"), (removed, "to go")].filter { $0.0 > 0 }
            return parts.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        }
    }

    private struct Month {
        var name: String
        var days = [Fates](repeating: Fates(), count: 31)
        var sum = Fates()
    }

    /// The maximum number of months that are shown day by day, the newest ones with backups.
    private static let shownMonths = 24
    /// The numbers of days above their columns.
    private static let ruler = "1   5    10   15   20   25   30"

    /// The newest months, newest first.
    private let months: [Month]
    private let older: Fates

    init(keep: [LocalTime], remove: [LocalTime]) {
        let all = keep.map { ($0.day, true) } + remove.map { ($0.day, false) }
        var byMonth: [String: [(day: Int, isKept: Bool)]] = [:]
        for (date, isKept) in all {
            guard let day = Int(date.suffix(2)) else { continue }
            byMonth[String(date.prefix(7)), default: []].append((day, isKept))
        }
        let names = byMonth.keys.sorted(by: >)
        var older = Fates()
        for name in names.dropFirst(Self.shownMonths) {
            for (_, isKept) in byMonth[name] ?? [] { older.add(isKept: isKept) }
        }
        self.older = older
        months = names.prefix(Self.shownMonths).map { name in
            var month = Month(name: name)
            for (day, isKept) in byMonth[name] ?? [] where month.days.indices.contains(day - 1) {
                month.days[day - 1].add(isKept: isKept)
                month.sum.add(isKept: isKept)
            }
            return month
        }
    }

    /// A line for each month, and the meaning of the signs; none if there is no backup.
    var lines: [String] {
        guard !months.isEmpty else { return [] }
        var rows = [["", Self.ruler]]
        for month in months {
            rows.append([month.name, month.days.map(\.sign.description).joined(), month.sum.text])
        }
        if !older.text.isEmpty { rows.append(["older", "", older.text]) }
        let key = [(Sign.done, "kept"), (Sign.failed, "to go"), (Sign.both, "some of each")]
        rows.append(["", key.map { "\($0) \($1)" }.joined(separator: ", ")])
        return [""] + Columns(rows: rows).lines
    }
}
