import Files
import Foundation
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

/// With a second process that opens the stores between a crash of a restore and the next command.
@Suite("Recovering a restore under an application")
struct RecoverUnderUseTests {
    /// A restore of one row over two that was killed when the store that it restored was in place.
    private struct Stage {
        let scene: Scene
        let paths: RestorePaths
        var path: FilePath { scene.stores.appending("app.sqlite") }

        init(_ layout: RestorePaths.Layout) async throws {
            scene = try Scene(withStore: false)
            paths = RestorePaths(live: scene.stores, layout)
            try scene.sandbox.directory("Stores")
            var application = try StoreApplication(on: path, "PRAGMA journal_mode = wal")
            try application.run("CREATE TABLE t (x)", Self.insert)
            try application.end()
            try await scene.backUp()
            application = try open()
            try application.run(Self.insert)
            try application.end()
            if layout == .inside {
                try scene.sandbox.write("x", to: "Stores/\(StoresDirectory.restoreArea)/kept")
            }
            let faulty = FaultyFileSystem(
                failing: .callOf(.move, layout == .inside ? 2 : 1),
                effect: .done,
                staysBroken: true
            )
            await #expect(throws: RestoreError.self) {
                try await scene.restore(fileSystem: faulty) { $0.makesSafetyBackup = false }
            }
            try faulty.assertFaultWasMet()
            #expect(try paths.hasTraces())
        }

        static let insert = "INSERT INTO t VALUES (1)"

        func open() throws -> StoreApplication { try StoreApplication(on: path) }

        /// Has an application see so many rows.
        func expectRows(_ count: Int, in application: StoreApplication) throws {
            try application.run(
                "CREATE TEMP TABLE seen (n CHECK (n = \(count)))",
                "INSERT INTO seen SELECT count(*) FROM t",
                "DROP TABLE seen"
            )
        }

        /// Makes nonsense of the schema, whoever has the store open.
        func damage() throws {
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path.string))
            defer { try? file.close() }
            try file.seek(toOffset: 100)
            try file.write(contentsOf: Data(repeating: 0xFF, count: 3000))
        }

        func expectFinished() throws {
            #expect(scene.told.contains { $0.contains("finished the restore") })
            #expect(try !paths.hasTraces())
            #expect(try scene.leftovers() == [])
            #expect(!scene.sandbox.exists("Stores/\(StoresDirectory.restoreArea)/FailedRestore"))
        }

        /// Expects the next command to be refused, with nothing moved.
        func expectRefused(
            _ context: OperationContext? = nil,
            as isExpected: (RestoreError) -> Bool
        ) async throws {
            let before = try scene.sandbox.contents(of: ".").paths
            let journal = try #require(try RestoreJournal.read(paths.journal))
            let recovery = RecoverRestore(of: scene.stores, context: context ?? scene.context())
            let error = await #expect(throws: RestoreError.self) { try await recovery.run() }
            #expect(error.map(isExpected) == true, "\(String(describing: error))")
            #expect(error?.description.contains("the interrupted restore") == true)
            #expect(error?.hint?.contains("run any command") == true)
            #expect(try scene.sandbox.contents(of: ".").paths == before)
            #expect(try RestoreJournal.read(paths.journal)?.phase == journal.phase)
        }
    }

    @Test("that is idle finishes it, and keeps its rows", arguments: RestorePaths.Layout.allCases)
    func idle(layout: RestorePaths.Layout) async throws {
        let stage = try await Stage(layout)
        let application = try stage.open()
        try application.run(Stage.insert)
        try await stage.scene.recover()
        try stage.expectFinished()
        try stage.expectRows(2, in: application)
        try application.end()
    }

    @Test("that never stops writing finishes it too", arguments: RestorePaths.Layout.allCases)
    func writing(layout: RestorePaths.Layout) async throws {
        let stage = try await Stage(layout)
        let writer = try StoreApplication("bank", stage.path.string, "wal")
        try await stage.scene.recover()
        try stage.expectFinished()
        try writer.end()
        let application = try stage.open()
        try stage.expectRows(1, in: application)
        try application.run("CREATE TEMP TABLE sum (n CHECK (n = 200000))")
        try application.run("INSERT INTO sum SELECT sum(balance) FROM account")
        try application.end()
    }

    @Test(
        "leaves all as it is where the stores cannot be looked at, until they can",
        arguments: RestorePaths.Layout.allCases
    )
    func environment(layout: RestorePaths.Layout) async throws {
        let stage = try await Stage(layout)
        let killed = try stage.open()
        try killed.run(Stage.insert)
        killed.kill()
        // As a loss of power may leave it.
        try LocalFileSystem().remove(FilePath(stage.path.string + "-shm"))
        // To read the row that is in the log takes a copy.
        var context = stage.scene.context()
        context.scratch = stage.scene.sandbox.path("Nowhere")
        try await stage.expectRefused(context) {
            if case .unsettled(_, _, is FileError) = $0 { true } else { false }
        }
        let application = try stage.open()
        try application.run("PRAGMA locking_mode = exclusive")
        try application.run(Stage.insert)
        try await stage.expectRefused {
            if case .unsettled(_, _, StoreError.busy) = $0 { true } else { false }
        }
        try application.end()
        try await stage.scene.recover()
        try stage.expectFinished()
        let last = try stage.open()
        try stage.expectRows(3, in: last)
        try last.end()
    }

    @Test(
        "undoes it for a damaged store only once nobody has that open",
        arguments: RestorePaths.Layout.allCases
    )
    func damaged(layout: RestorePaths.Layout) async throws {
        let stage = try await Stage(layout)
        let application = try stage.open()
        try application.run("SELECT * FROM t")
        try stage.damage()
        func isInUse(_ error: RestoreError) -> Bool {
            guard case .refusedInUse(_, _, _, RestoreError.storesInUse(_, let users)) = error
            else { return false }
            return users.map(\.process) == [application.processIdentifier]
        }
        try await stage.expectRefused(as: isInUse)
        // It may have been decided before the crash.
        var journal = try #require(try RestoreJournal.read(stage.paths.journal))
        let phase = journal.phase
        journal.phase = .takingOut
        try journal.write(to: stage.paths.journal, with: LocalFileSystem())
        try await stage.expectRefused(as: isInUse)
        journal.phase = phase
        try journal.write(to: stage.paths.journal, with: LocalFileSystem())
        application.kill()
        try await stage.scene.recover()
        #expect(stage.scene.told.contains { $0.contains("undid the restore") })
        let old = try stage.open()
        try stage.expectRows(2, in: old)
        try old.end()
    }

    @Test("keeps a damaged store that was to be restored all the same")
    func allowedDamage() async throws {
        let stage = try await Stage(.beside)
        try stage.damage()
        var journal = try #require(try RestoreJournal.read(stage.paths.journal))
        #expect(!journal.allowsDamage)
        journal.allowsDamage = true
        try journal.write(to: stage.paths.journal, with: LocalFileSystem())
        try await stage.scene.recover()
        try stage.expectFinished()
    }

    @Test("says that the application was stopped, and is to be started")
    func stopped() async throws {
        let stage = try await Stage(.beside)
        var journal = try #require(try RestoreJournal.read(stage.paths.journal))
        #expect(!journal.isApplicationStopped)
        journal.isApplicationStopped = true
        try journal.write(to: stage.paths.journal, with: LocalFileSystem())
        try await stage.scene.recover()
        try stage.expectFinished()
        #expect(stage.scene.told.last?.contains("the application was stopped") == true)
        try stage.scene.sandbox.directory("Cache")
        // A restore writes that while it is so.
        func copy(_ name: String) -> String {
            "cp '\(stage.paths.journal)' '\(stage.scene.sandbox.path("Cache/\(name)"))'"
        }
        try await stage.scene.restore {
            $0.makesSafetyBackup = false
            $0.allowsDamage = true
            $0.application = ApplicationCommands(
                stop: [copy("stop")],
                start: [copy("start")],
                verify: [copy("verify")]
            )
        }
        let flags = try ["stop", "start", "verify"].map {
            try RestoreJournal.read(stage.scene.sandbox.path("Cache/\($0)"))
        }
        #expect(flags.map { $0?.isApplicationStopped } == [true, true, false])
        #expect(flags.map { $0?.allowsDamage } == [true, true, true])
    }

    @Test(
        "says so at least once, wherever it is killed itself",
        arguments: RestorePaths.Layout.allCases,
        [false, true]
    )
    func stoppedAndKilled(layout: RestorePaths.Layout, isUnreadable: Bool) async throws {
        for number in 1... {
            let stage = try await Stage(layout)
            var journal = try #require(try RestoreJournal.read(stage.paths.journal))
            journal.isApplicationStopped = true
            try journal.write(to: stage.paths.journal, with: LocalFileSystem())
            if isUnreadable { try stage.damage() }
            let faulty = FaultyFileSystem(
                failing: .call(number),
                effect: .done,
                staysBroken: true
            )
            let recovery = RecoverRestore(
                of: stage.scene.stores,
                context: stage.scene.context(),
                fileSystem: faulty
            )
            let isKilled = await (try? recovery.run()) == nil
            try await stage.scene.recover()
            let told = stage.scene.told
            #expect(told.contains { $0.contains("the application was stopped") }, "\(number)")
            #expect(told.contains { $0.contains("was interrupted: start it") }, "\(number)")
            #expect(try stage.scene.leftovers().allSatisfy { $0.contains("FailedRestore") })
            guard isKilled else { return #expect(number > 5) }
            try faulty.assertFaultWasMet()
        }
    }
}
