import Backups
import Files
import Foundation
import Stores
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Operations

/// One store that cannot be read costs that store, and what can be had of it is saved.
@Suite("Backups of stores that cannot be read")
struct UnopenedStoresTests {
    private let scene: Scene
    private let log = [0x37, 0x7F, 0x06, 0x82] + [UInt8](repeating: 3, count: 50_000)
    private let database = [UInt8](repeating: 1, count: 3_000_000)

    init() throws { scene = try Scene() }

    private func backUp(
        at date: Date = Scene.morning,
        meanwhile: @escaping @Sendable () throws -> Void = {}
    ) async throws -> CreateBackup.Outcome {
        var options = scene.options(at: date)
        options.busyTimeout = .zero
        return try await CreateBackup(
            of: scene.stores,
            to: scene.folder(),
            options: options,
            context: scene.context(meanwhile: meanwhile)
        ).run()
    }

    private func extract(to name: String = "Target") async throws {
        let restore = scene.restoring { $0.allowsDamage = true }
        let target = scene.sandbox.path(name)
        _ = try await restore.extract(try await scene.folder().find("latest"), to: target)
    }

    private func application(_ name: String, _ statements: String...) throws -> StoreApplication {
        let application = try StoreApplication(on: scene.stores.appending(name))
        for statement in statements { try application.run(statement) }
        return application
    }

    @Test("A backup of an encrypted store has its log of the same moment")
    func encrypted() async throws {
        try scene.sandbox.write(database, to: "Stores/chat.db")
        try scene.sandbox.write(log, to: "Stores/chat.db-wal")
        try scene.sandbox.write([UInt8](repeating: 0, count: 32_768), to: "Stores/chat.db-shm")
        try scene.sandbox.write("", to: "Stores/new.db")
        try scene.sandbox.write([UInt8](repeating: 0, count: 600), to: "Stores/new.db-journal")
        let outcome = try await backUp()
        #expect(outcome.problems == [])
        try await extract()
        #expect(try scene.sandbox.read("Target/chat.db") == database)
        #expect(try scene.sandbox.read("Target/chat.db-wal") == log)
        #expect(!scene.sandbox.exists("Target/chat.db-shm"))
        #expect(scene.sandbox.exists("Target/new.db-journal"))
    }

    @Test(
        "A backup reads an encrypted store again if it changed, and calls it torn if it always changes"
    )
    func encryptedAndWritten() async throws {
        try scene.sandbox.write(database, to: "Stores/chat.db")
        try scene.sandbox.write(log, to: "Stores/chat.db-wal")
        let path = scene.stores.appending("chat.db").string
        let writes = Mutex(0)
        func backUp(_ minute: Double, writing limit: Int) async throws -> [Problem] {
            writes.withLock { $0 = 0 }
            return try await self.backUp(at: Scene.morning + 60 * minute) {
                let count = writes.withLock { count in
                    count += 1
                    return count
                }
                guard count <= limit, let file = FileHandle(forUpdatingAtPath: path) else { return }
                try file.seek(toOffset: UInt64(count % 100))
                try file.write(contentsOf: [UInt8(count % 251) ^ 0xFF])
                try file.close()
            }.problems
        }
        #expect(try await backUp(0, writing: 8) == [])
        try await extract()
        #expect(try scene.sandbox.read("Target/chat.db") == scene.sandbox.read("Stores/chat.db"))
        let problems = try await backUp(1, writing: .max)
        #expect(problems.map(\.kind) == [.neverStill])
        #expect(problems.map(\.path) == ["chat.db"])
    }

    @Test("A backup cuts an encrypted store again if its log appears during the backup")
    func newLog() async throws {
        try scene.sandbox.write(database, to: "Stores/chat.db")
        let (sandbox, log) = (scene.sandbox, log)
        var context = scene.context()
        // The cut is made by then.
        context.report = { event in
            if case .began(.reading, _) = event {
                _ = try? sandbox.write(log, to: "Stores/chat.db-wal")
            }
        }
        let outcome = try await scene.backUp(context: context)
        #expect(outcome.problems == [])
        try await extract()
        #expect(try scene.sandbox.read("Target/chat.db-wal") == log)
    }

    @Test("A backup of a store that is locked all the time saves its files and all others")
    func locked() async throws {
        let application = try application("busy.sqlite", "CREATE TABLE t (x)", "BEGIN EXCLUSIVE")
        try application.run("INSERT INTO t VALUES (1)")
        let outcome = try await backUp()
        #expect(outcome.problems.map(\.kind) == [.damagedStore])
        #expect(outcome.problems.first?.description.contains("locked by another process") == true)
        #expect(outcome.stores == 1)
        try await extract()
        let bytes = try scene.sandbox.read("Stores/busy.sqlite")
        #expect(try scene.sandbox.read("Target/busy.sqlite") == bytes)
        #expect(scene.sandbox.exists("Target/busy.sqlite-journal"))
        #expect(scene.sandbox.exists("Target/Grocery-Dude.sqlite"))
        try application.run("COMMIT")
        try application.end()
    }

    @Test("A backup of a store whose log has no readable index saves its files and all others")
    func strangeIndex() async throws {
        let application = try application(
            "a.sqlite",
            "PRAGMA journal_mode = wal",
            "CREATE TABLE t (x)"
        )
        application.kill()
        try LocalFileSystem().remove(scene.stores.appending("a.sqlite-shm"))
        try scene.sandbox.directory("Stores/a.sqlite-shm")
        let outcome = try await backUp()
        #expect(outcome.problems.map(\.path) == ["a.sqlite"])
        #expect(outcome.stores == 1)
        try await extract()
        for name in ["a.sqlite", "a.sqlite-wal"] {
            #expect(
                try scene.sandbox.read("Target/\(name)") == scene.sandbox.read("Stores/\(name)")
            )
        }
    }

    /// Makes a store whose application was killed, with a log in which the last of three rows is damaged; returns the log.
    private func damageLog(of name: String) throws -> [UInt8] {
        let application = try application(
            name,
            "PRAGMA journal_mode = wal",
            "CREATE TABLE t (x)",
            "INSERT INTO t VALUES (1)",
            "INSERT INTO t VALUES (2)",
            "INSERT INTO t VALUES (3)"
        )
        application.kill()
        try LocalFileSystem().remove(scene.stores.appending("\(name)-shm"))
        var log = try scene.sandbox.read("Stores/\(name)-wal")
        log[32 + 3 * 4120 + 200] ^= 1
        try scene.sandbox.write(log, to: "Stores/\(name)-wal")
        return log
    }

    @Test(
        "A backup of a store that cannot be read to its end has the log under a name SQLite ignores"
    )
    func damagedLog() async throws {
        let log = try damageLog(of: "a.sqlite")
        try scene.sandbox.write("mine", to: "Stores/a.sqlite-wal.damaged")
        let outcome = try await backUp()
        #expect(outcome.problems.map(\.kind) == [.damagedStore])
        #expect(outcome.problems.first?.reason.contains("'a.sqlite-wal.damaged-2'") == true)
        #expect(outcome.stores == 2)
        try await scene.restore { $0.makesSafetyBackup = false }
        #expect(try scene.sandbox.read("Stores/a.sqlite-wal.damaged") == Array("mine".utf8))
        #expect(try scene.sandbox.read("Stores/a.sqlite-wal.damaged-2") == log)
        #expect(!scene.sandbox.exists("Stores/a.sqlite-wal"))
        // It is an ordinary file there.
        #expect(try await backUp(at: Scene.morning + 60).problems == [])
    }

    @Test("A backup of a store that cannot be read shortens the log's name if it is too long")
    func damagedLogOfLongName() async throws {
        let name = String(repeating: "w", count: 241) + ".db"
        let log = try damageLog(of: name)
        #expect(try await backUp().problems.map(\.kind) == [.damagedStore])
        try await scene.restore { $0.makesSafetyBackup = false }
        let names = try Directory.open(scene.stores).names().map(\.description)
        let saved = try #require(names.first { $0.hasSuffix("-wal.damaged") })
        #expect(try scene.sandbox.read("Stores/\(saved)") == log)
    }

    @Test("A backup cuts a store whose writer takes no locks again, or reports it as torn")
    func unseenWriter() async throws {
        let name = "file:\(scene.stores.appending("a.sqlite"))?nolock=1"
        let application = try StoreApplication("sql", name)
        try application.run("CREATE TABLE t (x)", "INSERT INTO t VALUES (randomblob(2000000))")
        nonisolated(unsafe) let writer = application
        let left = Mutex(6)
        let write: @Sendable () throws -> Void = {
            try left.withLock { left in
                guard left > 0 else { return }
                left -= 1
                try writer.run("UPDATE t SET x = randomblob(2000000)")
            }
        }
        #expect(try await backUp(meanwhile: write).problems == [])
        left.withLock { $0 = .max }
        let problems = try await backUp(at: Scene.morning + 60, meanwhile: write).problems
        // Its rows are not known then, either.
        #expect(problems.map(\.kind) == [.anomaly, .neverStill])
        #expect(problems.last?.path == "a.sqlite")
        left.withLock { $0 = 0 }
        try scene.sandbox.directory("Stores/a.sqlite.lock")
        _ = try await backUp(at: Scene.morning + 120)
        #expect(scene.told.contains { $0.hasPrefix("'a.sqlite.lock' exists") })
        try application.end()
    }

    @Test(
        "A backup of a store in a newer SQLite's language is whole, can be restored, and is no anomaly"
    )
    func newerWords() async throws {
        let application = try application(
            "a.sqlite",
            "CREATE TABLE t (x)",
            "CREATE TABLE u (x); INSERT INTO u VALUES (1)"
        )
        try application.run("INSERT INTO t VALUES (1), (2), (3)")
        #expect(try await backUp().problems == [])
        try application.run(
            "PRAGMA writable_schema = ON",
            "UPDATE sqlite_master SET sql = 'CREATE TABLE t (x, NEW (y z))' WHERE name = 't'"
        )
        try application.end()
        var options = scene.options(at: Scene.morning + 60)
        options.checksStores = true
        options.isStrict = true
        let outcome = try await CreateBackup(
            of: scene.stores,
            to: scene.folder(),
            options: options,
            context: scene.context()
        ).run()
        #expect(outcome.problems == [])
        #expect(scene.told.contains { $0.hasPrefix("'a.sqlite': not checked: SQLite ") })
        let bytes = try scene.sandbox.read("Stores/a.sqlite")
        try await scene.restore { $0.check = .full }
        #expect(try scene.sandbox.read("Stores/a.sqlite") == bytes)
    }
}
