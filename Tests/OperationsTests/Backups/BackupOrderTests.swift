import Foundation
import Remotes
import TestSupport
import Testing

@testable import Backups

@Suite("The order of backups in time")
struct BackupOrderTests {
    private static let utc = LocalZone.utc
    private static let morning = Date(timeIntervalSince1970: 1_790_000_040)

    /// A backup of a minute; its manifest has the second, if that is known.
    private func backup(minute: Int, number: Int, second: Int?) -> Backup {
        let date = Self.morning + Double(minute * 60)
        let name = BackupName.make(date, in: Self.utc, number: number)
        var backup = Backup(RemoteFile(name: name, size: 1), timeZone: Self.utc)
        if let second {
            (backup.time, backup.timeSource) = (date + Double(second), .manifest)
        }
        return backup
    }

    @Test("Backups are ordered by their numbers in a minute of which not all manifests are known")
    func oneKnown() {
        for known in 1...4 {
            let backups = (1...4).map { number in
                backup(minute: 0, number: number, second: number == known ? 10 * number : nil)
            }
            let sorted = backups.shuffled().newestFirst
            #expect(sorted.map(\.name) == backups.reversed().map(\.name))
        }
    }

    @Test("Backups are ordered by seconds if all manifests are known, since a name can be reused")
    func allKnown() {
        let backups = [(2, 10), (1, 40), (10, 20)].map {
            backup(minute: 0, number: $0.0, second: $0.1)
        }
        #expect(backups.newestFirst.map(\.name) == [1, 2, 0].map { backups[$0].name })
    }

    @Test("Backups are ordered as written in a minute whose names are of several time zones")
    func severalZones() throws {
        let names = [
            "[2026-Nov-25] 10.13 PM +0100 Stores.zip", "[2026-Nov-25] 04.13 PM -0500 Stores.zip",
        ]
        for (first, second) in [(0, 1), (1, 0)] {
            var backups = names.map { Backup(RemoteFile(name: $0, size: 1), timeZone: Self.utc) }
            #expect(backups[0].time == backups[1].time && backups[0].time != nil)
            backups[first].file.modified = Self.morning
            backups[second].file.modified = Self.morning + 7
            #expect(backups.newestFirst.map(\.name) == [names[second], names[first]])
        }
    }

    @Test("The order of backups is strict, whatever is known of which of them")
    func strict() {
        var random = Pseudorandom(seed: 4)
        for _ in 0..<200 {
            let backups = (0..<8).map { _ in
                var backup = backup(
                    minute: Int.random(in: 0...2, using: &random),
                    number: Int.random(in: 1...11, using: &random),
                    second: Bool.random(using: &random)
                        ? Int.random(in: 0...59, using: &random) : nil
                )
                let offset = Int.random(in: -1...3, using: &random)
                if offset >= 0 { backup.file.modified = Self.morning + Double(offset) }
                return backup
            }
            let order = BackupOrder(of: backups)
            for a in backups {
                #expect(!order.isNewer(a, a))
                for b in backups {
                    let isOne = order.isNewer(a, b) || order.isNewer(b, a)
                    #expect(!(order.isNewer(a, b) && order.isNewer(b, a)))
                    #expect(isOne || a.name == b.name)
                    for c in backups where order.isNewer(a, b) {
                        // Of what is between two others, it is on one side of each.
                        #expect(!order.isNewer(b, c) || order.isNewer(a, c))
                        #expect(order.isNewer(a, c) || order.isNewer(c, b))
                    }
                }
            }
        }
    }
}

extension Array {
    fileprivate func shuffled() -> [Element] {
        var random = Pseudorandom(seed: 7)
        return shuffled(using: &random)
    }
}
