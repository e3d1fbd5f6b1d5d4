internal import Backups
internal import Files
internal import Operations

/// The bytes that backups take, and those of one more year.
struct GrowthAnswer: Answer, JSONConvertible {
    let growth: FolderGrowth
    let invocation: Invocation

    var json: JSONObject {
        func json(_ sum: FolderGrowth.Sum, month: String? = nil) -> JSONObject {
            ["month": month, "backups": sum.backups, "bytes": sum.bytes]
        }
        let trends = growth.trends.map { trend -> JSONObject in
            [
                "store": trend.store, "table": trend.table.map { printable(bytes: $0.utf8) },
                "newest": trend.newest, "oldest": trend.oldest,
                "since": invocation.local(trend.since),
            ]
        }
        let year = growth.year.map { year -> JSONObject in
            [
                "bytes": year.bytes, "basis": year.basis.rawValue, "perDay": year.perDay,
                "since": invocation.local(year.since), "backups": year.backups,
            ]
        }
        return [
            "full": json(growth.full), "increments": json(growth.increments),
            "months": growth.months.map { json($0.sum, month: $0.name) },
            "older": json(growth.older),
            "largest": growth.largest.map { ["name": $0.name, "size": $0.size] as JSONObject },
            "trends": trends, "year": year,
        ]
    }

    func write(to console: Console) {
        func text(_ sum: FolderGrowth.Sum) -> String { "\(sum.backups), \(byteCount(sum.bytes))" }
        let sums = [["full", text(growth.full)], ["increments", text(growth.increments)]]
        let trends = growth.trends.map(cells)
        let blocks: [Columns?] = [
            Columns(rows: sums + yearRows),
            table(["MONTH", "BACKUPS", "SIZE"], monthRows, right: [1, 2]),
            table(["NOW", "CHANGE", "SINCE", "STORE, TABLE"], trends, right: [0, 1]),
            table(
                ["SIZE", "LARGEST BACKUPS"],
                growth.largest.map { [byteCount($0.size), BackupName.display($0.name)] },
                right: [0]
            ),
        ]
        let lines = blocks.compactMap(\.self).map(\.lines).filter { !$0.isEmpty }
        console.answer(lines: Array(lines.joined(separator: [""])))
    }

    /// Returns the amount, the change, the day since which it changed, and the name.
    private func cells(_ trend: FolderGrowth.Trend) -> [String] {
        let (newest, change) = (trend.newest, trend.newest - trend.oldest)
        let size = change.magnitude > UInt64(Int64.max) ? .max : Int64(change.magnitude)
        let isOfRows = trend.table != nil
        let amount =
            isOfRows ? "\(grouped(newest)) \(newest == 1 ? "row" : "rows")" : byteCount(newest)
        let difference = "\(change < 0 ? "-" : "+")\(isOfRows ? grouped(size) : byteCount(size))"
        let name =
            trend.table.map { "\(trend.store): \(printable(bytes: $0.utf8))" } ?? trend.store
        return [amount, difference, invocation.local(trend.since).day, name]
    }

    /// Returns a table; `nil` if it has no rows.
    private func table(_ header: [String], _ rows: [[String]], right: Set<Int>) -> Columns? {
        rows.isEmpty ? nil : Columns(rows: [header] + rows, right: right)
    }

    private var monthRows: [[String]] {
        let rows = growth.months.map { [$0.name, "\($0.sum.backups)", byteCount($0.sum.bytes)] }
        let older = growth.older
        return older.backups == 0
            ? rows : rows + [["older", "\(older.backups)", byteCount(older.bytes)]]
    }

    /// The estimate of a year, and its basis.
    private var yearRows: [[String]] {
        guard let year = growth.year else {
            return [["in a year", "not known before there are backups a day apart"]]
        }
        let isLess = year.bytes < 0
        let amount = byteCount(isLess ? -year.bytes : year.bytes)
        let daily = "\(year.perDay < 0 ? "-" : "")\(byteCount(abs(year.perDay))) a day"
        let kept = counted(year.backups, "full backup", "full backups")
        let basis =
            year.basis == .written
            ? "\(counted(year.backups, "backup", "backups")), \(daily), and none pruned"
            : "\(kept) stay, \(daily) each"
        return [
            ["in a year", "about \(amount) \(isLess ? "less" : "more"), if it goes on"],
            ["", "as since \(invocation.local(year.since).day): \(basis)"],
        ]
    }
}
