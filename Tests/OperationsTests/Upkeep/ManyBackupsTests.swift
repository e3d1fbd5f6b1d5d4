import Files
import Foundation
import Remotes
import Synchronization
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Many backups")
struct ManyBackupsTests {
    /// Names of backups, one an hour, of which nothing else is known; every third is an increment.
    private func backups(_ count: Int) -> [Backup] {
        (0..<count).map { number in
            let name = BackupName.make(
                Scene.morning - Double(number) * 3600,
                in: .utc,
                isIncrement: number.isMultiple(of: 3)
            )
            return Backup(RemoteFile(name: name, size: 1), timeZone: .utc)
        }
    }

    @Test("of which one may be needed by any are not asked one by one", arguments: [400, 1600])
    func silentIncrements(count: Int) {
        let backups = backups(count)
        let needs = Dependence(of: backups, by: backups)
        var asked = 0
        for backup in backups {
            let newest = needs.newestDependant(of: backup) { _ in
                asked += 1
                return true
            }
            #expect(newest == needs.dependants(of: backup).first, "\(backup.name)")
        }
        #expect(asked <= 2 * count)
    }

    @Test("are all found by what may need them, as if each pair were compared")
    func pairs() {
        let backups = backups(1_500)
        let needs = Dependence(of: backups, by: backups)
        let span = 35 * 86_400 + Backup.nameTolerance
        for backup in backups where backup.name.hashValue.isMultiple(of: 20) {
            let expected = backups.filter { other in
                guard other.isIncrement, other.name != backup.name, let end = other.time,
                    let time = backup.time
                else { return false }
                return (-Backup.nameTolerance...span).contains(end.timeIntervalSince(time))
            }
            #expect(needs.dependants(of: backup) == expected)
        }
    }

    @Test(
        "are passed over at once after a signal, wherever it comes",
        arguments: [0, 1, 5, 11, 17]
    )
    func cancellation(after count: Int) async throws {
        let scene = try Scene()
        for number in 0..<6 { _ = try await scene.backUp(at: Scene.morning + Double(number) * 60) }
        let asked = Mutex(0)
        var memory = BackupMemory(catalog: scene.catalog)
        memory.checkCancellation = {
            try asked.withLock { asked in
                asked += 1
                if asked > count { throw CancellationError() }
            }
        }
        let folder = BackupFolder(scene.remote, memory: memory, timeZone: Scene.utc)
        await #expect(throws: CancellationError.self) { try await folder.list() }
        #expect(asked.withLock(\.self) == count + 1)
    }

    @Test("are not pruned after a signal, and all stay")
    func cancelledPrune() async throws {
        let scene = try Scene()
        for number in 0..<4 { _ = try await scene.backUp(at: Scene.morning + Double(number) * 60) }
        var policy = RetentionPolicy()
        policy.counts = [.last: 1]
        var context = scene.context()
        context.checkCancellation = { throw CancellationError() }
        let prune = PruneBackups(
            in: scene.folder(),
            options: .init(policy: policy, now: Scene.morning + 86_400),
            context: context
        )
        await #expect(throws: CancellationError.self) { try await prune.plan() }
        await #expect(throws: CancellationError.self) { try await prune.run() }
        #expect(try await scene.list().count == 4)
    }

    @Test("are remembered in lines, whatever is in their fields")
    func memory() throws {
        var odd = BackupSummary()
        odd.reason = "a|b%7C%"
        odd.exclusions = ""
        odd.needs = [Need(name: "n|n", size: 1, created: "c", number: 2, state: "s")]
        var usual = BackupSummary()
        usual.time = -1
        usual.offset = 3600
        usual.isAnomalous = true
        usual.reason = "restore of 'ü\n'"
        usual.isPartial = true
        usual.content = "c"
        usual.root = .init(mode: 0o755, owner: 1, group: 2)
        usual.exclusions = "*.nosync/"
        usual.origin = "o"
        usual.originName = "nas:/srv"
        usual.lineage = "l"
        usual.number = 0
        for summary in [odd, usual, BackupSummary()] {
            let data = try JSONEncoder().encode([summary])
            #expect(try JSONDecoder().decode([BackupSummary].self, from: data) == [summary])
            #expect(data.first == UInt8(ascii: "[") && data.dropFirst().first == UInt8(ascii: "\""))
        }
        let hash = RemoteHash(kind: "md5", value: "0cc1")
        #expect(RemoteHash(description: hash.description) == hash)
        #expect(RemoteHash(description: "md5") == nil)
        for text in [#"["1|2"]"#, "[3]", #"["x||||||||||||"]"#, #"["|||||||||||||"]"#] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode([BackupSummary].self, from: Data(text.utf8))
            }
        }
    }

    @Test("keep what is known from elsewhere when their manifest's beginning is read")
    func knownFacts() async throws {
        let scene = try Scene()
        let made = try await scene.backUp().backup
        let opened = try ArchivedBackup(
            try #require(made.file.location),
            name: made.name,
            keys: .none
        )
        var backup = Backup(made.file, timeZone: Scene.utc)
        backup.summary.isPartial = true
        backup.summary.content = "known"
        backup.take(try #require(opened.header), .none)
        #expect(backup.isPartial && backup.content == "known" && backup.id == made.id)
    }
}
