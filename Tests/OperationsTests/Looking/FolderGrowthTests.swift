import Foundation
import Remotes
import Testing

@testable import Backups
@testable import Operations

@Suite("The growth of a folder")
struct FolderGrowthTests {
    /// 2026-11-26 12:00 UTC.
    private static let now = Date(timeIntervalSince1970: 1_795_694_400)

    /// Returns a backup of some days ago.
    private func backup(_ days: Double, size: Int64, _ tables: Int64 = 0) -> Backup {
        var summary = BackupSummary()
        summary.time = (Self.now - days * 86_400).milliseconds
        summary.extent = BackupExtent(of: [
            BackupExtentTests.facts([("item", tables)], pages: tables)
        ])
        var backup = Backup(
            RemoteFile(name: "[2026-Nov-26] \(days) Stores.zip", size: size),
            timeZone: .utc
        )
        backup.take(summary, nil)
        return backup
    }

    private func growth(_ backups: [Backup], isPruned: Bool = false) -> FolderGrowth {
        FolderGrowth(of: backups, own: backups, isPruned: isPruned, now: Self.now, in: .utc)
    }

    @Test("A year without a policy takes what each day of the backups' time wrote")
    func written() {
        // The oldest one's bytes were written before that time, and one is older than a year.
        let sizes: [(Double, Int64)] = [(-2, 9999), (0, 30), (10, 20), (20, 500), (400, 7)]
        let year = growth(sizes.map { backup($0.0, size: $0.1) }).year
        #expect(year?.basis == .written && year?.bytes == 913 && year?.backups == 2)
        #expect(year?.since == Self.now - 20 * 86_400)
        #expect(growth([backup(0, size: 1), backup(0.5, size: 1)]).year == nil)
        #expect(growth([]).year == nil)
    }

    @Test("A year with a policy takes the growth of each full backup, which may be negative")
    func grown() {
        let backups = [backup(0, size: 300), backup(50, size: 1), backup(100, size: 400)]
        let year = growth(backups, isPruned: true).year
        #expect(year?.basis == .grown && year?.backups == 3)
        #expect(year?.bytes == -1095 && year?.perDay == -1)
    }

    @Test("Sums are by month, and trends are of the manifests that are remembered")
    func sums() {
        let growth = growth((0..<20).map { backup(Double($0) * 31, size: 10, 40 - Int64($0)) })
        #expect(growth.full == FolderGrowth.Sum(backups: 20, bytes: 200))
        #expect(growth.months.count == 12 && growth.older.backups == 8)
        #expect(growth.months.first?.name == "2026-11" && growth.largest.count == 5)
        #expect(growth.trends.map(\.table) == [nil, "item"])
        #expect(growth.trends.map(\.newest) == [40 * 4096, 40])
        #expect(growth.trends.map(\.oldest) == [21 * 4096, 21])
    }
}
