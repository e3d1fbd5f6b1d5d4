import Files
import Foundation
import Remotes
import History
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Pruning")
struct PruneBackupsTests {
    private let scene: Scene
    private let day = 86_400.0

    init() throws {
        scene = try Scene()
    }

    /// Backups of some days ago, and their names.
    @discardableResult
    private func backUp(daysAgo: [Double]) async throws -> [String] {
        var names: [String] = []
        for days in daysAgo {
            names.append(try await scene.backUp(at: Scene.morning - days * day).backup.name)
        }
        return names
    }

    private func pruning(
        in remote: (any RemoteFolder)? = nil,
        context: OperationContext? = nil,
        log: RunLog? = nil,
        _ change: (inout PruneBackups.Options) -> Void
    ) -> PruneBackups {
        var options = PruneBackups.Options(
            policy: RetentionPolicy(),
            now: Scene.morning + 60
        )
        change(&options)
        return PruneBackups(
            in: scene.folder(remote, log: log),
            options: options,
            context: context ?? scene.context()
        )
    }

    private var delete: DeleteBackup {
        DeleteBackup(
            from: scene.folder(),
            context: scene.context()
        )
    }

    private var pin: PinBackup {
        PinBackup(
            in: scene.folder(),
            context: scene.context()
        )
    }

    @Test("counts two files of one backup as one, and keeps or removes both")
    func copies() async throws {
        let names = try await backUp(daysAgo: [3, 2, 1, 0])
        for (index, name) in [(0, "a Stores.zip"), (3, "[2026-Nov-22] 09.43 AM (9) Stores.zip")] {
            try scene.sandbox.write(
                scene.sandbox.read("Remote/\(names[index])"),
                to: "Remote/\(name)"
            )
        }
        let outcome = try await pruning { $0.policy.counts[.last] = 3 }.run()
        #expect(outcome.removed.map(\.name) == [names[0]])
        #expect(outcome.plan.keep.count == 5)
        #expect(Set(try await scene.list().map(\.name)).isSuperset(of: names.dropFirst()))
    }

    @Test("keeps what is from the future, and does not count it")
    func future() async throws {
        let names = try await backUp(daysAgo: [2, 1, -3, -4, 0])
        // The clock was set back meanwhile.
        let plan = try await pruning { $0.policy.counts[.daily] = 2 }.plan()
        #expect(
            plan.keep.map(\.backup.name) == [names[4], names[3], names[2], names[1]]
        )
        #expect(
            plan.keep.map(\.reasons) == [
                ["daily snapshot"], ["from the future"], ["from the future"], ["daily snapshot"],
            ]
        )
        #expect(plan.remove.map(\.backup.name) == [names[0]])
    }

    @Test("keeps the newest data, and takes it for the latest, after a clock was ahead once")
    func clockAheadOnce() async throws {
        let hour = 1 / 24.0
        let names = try await backUp(daysAgo: [1, -2 * hour, -hour, -1.5 * hour])
        // With the cache and without it.
        for _ in 0..<2 {
            #expect(try await scene.list().map(\.name) == names.reversed())
            let found = try await scene.folder().find("latest", now: Scene.morning + day)
            #expect(found.name == names[3])
            try LocalFileSystem().remove(scene.sandbox.path("Cache"))
        }
        let plan = try await pruning {
            $0.policy.counts[.daily] = 7
            $0.now = Scene.morning + day
        }.plan()
        #expect(plan.keep.map(\.backup.name) == [names[3], names[0]])
        let backups = try await scene.list()
        #expect(await scene.folder().losses.warning(beside: backups) == nil)
    }

    @Test("plans once it has the folder: what is deleted while it waits is no keeper")
    func plansLocked() async throws {
        let names = try await backUp(daysAgo: [1, 0])
        let lock = HeldLock(try await FileLock.acquire(scene.remotePath, wait: .zero) { _ in })
        let newest = scene.remotePath.appending(names[1])
        let context = scene.context(lockWait: .seconds(60)) {
            // The holder of the lock deletes the newest, and lets go.
            try lock.release { try LocalFileSystem().remove(newest) }
        }
        let outcome = try await pruning(context: context) { $0.policy.counts[.last] = 1 }.run()
        #expect(outcome.removed.isEmpty)
        #expect(outcome.plan.keep.map(\.backup.name) == [names[0]])
        #expect(try await scene.list().map(\.name) == [names[0]])
    }

    @Test("never removes what is left once all that was to be kept is gone")
    func keepersGone() async throws {
        let names = try await backUp(daysAgo: [1, 0])
        let newest = scene.remotePath.appending(names[1])
        // Another machine's lock is not ours.
        let context = scene.context { try LocalFileSystem().remove(newest) }
        let outcome = try await pruning(context: context) { $0.policy.counts[.last] = 1 }.run()
        #expect(outcome.removed.isEmpty)
        #expect(outcome.problems.map(\.path) == [names[0]])
        #expect(try await scene.list().map(\.name) == [names[0]])
    }

    @Test("what was made a moment ago is the newest, however its time is rounded")
    func rounded() async throws {
        try await scene.backUp(at: Scene.morning - day)
        let moment = Scene.morning + 0.0006
        let made = try await scene.backUp(at: moment).backup
        let prune = pruning {
            $0.policy.counts[.last] = 1
            $0.now = moment
        }
        _ = try await prune.run()
        #expect(try await scene.list().map(\.name) == [made.name])
    }

    @Test("one from the future in front does not hide that the newest has much less")
    func guardedBehindFuture() async throws {
        try await backUp(daysAgo: [2, 1, -3])
        try LocalFileSystem().remove(scene.stores)
        try scene.sandbox.write("left", to: "Stores/left.txt")
        #expect(try await scene.backUp().backup.isAnomalous)
        let plan = try await pruning { $0.policy.counts[.last] = 1 }.plan()
        #expect(plan.remove.isEmpty)
        #expect(plan.refusal != nil)
    }

    @Test("a damaged one in front does not hide that the newest has much less")
    func guardedBehindDamage() async throws {
        try await backUp(daysAgo: [2, 1])
        try LocalFileSystem().remove(scene.stores)
        try scene.sandbox.write("left", to: "Stores/left.txt")
        let newest = try await scene.backUp().backup
        #expect(newest.isAnomalous)
        try scene.sandbox.write("x", to: "Remote/[2026-Nov-21] 09.02 AM Stores.zip")
        let plan = try await pruning { $0.policy.counts[.last] = 1 }.plan()
        #expect(plan.remove.isEmpty)
        #expect(plan.refusal?.contains(newest.displayName) == true)
    }

    @Test("elsewhere leaves what it does not know, and all while the newest is such")
    func elsewhere() async throws {
        let names = try await backUp(daysAgo: [3, 2, 1])
        let foreign = "[2020-Jan-01] 09.01 AM Stores.zip"
        try scene.sandbox.write(Fixtures.read("archives/Info-ZIP.zip"), to: "Remote/\(foreign)")
        let remote = Elsewhere(folder: scene.remote, isFetching: true)
        let catalog = scene.catalog
        func plan() async throws -> PruneBackups.Plan {
            var policy = RetentionPolicy()
            policy.counts[.last] = 1
            return try await PruneBackups(
                in: scene.folder(remote, catalog: catalog),
                options: .init(policy: policy, now: Scene.morning),
                context: scene.context()
            ).plan()
        }
        let checks = CheckBackups(
            in: scene.folder(remote, catalog: catalog),
            options: .init(),
            context: scene.context()
        )
        // Another machine made them all.
        #expect(try await plan().remove.isEmpty)
        var backups = try await checks.all().backups
        for name in names[...1] {
            _ = try await checks.run(#require(backups.first { $0.name == name }), at: Scene.morning)
        }
        // One could go now, but for the newest, of which nothing is known.
        let refused = try await plan()
        #expect(refused.remove.isEmpty)
        #expect(refused.refusal?.contains("check that backup") == true)
        backups = try await checks.all().backups
        #expect(try await checks.run(#require(backups.first), at: Scene.morning).isGood)
        let allowed = try await plan()
        #expect(allowed.refusal == nil)
        #expect(allowed.remove.map(\.backup.name) == [names[1], names[0]])
        #expect(allowed.keep.last?.reasons == ["not known to be made by grocerydude"])
        _ = try await checks.run(#require(backups.last), at: Scene.morning)
        #expect(try await plan().keep.last?.reasons == ["not made by grocerydude"])
    }

    @Test("plans without changing anything, and then does as planned")
    func plans() async throws {
        let names = try await backUp(daysAgo: [3, 2, 1, 0])
        let prune = pruning { $0.policy.counts[.daily] = 2 }
        let plan = try await prune.plan()
        #expect(plan.keep.map(\.backup.name) == [names[3], names[2]])
        #expect(plan.keep.map(\.reasons) == [["daily snapshot"], ["daily snapshot"]])
        #expect(plan.remove.map(\.backup.name) == [names[1], names[0]])
        #expect(try await scene.list().count == 4)
        let outcome = try await prune.run()
        #expect(outcome.problems.isEmpty)
        #expect(outcome.plan.remove == plan.remove)
        #expect(outcome.removed.map(\.name) == [names[1], names[0]])
        #expect(try await scene.list().map(\.name) == [names[3], names[2]])
        #expect(try await Set(scene.folder().trashed().map(\.name)) == Set(names[...1]))
    }

    @Test("without a policy, or with one that keeps nothing, removes nothing unless it may")
    func keepsNothing() async throws {
        let names = try await backUp(daysAgo: [1, 0])
        await #expect(throws: OperationError.self) { try await pruning { _ in }.plan() }
        let useless: (inout PruneBackups.Options) -> Void = { $0.policy.tags = [["none has it"]] }
        let plan = try await pruning(useless).plan()
        #expect(plan.remove.isEmpty && plan.refusal?.contains("no rule keeps any backup") == true)
        #expect(plan.keep.map(\.backup.name) == [names[1], names[0]])
        #expect(plan.keep.map(\.reasons) == [["newest"], ["no rule keeps any"]])
        let all = pruning {
            useless(&$0)
            $0.mayRemoveAll = true
        }
        _ = try await all.run()
        #expect(try await scene.list().isEmpty)
        #expect(try await scene.folder().trashed().count == 2)
    }

    @Test("leaves alone, and does not count, what others made or named, and what cannot be read")
    func leavesAlone() async throws {
        let names = try await backUp(daysAgo: [2, 1, 0])
        let remote = scene.remotePath
        try LocalFileSystem().move(
            remote.appending(names[2]),
            to: remote.appending("before the move Stores.zip")
        )
        let copy = try scene.sandbox.read("Remote/\(names[0])")
        try scene.sandbox.write(copy, to: "Remote/[2026-Nov-21] 09.01 AM Stores (conflicted).zip")
        let damaged = "[2026-Nov-22] 09.01 AM Stores.zip"
        try scene.sandbox.write(Array(copy.dropLast(40)), to: "Remote/\(damaged)")
        let plan = try await pruning { $0.policy.counts[.last] = 1 }.plan()
        #expect(plan.remove.map(\.backup.name) == [names[0]])
        let reasons = Dictionary(
            uniqueKeysWithValues: plan.keep.map { ($0.backup.name, $0.reasons) }
        )
        #expect(reasons[names[1]] == ["last snapshot"])
        #expect(reasons["before the move Stores.zip"] == ["not named by grocerydude"])
        #expect(reasons[damaged] == ["it cannot be read"])
        #expect(reasons.count == 3)
    }

    @Test("an archive without a manifest is not ours, whatever its name")
    func foreign() async throws {
        try await backUp(daysAgo: [0])
        let name = "[2020-Jan-01] 09.01 AM Stores.zip"
        try scene.sandbox.write(Fixtures.read("archives/Info-ZIP.zip"), to: "Remote/\(name)")
        let plan = try await pruning { $0.policy.counts[.last] = 1 }.plan()
        #expect(plan.remove.isEmpty)
        #expect(plan.keep.last?.reasons == ["not made by grocerydude"])
    }

    @Test("keeps what is pinned, also since the plan was made")
    func pins() async throws {
        let names = try await backUp(daysAgo: [3, 2, 1, 0])
        _ = try await pin.run(names[0], isPinned: true, at: Scene.morning)
        let prune = pruning { $0.policy.counts[.last] = 1 }
        let plan = try await prune.plan()
        #expect(plan.keep.map(\.backup.name) == [names[3], names[0]])
        #expect(plan.keep.last?.reasons == ["pinned"])
        _ = try await pin.run(names[1], isPinned: true, at: Scene.morning)
        let outcome = try await prune.run()
        #expect(outcome.removed.map(\.name) == [names[2]])
        #expect(outcome.problems.isEmpty)
        await #expect(throws: BackupFolderError.self) {
            try await delete.run(
                scene.folder().find(names[0]),
                at: Scene.morning,
                keepingTrash: .seconds(60)
            )
        }
        _ = try await pin.run(names[0], isPinned: false, at: Scene.morning)
        let found = try await scene.folder().find(names[0])
        try await delete.run(found, at: Scene.morning, keepingTrash: .seconds(60))
        #expect(try await scene.list().map(\.name) == [names[3], names[1]])
    }

    @Test("removes nothing while it is not known what is pinned")
    func damagedPins() async throws {
        try await backUp(daysAgo: [1, 0])
        try scene.sandbox.write("{", to: "Remote/\(Annotations.subfolder)/1.json")
        let prune = pruning { $0.policy.counts[.last] = 1 }
        await #expect(throws: BackupFolderError.self) { try await prune.plan() }
        // It is no reason not to find a backup.
        #expect(try await scene.list().count == 2)
    }

    @Test("removes nothing while the newest has much less than the ones before it")
    func guarded() async throws {
        let names = try await backUp(daysAgo: [2, 1])
        try LocalFileSystem().remove(scene.stores)
        try scene.sandbox.write("left", to: "Stores/left.txt")
        let newest = try await scene.backUp().backup
        #expect(newest.isAnomalous)
        let plan = try await pruning { $0.policy.counts[.last] = 1 }.plan()
        #expect(plan.remove.isEmpty)
        #expect(plan.refusal != nil)
        #expect(plan.keep.map(\.backup.name) == [newest.name, names[1], names[0]])
    }

    @Test("one that cannot be removed does not keep the others", arguments: [true, false])
    func failures(trash: Bool) async throws {
        let names = try await backUp(daysAgo: [3, 2, 1, 0])
        let fileSystem = FaultyFileSystem(
            failing: .callOf(trash ? .move : .remove, 2),
            with: .ioError
        )
        let folder = LocalFolder(scene.remotePath, fileSystem: fileSystem)
        let prune = pruning(in: folder) {
            $0.policy.counts[.last] = 1
            $0.keepsTrash = trash ? .seconds(60) : .zero
        }
        let outcome = try await prune.run()
        try fileSystem.assertFaultWasMet()
        #expect(outcome.removed.map(\.name) == [names[2], names[0]])
        #expect(outcome.problems.map(\.path) == [names[1]])
        #expect(try await scene.list().map(\.name) == [names[3], names[1]])
    }

    @Test("what was removed comes back, until its time is over")
    func trash() async throws {
        let names = try await backUp(daysAgo: [2, 1, 0])
        let week = Duration.seconds(7 * 86_400)
        for name in names[...1] {
            let backup = try await scene.folder().find(name)
            try await delete.run(backup, at: Scene.morning, keepingTrash: week)
        }
        #expect(try await delete.undo(BackupName.display(names[0])).backup.name == names[0])
        #expect(try await scene.list().map(\.name) == [names[2], names[0]])
        await #expect(throws: BackupFolderError.self) { try await delete.undo(names[0]) }
        await #expect(throws: BackupFolderError.self) { try await delete.undo("") }
        // A name that is taken meanwhile.
        try scene.sandbox.write("other", to: "Remote/\(names[1])")
        await #expect(throws: BackupFolderError.self) { try await delete.undo(names[1]) }
        #expect(try scene.sandbox.read("Remote/\(names[1])") == Array("other".utf8))
        // Eight days later, another deletion empties nothing, however short its own time is.
        let later = Scene.morning + 8 * day
        let backup = try await scene.folder().find(names[0])
        try await delete.run(backup, at: later, keepingTrash: .seconds(1))
        #expect(try await scene.folder().trashed().map(\.name) == [names[0], names[1]])
        let prune = pruning {
            $0.policy.counts[.last] = 5
            $0.now = later
            $0.keepsTrash = week
        }
        _ = try await prune.run()
        #expect(try await scene.folder().trashed().map(\.name) == [names[0]])
    }

    @Test("does not count a backup that a restore found damaged, in place or elsewhere")
    func damagedInRestore() async throws {
        for isElsewhere in [false, true] {
            let scene = try Scene()
            for days in [1.0, 0] { _ = try await scene.backUp(at: Scene.morning - days * day) }
            let newest = try await scene.list()[0]
            var bytes = try scene.sandbox.read("Remote/\(newest.name)")
            for index in 200..<216 { bytes[index] ^= 0xFF }
            try scene.sandbox.write(bytes, to: "Remote/\(newest.name)")
            let restore = RestoreBackup(
                from: scene.folder(),
                options: RestoreBackup.Options(backup: scene.options()),
                context: scene.context()
            )
            await #expect(throws: RestoreError.self) {
                if isElsewhere {
                    _ = try await restore.extract(newest, to: scene.sandbox.path("Target"))
                } else {
                    _ = try await restore.run(newest, to: scene.stores)
                }
            }
            var options = PruneBackups.Options(policy: RetentionPolicy(), now: Scene.morning + 60)
            options.policy.counts[.last] = 1
            let prune = PruneBackups(
                in: scene.folder(),
                options: options,
                context: scene.context()
            )
            let plan = try await prune.plan()
            #expect(plan.remove.isEmpty)
            #expect(plan.keep.first?.reasons.first?.hasPrefix("damaged: ") == true)
        }
    }

    @Test("with a clock that is years ahead leaves half of the time to bring a backup back")
    func clockAhead() async throws {
        let names = try await backUp(daysAgo: [2, 1, 0])
        let backup = try await scene.folder().find(names[0])
        let week = Duration.seconds(7 * 86_400)
        try await delete.run(backup, at: Scene.morning, keepingTrash: week)
        let wrong = Scene.morning + 730 * day
        for (days, isLeft) in [(0.0, true), (1, true), (4, false)] {
            _ = try await scene.backUp(at: wrong + days * day)
            let prune = pruning {
                $0.policy.counts[.last] = 9
                $0.now = wrong + days * day + 60
                $0.keepsTrash = week
            }
            let trash = try await prune.run().trash
            #expect(trash.keep.allSatisfy { $0.reason.contains("the clock may be wrong") })
            #expect(trash.keep.isEmpty != isLeft)
            #expect(try await scene.folder().trashed().isEmpty != isLeft)
        }
    }

    @Test("at once and for good, where that is asked for, takes nothing else with it")
    func forGood() async throws {
        let names = try await backUp(daysAgo: [2, 1, 0])
        let first = try await scene.folder().find(names[0])
        try await delete.run(first, at: Scene.morning, keepingTrash: .seconds(60))
        let second = try await scene.folder().find(names[1])
        try await delete.run(second, at: Scene.morning + day, keepingTrash: .zero)
        #expect(try await scene.folder().trashed().map(\.name) == [names[0]])
        #expect(try await scene.list().map(\.name) == [names[2]])
    }

    @Test("waits for nobody: a remote folder that is in use is an error")
    func locked() async throws {
        try await backUp(daysAgo: [1, 0])
        let lock = try await FileLock.acquire(scene.remotePath, wait: .zero) { _ in }
        defer { withExtendedLifetime(lock) {} }
        let prune = pruning { $0.policy.counts[.last] = 1 }
        await #expect(throws: FileError.self) { try await prune.run() }
        #expect(try await scene.list().count == 2)
    }
}
