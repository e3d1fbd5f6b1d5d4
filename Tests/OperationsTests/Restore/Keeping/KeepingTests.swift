import Files
import Foundation
import Sample
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("What a backup left out, when it is restored")
struct KeepingTests {
    @Test("stays as it is, the very same files", arguments: KeptScene.Exchange.allCases)
    func stays(exchange: KeptScene.Exchange) async throws {
        let kept = try await KeptScene(exchange)
        _ = try await kept.restore(through: exchange.fileSystem())
        try kept.expectWhole("restored", hasNewRows: true)
        #expect(try kept.scene.leftovers() == [])
        // The store that stays has the rows of its log, and that of the backup no log of another.
        let rows = try Tool.check(
            "sqlite3",
            [kept.scene.sandbox.path("Stores/other.db").string, "SELECT count(*) FROM t"]
        )
        #expect(rows == "3\n")
    }

    @Test(
        "stays whatever step of the restore fails, and however a recovery ends",
        arguments: KeptScene.Exchange.allCases,
        [FaultyFileSystem.Effect.notDone, .done]
    )
    func everyStep(exchange: KeptScene.Exchange, effect: FaultyFileSystem.Effect) async throws {
        let model = try await KeptScene(exchange)
        for staysBroken in [false, true] {
            for number in KeptScene.steps {
                let kept = try KeptScene(copying: model)
                let faulty = exchange.fileSystem(
                    failing: .call(number),
                    effect: effect,
                    staysBroken: staysBroken
                )
                _ = try? await kept.restore(through: faulty) { $0.makesSafetyBackup = false }
                guard faulty.faultWasMet else { break }
                let what = "\(exchange), \(effect) \(staysBroken) \(faulty.calls[number - 1])"
                try await kept.scene.recover()
                try kept.expectWhole(what)
                let paths = RestorePaths(
                    live: kept.scene.stores,
                    exchange == .inside ? .inside : .beside
                )
                #expect(try !paths.hasTraces(), "\(what): there are traces")
            }
        }
    }

    @Test("stays when a recovery is killed too", arguments: KeptScene.Exchange.allCases)
    func recoveryKilled(exchange: KeptScene.Exchange) async throws {
        let model = try await KeptScene(exchange)
        for number in KeptScene.steps {
            let kept = try KeptScene(copying: model)
            // Amid the moves of what is kept.
            let first = exchange.fileSystem(
                failing: .callOf(.move, exchange == .beside ? 4 : exchange == .inside ? 18 : 5),
                effect: .done,
                staysBroken: true
            )
            await #expect(throws: RestoreError.self) {
                try await kept.restore(through: first) { $0.makesSafetyBackup = false }
            }
            #expect(!kept.scene.sandbox.exists("Stores/x.nosync"), "killed too late")
            let second = exchange.fileSystem(
                failing: .call(number),
                effect: .done,
                staysBroken: true
            )
            try? await RecoverRestore(
                of: kept.scene.stores,
                context: kept.scene.context(),
                fileSystem: second
            ).run()
            try await kept.scene.recover()
            try kept.expectWhole("\(exchange), recovery killed at \(number)", hasNewRows: true)
            guard second.faultWasMet else { break }
        }
    }

    @Test("is on the disk before the old data goes, also if a run was killed that had moved it")
    func flushed() async throws {
        let origin = try await KeptScene()
        let paths = { (kept: KeptScene) in RestorePaths(live: kept.scene.stores, .beside) }
        let model = try KeptScene(copying: origin)
        let plain = FaultyFileSystem()
        _ = try await model.restore(through: plain) { $0.makesSafetyBackup = false }
        let old = paths(model).old
        func isMove(_ call: FaultyFileSystem.Call) -> Bool {
            call.verb == .move && call.path != old && call.path.starts(with: old)
        }
        let last = try #require(plain.calls.lastIndex(where: isMove))
        let kept = try KeptScene(copying: origin)
        let killed = FaultyFileSystem(failing: .call(last + 1), effect: .done, staysBroken: true)
        await #expect(throws: (any Error).self) {
            try await kept.restore(through: killed) { $0.makesSafetyBackup = false }
        }
        let recovery = FaultyFileSystem()
        _ = try await RecoverRestore(
            of: kept.scene.stores,
            context: kept.scene.context(),
            fileSystem: recovery
        ).run()
        let moved = killed.calls.filter {
            $0.verb == .move && $0.path.starts(with: paths(kept).old)
                && $0.path != paths(kept).old
        }
        let live = Set(
            moved.map { call in
                var parent = call.path.removingLastComponent()
                let isBelow = parent.removePrefix(paths(kept).old)
                #expect(isBelow)
                return kept.scene.stores.pushing(parent)
            }
        )
        #expect(live.count > 1)
        let synced = recovery.calls.prefix { $0.verb != .remove }.filter { $0.verb == .sync }
        #expect(live.subtracting(synced.map(\.path)).isEmpty, "\(recovery.calls)")
        try kept.expectWhole("killed before the flush", hasNewRows: true)
    }

    @Test("goes back when what was restored is refused", arguments: KeptScene.Exchange.allCases)
    func rolledBack(exchange: KeptScene.Exchange) async throws {
        let kept = try await KeptScene(exchange)
        await #expect(throws: RestoreError.self) {
            try await kept.restore(through: exchange.fileSystem()) {
                $0.application.verify = ["false"]
            }
        }
        try kept.expectWhole("rolled back", hasNewRows: false)
    }

    @Test("goes back whatever step of the roll back fails", arguments: KeptScene.Exchange.allCases)
    func everyStepBack(exchange: KeptScene.Exchange) async throws {
        let plain = exchange.fileSystem()
        let origin = try await KeptScene(exchange)
        let model = try KeptScene(copying: origin)
        _ = try? await model.restore(through: plain) {
            $0.application.verify = ["false"]
            $0.makesSafetyBackup = false
        }
        for number in KeptScene.steps.prefix(while: { $0 <= plain.calls.count }) {
            let kept = try KeptScene(copying: origin)
            let faulty = exchange.fileSystem(
                failing: .call(number),
                effect: .done,
                staysBroken: true
            )
            await #expect(throws: (any Error).self) {
                try await kept.restore(through: faulty) {
                    $0.application.verify = ["false"]
                    $0.makesSafetyBackup = false
                }
            }
            try await kept.scene.recover()
            try kept.expectWhole("\(exchange), killed at \(faulty.calls[number - 1])")
        }
    }

    @Test("is not in the safety backup; all that is replaced is, whatever the user leaves out")
    func safetyBackup() async throws {
        let kept = try await KeptScene()
        let outcome = try await kept.restore {
            $0.backup.exclusions.patterns = [
                try! PathPattern("later"), try! PathPattern("*.sqlite"),
            ]
        }
        let safety = try #require(outcome.safetyBackup)
        let shown = try await ShowBackup(in: kept.scene.folder(), context: kept.scene.context())
            .run(safety.name)
        #expect(
            Set(shown.files.map(\.path)) == [
                "Grocery-Dude.sqlite", "directory", "directory/note", "directory/later", "new",
                "new/only",
            ]
        )
        _ = try await kept.restore(safety.name) { $0.backup.date = Scene.morning + 7200 }
        try kept.expectWhole("undone", hasNewRows: false)
    }

    @Test("is all replaced by a backup that left out nothing, and saved first")
    func noRules() async throws {
        let kept = try await KeptScene()
        let plain = try await kept.scene.backUp(at: Scene.morning + 60).backup
        try kept.scene.sandbox.write("new", to: "Stores/late.tmp")
        let safety = try await kept.restore(plain.name).safetyBackup
        #expect(!kept.scene.sandbox.exists("Stores/late.tmp"))
        #expect(kept.scene.sandbox.exists("Stores/c.tmp"))
        _ = try await kept.restore(safety?.name) { $0.backup.date = Scene.morning + 7200 }
        #expect(kept.scene.sandbox.exists("Stores/late.tmp"))
    }

    @Test("is replaced by what the backup has of the same name, which is reported and saved")
    func overruled() async throws {
        let scene = try Scene(withStore: false)
        try Fixtures.copy("stores/core-data", into: scene.sandbox, as: "Stores")
        let support = "Stores/.Model_SUPPORT/_EXTERNAL_DATA"
        let name = try #require(Directory.open(scene.sandbox.path(support)).names().first)
        let file = "\(support)/\(name)"
        let original = try scene.sandbox.read(file)
        var options = scene.options()
        options.exclusions.patterns = [try PathPattern(".*")]
        let backup = try await CreateBackup(
            of: scene.stores,
            to: scene.folder(),
            options: options,
            context: scene.context()
        ).run().backup
        try LocalFileSystem().write(Array("other".utf8), to: scene.sandbox.path(file))
        try scene.sandbox.write("kept", to: "\(support)/mine")
        let safety = try #require(try await scene.restore(backup.name).safetyBackup)
        #expect(try scene.sandbox.read(file) == original)
        #expect(try scene.sandbox.read("\(support)/mine") == Array("kept".utf8))
        #expect(scene.told.contains { $0.contains("\(name)' is replaced: the backup has it") })
        let target = scene.sandbox.path("Cache/Target")
        _ = try await scene.restoring().extract(safety, to: target)
        #expect(
            try scene.sandbox.read("Cache/Target/.Model_SUPPORT/_EXTERNAL_DATA/\(name)")
                == Array("other".utf8)
        )
    }

    /// A file system before whose exchange something happens.
    private struct Meddled: FileSystem {
        var base = LocalFileSystem()
        var beforeSwap: @Sendable () throws -> Void

        func createDirectory(_ path: FilePath) throws { try base.createDirectory(path) }
        func move(_ path: FilePath, to newPath: FilePath) throws {
            try base.move(path, to: newPath)
        }
        func swap(_ first: FilePath, _ second: FilePath) throws -> Bool {
            try beforeSwap()
            return try base.swap(first, second)
        }
        func remove(_ path: FilePath) throws { try base.remove(path) }
        func write(_ bytes: [UInt8], to path: FilePath) throws { try base.write(bytes, to: path) }
        func sync(_ path: FilePath) throws { try base.sync(path) }
    }

    @Test("stays if it comes to be at the last moment")
    func late() async throws {
        let kept = try await KeptScene()
        let sandbox = kept.scene.sandbox
        let meddled = Meddled {
            try sandbox.write("late", to: "Stores/late.tmp")
            try sandbox.write("late", to: "Stores/directory/of/late.tmp")
            try sandbox.write("late", to: "Stores/cache/late")
        }
        _ = try await kept.restore(through: meddled)
        for path in ["late.tmp", "directory/of/late.tmp", "cache/late"] {
            #expect(sandbox.exists("Stores/\(path)"), "\(path)")
        }
    }

    @Test("is kept beside what an application has made under its name after a crash")
    func madeAgain() async throws {
        let kept = try await KeptScene()
        let sandbox = kept.scene.sandbox
        let faulty = FaultyFileSystem(failing: .callOf(.move, 1), effect: .done, staysBroken: true)
        await #expect(throws: RestoreError.self) {
            try await kept.restore(through: faulty) { $0.makesSafetyBackup = false }
        }
        #expect(!sandbox.exists("Stores/cache"))
        try sandbox.write("anew", to: "Stores/cache/.b")
        try sandbox.write("anew", to: "Stores/c.tmp")
        try await kept.scene.recover()
        #expect(try sandbox.read("Stores/cache/.b") == Array("anew".utf8))
        #expect(try sandbox.read("Stores/cache/deep/a") == Array("kept cache/deep/a".utf8))
        #expect(try sandbox.read("Stores_Old_2/cache/.b") == Array("kept cache/.b".utf8))
        #expect(try sandbox.read("Stores_Old_2/c.tmp") == Array("kept c.tmp".utf8))
        #expect(kept.scene.told.contains { $0.contains("Stores_Old_2") })
        #expect(try kept.scene.itemNames().contains("Apples"))
    }

    @Test(
        "is of no concern to a check: a damaged store among it makes no difference, killed or not",
        arguments: 0...8
    )
    func damaged(move: Int) async throws {
        let bytes = Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0xFF, count: 8_192)
        var outcomes: [[String]] = []
        for isDamaged in [false, true] {
            let kept = try await KeptScene()
            for path in ["cache/bad.sqlite", "a.tmp"] {
                let content = isDamaged ? bytes : Array("no store".utf8)
                try kept.scene.sandbox.write(content, to: "Stores/\(path)")
            }
            let faulty = FaultyFileSystem(
                failing: move == 0 ? nil : .callOf(.move, move),
                effect: .done,
                staysBroken: true
            )
            _ = try? await kept.restore(through: faulty) { $0.makesSafetyBackup = false }
            try await kept.scene.recover()
            #expect(kept.scene.sandbox.exists("Stores/a.tmp"))
            outcomes.append(try kept.scene.itemNames().sorted())
        }
        #expect(outcomes[0] == outcomes[1])
    }

    @Test("by rules that a newer version wrote and this one does not know is an error")
    func unknownRules() throws {
        let text = #"{"patterns":["a","["],"caches":false,"count":0,"paths":[],"more":1}"#
        let excluded = try JSONDecoder().decode(Excluded.self, from: Data(text.utf8))
        let error = #expect(throws: PathPatternError.self) { try excluded.rules() }
        #expect(error?.pattern == "[")
    }

    @Test("is in the restore journal byte for byte")
    func journal() throws {
        var journal = RestoreJournal(phase: .settingAside, backup: "b")
        journal.keptPaths = [try RelativePath("a/b"), try RelativePath(validating: [0xFF])]
        let again = try JSONDecoder().decode(
            RestoreJournal.self,
            from: JSONEncoder().encode(journal)
        )
        #expect(again.keptPaths == journal.keptPaths && again.keptPaths.count == 2)
    }
}
