import Foundation
import Remotes
import Testing

@testable import Backups
@testable import Operations
@testable import Stores

@Suite("The rows of tables over time")
struct TableTrendTests {
    /// Returns backups, the newest first, with the rows of one table.
    private func backups(_ rows: [Int64?], table: String = "item") -> [Backup] {
        rows.enumerated().map { index, rows in
            let date = Date(timeIntervalSince1970: 1_795_251_660 + Double(index) * 86_400)
            var backup = Backup(
                RemoteFile(name: BackupName.make(date, in: .utc), size: 1),
                timeZone: .utc
            )
            backup.summary.extent = rows.map { rows in
                BackupExtent(of: [BackupExtentTests.facts([(table, rows)])])
            }
            return backup
        }.reversed()
    }

    @Test("A trend has the rows of each backup that is known, oldest first")
    func points() {
        let trends = TableTrend.trends(of: backups([100, nil, 110, 120]))
        #expect(trends.map(\.table) == ["item"])
        #expect(trends.first?.points.map(\.rows) == [100, 110, 120])
        #expect(trends.first?.jumps.isEmpty == true)
        #expect(TableTrend.trends(of: []).isEmpty)
        #expect(TableTrend.trends(of: backups([nil])).isEmpty)
    }

    @Test(
        "A jump is a loss of a quarter of the rows or a gain of half of them, and 20 rows",
        arguments: [
            ([100, 75], 1), ([100, 76], 0), ([10, 0], 0), ([100, 150], 1), ([100, 149], 0),
            ([0, 20], 1),
            ([0, 19], 0),
            ([1_000_000, 1_200_000], 0), ([100, 0, 100], 2), ([0, .max], 1),
        ] as [([Int64], Int)]
    )
    func jumps(rows: [Int64], count: Int) throws {
        let trend = try #require(TableTrend.trends(of: backups(rows)).first)
        #expect(trend.jumps.count == count)
    }

    @Test("A jump has the change in percent, unless there was nothing before")
    func percent() throws {
        let jumps = try #require(TableTrend.trends(of: backups([0, 100, 25])).first).jumps
        #expect(jumps.map(\.percent) == [nil, -75])
        #expect(jumps[1].before.rows == 100 && jumps[1].after.rows == 25)
    }
}
