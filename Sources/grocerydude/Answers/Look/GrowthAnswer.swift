internal import Backups
internal import Files
internal import Operations

/// The bytes that backups take, and those of one more year.
struct GrowthAnswer: Answer {
    struct Sum: Encodable {
        var month: String?
        var backups: Int
        var bytes: Int64

        init(_ sum: FolderGrowth.Sum, month: String? = nil) {
            (self.month, backups, bytes) = (month, sum.backups, sum.bytes)
        }

        var text: String { "\(backups), \(byteCount(bytes))" }
    }

    struct Trend: Encodable {
        var store: String
        var table: String?
        /// The bytes of a store, or the rows of a table.
        var newest: Int64
        var oldest: Int64
        var since: LocalTime

        /// The amount, the change, the day since which it changed, and the name.
        var cells: [String] {
            let (change, isOfRows) = (newest - oldest, table != nil)
            let size = change.magnitude > UInt64(Int64.max) ? .max : Int64(change.magnitude)
            let amount =
                isOfRows ? "\(grouped(newest)) \(newest == 1 ? "row" : "rows")" : byteCount(newest)
            let difference = isOfRows ? grouped(size) : byteCount(size)
            let name = table.map { "\(store): \($0)" } ?? store
            return [amount, "\(change < 0 ? "-" : "+")\(difference)", since.day, name]
        }
    }

    struct Year: Encodable {
        var bytes: Int64
        var basis: String
        var perDay: Int64
        var since: LocalTime
        var backups: Int
    }

    struct Largest: Encodable {
        var name: String
        var size: Int64
    }

    var full: Sum
    var increments: Sum
    /// The newest months with backups, and all before them.
    var months: [Sum]
    var older: Sum
    var largest: [Largest]
    var trends: [Trend]
    var year: Year?

    init(_ growth: FolderGrowth, _ invocation: Invocation) {
        full = Sum(growth.full)
        increments = Sum(growth.increments)
        months = growth.months.map { Sum($0.sum, month: $0.name) }
        older = Sum(growth.older)
        largest = growth.largest.map { Largest(name: $0.name, size: $0.size) }
        trends = growth.trends.map {
            Trend(
                store: $0.store,
                table: $0.table.map { printable(bytes: $0.utf8) },
                newest: $0.newest,
                oldest: $0.oldest,
                since: invocation.local($0.since)
            )
        }
        year = growth.year.map {
            Year(
                bytes: $0.bytes,
                basis: $0.basis.rawValue,
                perDay: $0.perDay,
                since: invocation.local($0.since),
                backups: $0.backups
            )
        }
    }

    func write(to console: Console) {
        let blocks: [Columns?] = [
            Columns(rows: [["full", full.text], ["increments", increments.text]] + yearRows),
            table(["MONTH", "BACKUPS", "SIZE"], monthRows, right: [1, 2]),
            table(["NOW", "CHANGE", "SINCE", "STORE, TABLE"], trends.map(\.cells), right: [0, 1]),
            table(
                ["SIZE", "LARGEST BACKUPS"],
                largest.map { [byteCount($0.size), BackupName.display($0.name)] },
                right: [0]
            ),
        ]
        let lines = blocks.compactMap(\.self).map(\.lines).filter { !$0.isEmpty }
        console.answer(lines: Array(lines.joined(separator: [""])))
    }

    /// Returns a table; `nil` if it has no rows.
    private func table(_ header: [String], _ rows: [[String]], right: Set<Int>) -> Columns? {
        rows.isEmpty ? nil : Columns(rows: [header] + rows, right: right)
    }

    private var monthRows: [[String]] {
        let rows = months.map { [$0.month ?? "", "\($0.backups)", byteCount($0.bytes)] }
        return older.backups == 0
            ? rows : rows + [["older", "\(older.backups)", byteCount(older.bytes)]]
    }

    /// The estimate of a year, and its basis.
    private var yearRows: [[String]] {
        guard let year else {
            return [["in a year", "not known before there are backups a day apart"]]
        }
        let isLess = year.bytes < 0
        let amount = byteCount(isLess ? -year.bytes : year.bytes)
        let daily = "\(year.perDay < 0 ? "-" : "")\(byteCount(abs(year.perDay))) a day"
        let kept = counted(year.backups, "full backup", "full backups")
        let basis =
            year.basis == FolderGrowth.Year.Basis.written.rawValue
            ? "\(counted(year.backups, "backup", "backups")), \(daily), and none pruned"
            : "\(kept) stay, \(daily) each"
        return [
            ["in a year", "about \(amount) \(isLess ? "less" : "more"), if it goes on"],
            ["", "as since \(year.since.day): \(basis)"],
        ]
    }
}
