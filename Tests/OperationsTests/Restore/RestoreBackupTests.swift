import Sample
import Backups
import Archives
import Files
import Foundation
import Remotes
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Operations

@Suite("Restoring")
struct RestoreBackupTests {
    /// A scene with a backup of twelve items, and eleven in the live store.
    private func scene() async throws -> Scene {
        let scene = try Scene()
        try await scene.backUp()
        _ = try GroceryStore(in: scene.stores).remove(name: "Apples")
        return scene
    }

    @Test("takes for the latest what is not from the future, where there is such a one")
    func latest() async throws {
        let scene = try Scene()
        let future = try await scene.backUp(at: Scene.morning + 365 * 86_400).backup
        #expect(
            try await scene.folder().find("latest", now: Scene.morning + 3600).name == future.name
        )
        let real = try await scene.backUp().backup
        #expect(
            try await scene.folder().find("latest", now: Scene.morning + 3600).name == real.name
        )
        #expect(try await scene.folder().find(future.name).name == future.name)
    }

    @Test("brings back what was lost, and saves what it replaces")
    func undo() async throws {
        let scene = try await scene()
        let outcome = try await scene.restore()
        #expect(try scene.itemNames().contains("Apples"))
        let safety = try #require(outcome.safetyBackup)
        #expect(try await scene.list().count == 2)
        try await scene.restore(safety.displayName) { $0.makesSafetyBackup = false }
        #expect(try !scene.itemNames().contains("Apples"))
        #expect(try scene.leftovers() == [])
    }

    @Test("on a new machine makes the stores directory and the way to it")
    func newMachine() async throws {
        let scene = try await scene()
        let restore = scene.restoring()
        let place = scene.sandbox.path("Cache/new/machine/Stores")
        let outcome = try await restore.run(try await scene.folder().find("latest"), to: place)
        #expect(!outcome.replacesData)
        #expect(try GroceryStore(in: place).items().count == 12)
        #expect(try FileInfo(of: place).mode == FileInfo(of: scene.stores).mode)
    }

    @Test("as a trial says what it would do, and does nothing")
    func dryRun() async throws {
        let scene = try await scene()
        let before = try scene.sandbox.contents(of: "Stores")
        let outcome = try await scene.restore { $0.isDryRun = true }
        #expect(outcome.files == 1)
        #expect(outcome.replacesData)
        #expect(try scene.sandbox.contents(of: "Stores") == before)
        #expect(try scene.leftovers() == [])
    }

    @Test("elsewhere touches nothing else, and wants an empty place")
    func target() async throws {
        let scene = try await scene()
        let before = try scene.sandbox.contents(of: "Stores")
        let restore = scene.restoring()
        let backup = try await scene.folder().find("latest")
        let target = try scene.sandbox.directory("Cache/target")
        _ = try await restore.extract(backup, to: target)
        #expect(try GroceryStore(in: target).items().count == 12)
        await #expect(throws: RestoreError.self) { try await restore.extract(backup, to: target) }
        #expect(try scene.sandbox.contents(of: "Stores") == before)
    }

    @Test("elsewhere leaves alone what was put there meanwhile")
    func targetTaken() async throws {
        let scene = try await scene()
        let backup = try await scene.folder().find("latest")
        let target = try scene.sandbox.directory("Cache/target")
        let context = scene.context(meanwhile: { [scene] in
            try scene.sandbox.write([1], to: "Cache/target/precious")
        })
        let restore = scene.restoring(context: context)
        let error = await #expect(throws: RestoreError.self) {
            try await restore.extract(backup, to: target)
        }
        guard case .targetNotEmpty = error else {
            Issue.record("not refused: \(error?.description ?? "")")
            return
        }
        #expect(try scene.sandbox.read("Cache/target/precious") == [1])
        #expect(try Directory.open(target).names().count == 1)
    }

    /// The old stores or the new ones, whole, and nothing else but what may be left.
    private func expectWhole(_ scene: Scene, _ what: String, leaving: Set<String> = []) throws {
        let names = try scene.itemNames()
        #expect(names.count == (names.contains("Apples") ? 12 : 11), "\(what)")
        #expect(try Set(scene.leftovers()).isSubset(of: leaving), "\(what)")
    }

    @Test("that fails at any step leaves the old stores or the new", arguments: [true, false])
    func everyFault(canExchange: Bool) async throws {
        for effect in [FaultyFileSystem.Effect.notDone, .done] {
            for number in 1... {
                let scene = try await scene()
                let faulty = FaultyFileSystem(
                    failing: .call(number),
                    effect: effect,
                    isSwapSupported: canExchange
                )
                do {
                    try await scene.restore(fileSystem: faulty) { $0.makesSafetyBackup = false }
                } catch let error as RestoreError {
                    #expect(ExpectedStates.saysWhere(error), "\(error)")
                }
                let met = faulty.faultWasMet
                // The next command of any kind removes the remains of a failed clean-up.
                try await scene.recover()
                try expectWhole(
                    scene,
                    "step \(number), \(effect): \(faulty.calls)",
                    // Data that cannot be removed is kept and reported.
                    leaving: ["Stores_Old_2"]
                )
                if !met {
                    #expect(number > 10)
                    break
                }
            }
        }
    }

    @Test(
        "that is killed at any step is finished or undone by the next command",
        arguments: [true, false]
    )
    func everyCrash(canExchange: Bool) async throws {
        for effect in [FaultyFileSystem.Effect.notDone, .done] {
            for number in 1... {
                let scene = try await scene()
                // After the fault nothing works any more, so nothing is tidied up.
                let faulty = FaultyFileSystem(
                    failing: .call(number),
                    effect: effect,
                    staysBroken: true,
                    isSwapSupported: canExchange
                )
                do {
                    try await scene.restore(fileSystem: faulty) { $0.makesSafetyBackup = false }
                } catch is RestoreError {}
                let met = faulty.faultWasMet
                try await scene.recover()
                try expectWhole(scene, "step \(number), \(effect): \(faulty.calls)")
                if !met { break }
            }
        }
    }

    /// Half a store does not open; one of no bytes is no store at all.
    @Test(
        "of what does not open in its place puts back what was there, and keeps what was refused",
        arguments: [4096, 0]
    )
    func rollBack(kept: Int) async throws {
        for canExchange in [true, false] {
            let scene = try await scene()
            let fileSystem = DamagingFileSystem(
                FaultyFileSystem(isSwapSupported: canExchange),
                live: scene.stores,
                keeping: kept
            )
            let error = await #expect(throws: RestoreError.self) {
                try await scene.restore(fileSystem: fileSystem) { $0.makesSafetyBackup = false }
            }
            guard case .rolledBack(_, let refused) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(refused == scene.sandbox.path("Stores_FailedRestore"))
            #expect(try scene.itemNames().count == 11)
            #expect(try scene.leftovers() == ["Stores_FailedRestore"])
        }
    }

    @Test("that rolls back and is killed at any step of that puts back what was there")
    func everyCrashOfRollBack() async throws {
        for canExchange in [true, false] {
            for number in 1... {
                let scene = try await scene()
                let faulty = FaultyFileSystem(
                    failing: .call(number),
                    staysBroken: true,
                    isSwapSupported: canExchange
                )
                let fileSystem = DamagingFileSystem(faulty, live: scene.stores)
                await #expect(throws: RestoreError.self) {
                    try await scene.restore(fileSystem: fileSystem) { $0.makesSafetyBackup = false }
                }
                try await scene.recover()
                #expect(try scene.itemNames().count == 11, "step \(number)")
                #expect(
                    try Set(scene.leftovers()).isSubset(of: ["Stores_FailedRestore"]),
                    "step \(number)"
                )
                if !faulty.faultWasMet { break }
            }
        }
    }

    @Test("succeeds if what was replaced cannot be removed, and reports where it is")
    func immovable() async throws {
        let scene = try await scene()
        // The clean-up is the last removal but one, that of the journal.
        let trial = FaultyFileSystem()
        try await scene.restore(fileSystem: trial) { $0.makesSafetyBackup = false }
        _ = try GroceryStore(in: scene.stores).remove(name: "Apples")
        let faulty = FaultyFileSystem(
            failing: .callOf(.remove, trial.count(.remove) - 1),
            with: .notPermitted
        )
        try await scene.restore(fileSystem: faulty) { $0.makesSafetyBackup = false }
        try faulty.assertFaultWasMet()
        #expect(try scene.itemNames().count == 12)
        #expect(try scene.leftovers() == ["Stores_Old_2"])
        #expect(scene.told.contains { $0.contains("Stores_Old_2") })
        try await scene.backUp(at: Scene.morning + 600)
    }

    @Test("is not undone by an interruption after the exchange")
    func lateInterruption() async throws {
        for limit in 0... {
            let scene = try await scene()
            let restore = scene.restoring(context: scene.context(cancellingAfter: limit)) {
                $0.makesSafetyBackup = false
            }
            let backup = try await scene.folder().find("latest")
            do {
                _ = try await restore.run(backup, to: scene.stores)
                #expect(try scene.itemNames().count == 12)
                #expect(limit > 1)
                break
            } catch is CancellationError {
                #expect(try scene.itemNames().count == 11)
                #expect(try scene.leftovers() == [])
            }
        }
    }

    @Test("that cannot back up what it would replace changes nothing, and says how to go on")
    func noSafetyBackup() async throws {
        let scene = try await scene()
        let faulty = FaultyFileSystem(
            failing: .callOf(.move, 1),
            with: .readOnlyFileSystem,
            staysBroken: true
        )
        let restore = RestoreBackup(
            from: scene.folder(LocalFolder(scene.remotePath, fileSystem: faulty)),
            options: RestoreBackup.Options(backup: scene.options()),
            context: scene.context()
        )
        let backup = try await scene.folder().find("latest")
        let error = await #expect(throws: RestoreError.self) {
            try await restore.run(backup, to: scene.stores)
        }
        try faulty.assertFaultWasMet()
        #expect(
            error?.description.hasPrefix(
                "restore failed, your data is as it was: the present data cannot be backed up before it is replaced: "
            ) == true
        )
        #expect(error?.hint?.contains("--no-safety-backup") == true)
        #expect(try scene.itemNames().count == 11)
        #expect(try scene.leftovers() == [])
    }

    @Test("of an archive with nothing in it is refused")
    func nothingInIt() async throws {
        let scene = try await scene()
        try scene.sandbox.write(
            Array("PK\u{5}\u{6}".utf8) + [UInt8](repeating: 0, count: 18),
            to: "Remote/Empty Stores.zip"
        )
        await #expect(throws: RestoreError.self) { try await scene.restore("Empty") }
        #expect(try scene.itemNames().count == 11)
    }

    @Test("refuses to begin while names that it needs are taken by something else")
    func inTheWay() async throws {
        for name in ["Stores_New", "Stores_Old"] {
            let scene = try await scene()
            try scene.sandbox.write("mine", to: "\(name)/file")
            let error = await #expect(throws: RestoreError.self) { try await scene.restore() }
            #expect(error?.hint?.contains("mv ") == true)
            #expect(error?.description.contains("(in it: 'file'; last changed 20") == true)
            #expect(try scene.sandbox.read("\(name)/file") == Array("mine".utf8))
            #expect(try scene.itemNames().count == 11)
        }
    }

    @Test("takes an empty directory out of its way, and gives a full one another name if it may")
    func leftovers() async throws {
        for name in ["Stores_New", "Stores_Old"] {
            let scene = try await scene()
            try scene.sandbox.directory(name)
            try await scene.restore { $0.isDryRun = true }
            #expect(scene.sandbox.exists(name))
            try await scene.restore()
            #expect(try scene.itemNames().count == 12)
            #expect(try scene.leftovers() == [])
            try scene.sandbox.write("mine", to: "\(name)/file")
            for (minute, place) in [(1.0, "Stores_Old_2"), (2, "Stores_Old_3")] {
                try await scene.restore {
                    $0.setsAsideLeftovers = true
                    $0.backup.date = Scene.morning + 3600 + 60 * minute
                }
                #expect(try scene.sandbox.read("\(place)/file") == Array("mine".utf8))
                try scene.sandbox.write("mine", to: "\(name)/file")
            }
            await #expect(throws: RestoreError.self) {
                try await scene.restore { $0.isDryRun = true }
            }
        }
    }

    @Test("refuses while an application has a store open, and names it")
    func inUse() async throws {
        let scene = try await scene()
        let path = scene.stores.appending(GroceryStore.fileName)
        let writer = try StoreApplication(on: path, "SELECT * FROM item")
        let error = await #expect(throws: RestoreError.self) { try await scene.restore() }
        #expect(
            error?.description.contains("process \(writer.processIdentifier) (StoreWriter") == true
        )
        #expect(try await scene.list().count == 1)
        try await scene.restore { $0.force = true }
        #expect(try scene.itemNames().count == 12)
        writer.kill()
    }

    @Test("of a damaged archive is refused, whatever was damaged, and never gives other bytes")
    func damage() async throws {
        let scene = try await scene()
        let name = try #require(try await scene.list().first?.name)
        let good = try scene.sandbox.read("Remote/\(name)")
        let target = scene.sandbox.path("Cache/target")
        let restore = scene.restoring()
        let backup = try await scene.folder().find("latest")
        _ = try await restore.extract(backup, to: target)
        let whole = try scene.sandbox.contents(of: "Cache/target")
        var random = Pseudorandom(seed: 3)
        var refused = 0
        for _ in 0..<60 {
            var bad = good
            bad[Int.random(in: 0..<bad.count, using: &random)] ^=
                1 << UInt8.random(in: 0..<8, using: &random)
            try scene.sandbox.write(bad, to: "Remote/\(name)")
            try LocalFileSystem().remove(target)
            do {
                _ = try await restore.extract(backup, to: target)
                #expect(try scene.sandbox.contents(of: "Cache/target") == whole)
            } catch is RestoreError {
                refused += 1
                #expect(!scene.sandbox.exists("Cache/target"))
            }
        }
        #expect(refused > 30)
        // An empty file is no backup.
        for length in stride(from: 1, to: good.count, by: max(1, good.count / 25)) {
            try scene.sandbox.write(good.prefix(length), to: "Remote/\(name)")
            await #expect(throws: RestoreError.self) { try await scene.restore() }
        }
        #expect(try scene.itemNames().count == 11)
        #expect(try scene.leftovers() == [])
    }

    @Test("of a backup whose store is damaged is refused, unless there is nothing better")
    func damagedStore() async throws {
        let scene = try await scene()
        // A b-tree page that a count of rows does not look into, so the backup does not notice.
        let path = scene.stores.appending("other.sqlite")
        try StoreApplication(
            on: path,
            "CREATE TABLE t (x)",
            "CREATE INDEX i ON t (x)",
            "INSERT INTO t VALUES ('here')"
        ).kill()
        var bytes = try scene.sandbox.read("Stores/other.sqlite")
        let text = Array("here".utf8)
        let index = try #require(bytes.indices.last { bytes[$0...].starts(with: text) })
        bytes[index] = UInt8(ascii: "H")
        try scene.sandbox.write(bytes, to: "Stores/other.sqlite")
        try await scene.backUp(at: Scene.morning + 60)
        await #expect(throws: RestoreError.self) { try await scene.restore { $0.check = .full } }
        #expect(try scene.leftovers() == [])
        try await scene.restore {
            $0.check = .full
            $0.allowsDamage = true
        }
        #expect(try scene.sandbox.read("Stores/other.sqlite") == bytes)
    }
}

/// The state that an error of a restore may say it leaves.
enum ExpectedStates {
    static func saysWhere(_ error: RestoreError) -> Bool {
        switch error {
        case .restoreFailed, .rolledBack, .rollbackFailed: true
        default: false
        }
    }
}
