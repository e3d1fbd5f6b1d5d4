import Files
import Foundation
import Remotes
import Stores
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

/// With a second process that has the stores open.
@Suite("Stores in use")
struct StoresInUseTests {
    private let scene: Scene
    private let path: FilePath

    init() throws {
        scene = try Scene(withStore: false)
        try scene.sandbox.directory("Stores")
        path = scene.stores.appending("app.sqlite")
    }

    /// The rows that a backup has.
    private func rows(of backup: Backup) async throws -> Int64? {
        let restore = scene.restoring()
        let target = scene.sandbox.path("Cache/look")
        try LocalFileSystem().remove(target)
        _ = try await restore.extract(backup, to: target)
        let archive = try ArchivedBackup(
            scene.remotePath.appending(backup.name),
            name: backup.name,
            keys: .none
        )
        return archive.header?.stores.first?.tables.first { $0.name == "t" }?.rows
    }

    @Test(
        "are backed up as they were before a transaction that is still open, and it can go on",
        arguments: ["wal", "delete", "truncate", "persist"]
    )
    func longTransaction(journal: String) async throws {
        let writer = try StoreApplication(
            on: path,
            "PRAGMA journal_mode = \(journal)",
            "CREATE TABLE t (x)",
            "INSERT INTO t VALUES (1)",
            "BEGIN IMMEDIATE",
            "INSERT INTO t VALUES (2)"
        )
        let outcome = try await scene.backUp()
        #expect(outcome.problems == [])
        #expect(try await rows(of: outcome.backup) == 1)
        try writer.run("INSERT INTO t VALUES (3)", "COMMIT")
        let next = try await scene.backUp(at: Scene.morning + 60)
        #expect(try await rows(of: next.backup) == 3)
        writer.kill()
    }

    @Test("that a writer has for itself are waited for, and named if it never lets go")
    func exclusive() async throws {
        let writer = try StoreApplication(
            on: path,
            "PRAGMA journal_mode = delete",
            "CREATE TABLE t (x)",
            "BEGIN EXCLUSIVE",
            "INSERT INTO t VALUES (1)"
        )
        var options = scene.options()
        options.busyTimeout = .milliseconds(1)
        let impatient = CreateBackup(
            of: scene.stores,
            to: scene.folder(),
            options: options,
            context: scene.context()
        )
        let partial = try await impatient.run()
        #expect(partial.problems.map(\.path) == ["app.sqlite"])
        #expect(partial.problems.first?.reason.contains("locked") == true, "\(partial.problems)")
        #expect(try scene.leftovers() == [])
        // Patience is asked whether to go on before every try: the writer ends in the middle.
        // Only the operation's own thread asks, while this one waits for it.
        nonisolated(unsafe) let application = writer
        let tries = Tries()
        let context = scene.context {
            if tries.next() == 6 { try application.run("COMMIT") }
        }
        let outcome = try await scene.backUp(context: context)
        #expect(try await rows(of: outcome.backup) == 1)
        writer.kill()
    }

    @Test(
        "by a reader that never ends are backed up all the same, with what is newer than it reads"
    )
    func endlessReader() async throws {
        for journal in ["delete", "wal"] {
            let writer = try StoreApplication(
                on: path,
                "PRAGMA journal_mode = \(journal)",
                "CREATE TABLE IF NOT EXISTS t (x)",
                "INSERT INTO t VALUES (1)"
            )
            let reader = try StoreApplication(on: path, "BEGIN", "SELECT count(*) FROM t")
            if journal == "wal" { try writer.run("INSERT INTO t VALUES (2)") }
            let outcome = try await scene.backUp()
            #expect(outcome.problems == [])
            #expect(try await rows(of: outcome.backup) == (journal == "wal" ? 3 : 1))
            writer.kill()
            let error = await #expect(throws: RestoreError.self) { try await scene.restore() }
            guard case .storesInUse(let store, let holders) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(store == "app.sqlite")
            #expect(holders.map(\.process) == [reader.processIdentifier])
            reader.kill()
        }
    }

    @Test("of which some, and files and directories, come and go meanwhile are backed up")
    func churn() async throws {
        try StoreApplication(on: path, "CREATE TABLE t (x)", "INSERT INTO t VALUES (1)").kill()
        var random = Pseudorandom(seed: 6)
        try scene.sandbox.write(random.bytes(2_000_000), to: "Stores/zz steady")
        try scene.sandbox.directory("Stores/churn")
        let churn = try StoreApplication("churn", scene.stores.appending("churn").string)
        let steady = try scene.sandbox.read("Stores/zz steady")
        for minute in 0..<6 {
            let outcome = try await scene.backUp(at: Scene.morning + Double(60 * minute))
            // One that is being made or removed may have only half of its files; and where some of
            // those in the last backup are gone, that is reported, as it should be.
            #expect(
                outcome.problems.allSatisfy { $0.path.hasPrefix("churn/") || $0.kind == .anomaly }
            )
            let restore = scene.restoring { $0.allowsDamage = true }
            let target = scene.sandbox.path("Cache/look")
            try LocalFileSystem().remove(target)
            _ = try await restore.extract(outcome.backup, to: target)
            #expect(try scene.sandbox.read("Cache/look/zz steady") == steady)
            #expect(scene.sandbox.exists("Cache/look/app.sqlite"))
        }
        churn.kill()
    }

    @Test("of which one goes every time that it is cut are backed up without it, with a word")
    func goesEveryTime() async throws {
        try StoreApplication(on: path, "CREATE TABLE t (x)").kill()
        let scene = scene
        let other = scene.stores.appending("other.sqlite")
        let store = try File.open(path)
        try store.copy(to: other, syncing: false)
        var context = scene.context()
        let (report, restarts) = (context.report, Tries())
        context.report = { event in
            report(event)
            do {
                if case .began(.reading, _) = event { try LocalFileSystem().remove(other) }
                if case .note(let text) = event, text.hasSuffix("starting again") {
                    _ = restarts.next()
                    try store.copy(to: other, syncing: false)
                }
            } catch {
                Issue.record(error)
            }
        }
        let outcome = try await scene.backUp(context: context)
        #expect(restarts.next() == 5)
        #expect(outcome.problems.map(\.path) == ["other.sqlite"])
        #expect(outcome.entries == 1)
        _ = try await scene.restore { $0.makesSafetyBackup = false }
        #expect(!scene.sandbox.exists("Stores/other.sqlite"))
    }

    @Test("in a directory that is removed at any moment make no archive that is not whole")
    func removedMeanwhile() async throws {
        try await remove("Stores")
        try await remove("Remote")
    }

    private func remove(_ name: String) async throws {
        for moment in 1... {
            let scene = try Scene()
            try scene.sandbox.write("1", to: "Stores/deep/file")
            let calls = Tries()
            let context = scene.context {
                if calls.next() == moment { try LocalFileSystem().remove(scene.sandbox.path(name)) }
            }
            do {
                try await scene.backUp(context: context)
            } catch is OperationError {
            } catch is RemoteError {
            } catch is FileError {}
            // The backups in the remote folder, if there still is one, are good.
            if scene.sandbox.exists("Remote") {
                #expect(try scene.leftovers().filter { $0.hasPrefix(".") } == [], "\(moment)")
                for backup in try await scene.list() {
                    let restore = scene.restoring { $0.isDryRun = true }
                    _ = try await restore.extract(backup, to: scene.sandbox.path("Scratch/look"))
                }
            }
            if calls.next() <= moment {
                #expect(moment > 5)
                return
            }
        }
    }
}

/// Counts calls.
private final class Tries: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
