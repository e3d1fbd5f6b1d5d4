import Files
import Foundation
import Sample
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("A restore of a part that is disturbed")
struct PartFaultTests {
    @Test(
        "leaves the old part or the new one whatever step fails, and all else alone",
        arguments: [FaultyFileSystem.Effect.notDone, .done]
    )
    func everyFault(effect: FaultyFileSystem.Effect) async throws {
        let model = try await PartScene()
        var ends: Set<Bool> = []
        for number in KeptScene.steps {
            let part = try PartScene(copying: model)
            let faulty = FaultyFileSystem(failing: .call(number), effect: effect)
            do {
                try await part.restoreQuickly(through: faulty)
            } catch let error as RestoreError {
                #expect(ExpectedStates.saysWhere(error), "\(error)")
            }
            guard faulty.faultWasMet else { break }
            try await part.scene.recover()
            let what = "step \(number), \(effect): \(faulty.calls[number - 1])"
            // Data that cannot be moved in is kept, and so is data that cannot be removed.
            ends.insert(try part.expectWhole(what, leaving: ["Old_2", "FailedRestore"]))
        }
        #expect(ends.count == 2)
    }

    @Test("that is killed at any step is finished or undone by the next command")
    func everyCrash() async throws {
        // To be killed before a step is to be killed after the one before it.
        let model = try await PartScene()
        var ends: Set<Bool> = []
        var mixes = 0
        for number in KeptScene.steps {
            let part = try PartScene(copying: model)
            let faulty = FaultyFileSystem(
                failing: .call(number),
                effect: .done,
                staysBroken: true
            )
            do { try await part.restoreQuickly(through: faulty) } catch is RestoreError {}
            guard faulty.faultWasMet else { break }
            let what = "step \(number): \(faulty.calls[number - 1])"
            // SQLite would delete a log that an application finds without its database.
            let sandbox = part.scene.sandbox
            #expect(
                !sandbox.exists("Stores/\(PartScene.store)-wal")
                    || sandbox.exists("Stores/\(PartScene.store)"),
                "\(what)"
            )
            var seen = try PartScene.state(of: part.scene.stores)
            seen = seen.filter { $0.key.components[0] != StoresDirectory.restoreArea }
            if seen != part.old, seen != part.new { mixes += 1 }
            try await part.scene.recover()
            ends.insert(try part.expectWhole(what))
        }
        #expect(ends.count == 2)
        #expect(mixes > 2, "it was never killed amid its moves")
    }

    @Test("whose recovery is killed at any step, too, is finished or undone by the one after")
    func everyCrashOfRecovery() async throws {
        let model = try await PartScene()
        // While what was there goes, and while what is new comes.
        for first in [3, 5, 8, 11] {
            for second in KeptScene.steps {
                let part = try PartScene(copying: model)
                let faulty = FaultyFileSystem(
                    failing: .callOf(.move, first),
                    effect: .done,
                    staysBroken: true
                )
                await #expect(throws: RestoreError.self) {
                    try await part.restoreQuickly(through: faulty)
                }
                guard faulty.faultWasMet else { break }
                let again = FaultyFileSystem(
                    failing: .call(second),
                    effect: .done,
                    staysBroken: true
                )
                try? await RecoverRestore(
                    of: part.scene.stores,
                    context: part.scene.context(),
                    fileSystem: again
                ).run()
                try await part.scene.recover()
                try part.expectWhole("move \(first), step \(second)")
                guard again.faultWasMet else { break }
            }
        }
    }

    @Test("that does not open in its place is refused: what was there comes back")
    func rolledBack() async throws {
        let part = try await PartScene()
        let damaging = DamagingMoves(LocalFileSystem(), live: part.scene.stores)
        let error = await #expect(throws: RestoreError.self) {
            try await part.restoreQuickly(through: damaging)
        }
        guard case .rolledBack(_, let refused) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(damaging.didDamage)
        try part.expectWhole("rolled back", isNew: false, leaving: ["FailedRestore"])
        #expect(try Contents(of: refused).paths.contains("photos/deep/2"))
        // It stays when the next one succeeds, and is in no backup.
        try await part.restoreQuickly(through: LocalFileSystem())
        try part.expectWhole("restored", isNew: true, leaving: ["FailedRestore"])
    }

    @Test("that is rolled back and killed at any step of that puts back what was there")
    func everyCrashOfRollBack() async throws {
        let model = try await PartScene()
        for number in KeptScene.steps {
            let part = try PartScene(copying: model)
            let faulty = FaultyFileSystem(
                failing: .call(number),
                effect: .done,
                staysBroken: true
            )
            let damaging = DamagingMoves(faulty, live: part.scene.stores)
            await #expect(throws: RestoreError.self) {
                try await part.restoreQuickly(through: damaging)
            }
            try await part.scene.recover()
            let what = "step \(number)"
            let isNew = try part.expectWhole(what, leaving: ["FailedRestore"])
            // Killed before the damage, it was finished: nothing was wrong with it.
            #expect(!isNew || !damaging.didDamage, "\(what)")
            guard faulty.faultWasMet else { break }
        }
    }

    @Test("that an application refuses takes back what that has left beside the store")
    func refusedByApplication() async throws {
        let part = try await PartScene()
        let store = part.scene.sandbox.path("Stores/\(PartScene.store)").string
        let script = part.scene.sandbox.path("verify.sh")
        // As one that writes into the log, and is killed.
        let text = """
            sqlite3 '\(store)' 'PRAGMA journal_mode = WAL' "DELETE FROM item" \
                '.shell cp \(store)-wal \(store)-kept'
            mv '\(store)-kept' '\(store)-wal'
            exit 1
            """
        try part.scene.sandbox.write(text, to: "verify.sh")
        defer { try? LocalFileSystem().remove(script) }
        await #expect(throws: RestoreError.self) {
            try await part.restoreQuickly(through: LocalFileSystem()) {
                $0.application.verify = ["sh '\(script)'"]
            }
        }
        try LocalFileSystem().remove(script)
        try part.expectWhole("refused", isNew: false, leaving: ["FailedRestore"])
        let area = "Stores/\(StoresDirectory.restoreArea)/FailedRestore"
        #expect(part.scene.sandbox.exists("\(area)/\(PartScene.store)-wal"))
    }

    @Test(
        "loses nothing when an application makes a file of the same name in the middle of it",
        arguments: [RestoreJournal.Phase.settingAside, .puttingIn]
    )
    func madeMeanwhile(phase: RestoreJournal.Phase) async throws {
        let part = try await PartScene()
        let faulty = FaultyFileSystem(
            failing: .callOf(.move, phase == .settingAside ? 3 : 8),
            staysBroken: true
        )
        await #expect(throws: RestoreError.self) {
            try await part.restoreQuickly(through: faulty)
        }
        let journal = RestorePaths(live: part.scene.stores, .inside).journal
        #expect(try RestoreJournal.read(journal)?.phase == phase)
        let sandbox = part.scene.sandbox
        #expect(!sandbox.exists("Stores/shelf/book"))
        try sandbox.write("somebody's", to: "Stores/shelf/book")
        for _ in 1...2 {
            let error = await #expect(throws: RestoreError.self) {
                try await part.scene.recover()
            }
            #expect(error?.description.contains("book' was made meanwhile") == true)
            #expect(try sandbox.read("Stores/shelf/book") == Array("somebody's".utf8))
        }
        try LocalFileSystem().remove(sandbox.path("Stores/shelf/book"))
        try await part.scene.recover()
        try part.expectWhole("recovered", isNew: phase == .puttingIn)
    }

    @Test("follows no link that takes the place of a directory in the middle of it")
    func linkMeanwhile() async throws {
        let part = try await PartScene()
        let sandbox = part.scene.sandbox
        // The book is out, and its directory goes.
        let faulty = FaultyFileSystem(failing: .callOf(.move, 3), staysBroken: true)
        await #expect(throws: RestoreError.self) {
            try await part.restoreQuickly(through: faulty)
        }
        #expect(!sandbox.exists("Stores/shelf/book"))
        let shelf = sandbox.path("Stores/shelf")
        try LocalFileSystem().move(shelf, to: sandbox.path("Cache/shelf"))
        try sandbox.link("Stores/shelf", to: "../Remote")
        let remote = try Contents(of: part.scene.remotePath)
        let error = await #expect(throws: RestoreError.self) { try await part.scene.recover() }
        #expect(error?.description.contains("shelf' was made meanwhile") == true)
        #expect(try Contents(of: part.scene.remotePath) == remote)
        try LocalFileSystem().remove(shelf)
        try LocalFileSystem().move(sandbox.path("Cache/shelf"), to: shelf)
        try await part.scene.recover()
        try part.expectWhole("recovered", isNew: false)
    }

    @Test("is judged by its own stores: another one may be damaged, or written to")
    func otherStores() async throws {
        let part = try await PartScene()
        let sandbox = part.scene.sandbox
        let damaged = Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0xFF, count: 8_192)
        try sandbox.write(damaged, to: "Stores/damaged.db")
        let writer = try StoreApplication(
            on: sandbox.path("Stores/busy.db"),
            "CREATE TABLE t (x)",
            "BEGIN EXCLUSIVE"
        )
        defer { writer.kill() }
        // Not by `force`: an application has nothing open of what is named.
        try await part.restore { $0.makesSafetyBackup = false }
        #expect(try part.rows("SELECT count(*) FROM item", in: PartScene.store) == "12\n")
        let faulty = FaultyFileSystem(failing: .callOf(.move, 9), effect: .done, staysBroken: true)
        await #expect(throws: RestoreError.self) {
            try await part.restoreQuickly(through: faulty)
        }
        try await part.scene.recover()
        #expect(part.scene.told.contains { $0.contains("finished the restore of") })
        #expect(try part.rows("SELECT count(*) FROM item", in: PartScene.store) == "12\n")
    }

    @Test("is in the restore journal, and so are the kept paths")
    func journal() throws {
        var journal = RestoreJournal(phase: .settingAside, backup: "b")
        journal.part = RestoredPart([try RelativePath("a/b"), try RelativePath("a")])
        journal.keptPaths = [try RelativePath("a/c.tmp")]
        let again = try JSONDecoder().decode(
            RestoreJournal.self,
            from: JSONEncoder().encode(journal)
        )
        #expect(again.part?.roots.map(\.description) == ["a"])
        #expect(again.keptPaths == journal.keptPaths)
    }
}
