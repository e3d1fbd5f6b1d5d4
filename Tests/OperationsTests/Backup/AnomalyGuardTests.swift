import Files
import Foundation
import GRDB
import Remotes
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("The anomaly guard")
struct AnomalyGuardTests {
    private func stores(_ rows: KeyValuePairs<String, Int64?>) -> [StoreRows] {
        rows.map { StoreRows(path: $0.key, rows: $0.value) }
    }

    private func kinds(
        _ before: KeyValuePairs<String, Int64?>,
        _ now: KeyValuePairs<String, Int64?>,
        unreadable: Set<ExactString> = []
    ) -> [Anomaly.Kind] {
        AnomalyGuard.compare(stores(now), with: stores(before), unreadable: unreadable)
            .map(\.kind)
    }

    @Test(
        "The anomaly guard finds stores that are gone, unreadable, empty or shrunk, and nothing else"
    )
    func comparison() {
        #expect(kinds(["a": 100, "b": 3], ["a": 100, "b": 3]) == [])
        #expect(kinds(["a": 100], ["a": 1_000_000, "new": 0]) == [])
        #expect(kinds([:], ["a": 1]) == [])
        // Gone.
        #expect(kinds(["a": 1, "b": 5], ["b": 5]) == [.missing])
        #expect(kinds(["a": nil], [:]) == [.missing])
        #expect(kinds(["a": 0], [:]) == [])
        // There, but nothing to be made of it.
        #expect(kinds(["a": 1], [:], unreadable: ["a"]) == [.unreadable])
        #expect(kinds(["a": 1], ["a": nil]) == [.unreadable])
        #expect(kinds(["a": nil], ["a": nil]) == [])
        // Empty.
        #expect(kinds(["a": 1], ["a": 0]) == [.empty])
        #expect(kinds(["a": 0], ["a": 0]) == [])
        // A fraction, of what is more than a handful.
        #expect(kinds(["a": 20], ["a": 10]) == [])
        #expect(kinds(["a": 20], ["a": 9]) == [.fewerRows])
        #expect(kinds(["a": 19], ["a": 1]) == [])
        // All together, if each of them is too small to show.
        #expect(kinds(["a": 15, "b": 15], ["a": 7, "b": 7]) == [.fewerRows])
        #expect(kinds(["a": 15, "b": 15], ["a": 7, "b": 8]) == [])
    }

    private func tables(
        _ before: KeyValuePairs<String, Int64?>,
        _ now: KeyValuePairs<String, Int64?>
    ) -> [String?] {
        func store(_ tables: KeyValuePairs<String, Int64?>) -> [StoreRows] {
            let tables = tables.map { StoreFacts.Table(name: $0.key, rows: $0.value) }
            return [StoreRows(path: "a", rows: 1_000_000, tables: tables)]
        }
        return AnomalyGuard.compare(store(now), with: store(before), unreadable: []).map(\.table)
    }

    @Test("The anomaly guard finds a table that lost its rows, even if others grew")
    func tables() {
        #expect(tables(["t": 300, "event": 20], ["event": 2000]) == ["t"])
        #expect(tables(["t": 300, "event": 20], ["t": 0, "event": 2000]) == ["t"])
        // Applications tidy up sessions and jobs.
        #expect(tables(["t": 300], ["t": 1]) == [])
        #expect(tables(["t": 100], [:]) == ["t"])
        #expect(tables(["t": 99], [:]) == [])
        // It has another name.
        #expect(tables(["t": 300], ["u": 300]) == [])
        #expect(tables(["t": 300], ["u": 149]) == ["t"])
        // Nobody knows.
        #expect(tables(["t": 300], ["t": nil]) == [])
        #expect(tables(["t": nil], [:]) == [])
    }

    private func kinds(_ before: OtherFiles, _ now: OtherFiles) -> [Anomaly.Kind] {
        AnomalyGuard.compare(now, with: before, beside: ["plain.db"]).map(\.kind)
    }

    @Test(
        "The anomaly guard finds files beside the stores that are gone, and databases it cannot read"
    )
    func otherFiles() {
        func files(_ count: Int64, _ bytes: Int64 = 0, _ exclusions: String? = nil) -> OtherFiles {
            OtherFiles(files: count, bytes: bytes, exclusions: exclusions)
        }
        func databases(_ sizes: KeyValuePairs<String, Int64>) -> OtherFiles {
            OtherFiles(
                files: 0,
                bytes: 0,
                databases: sizes.map { .init(path: $0.key, bytes: $0.value) }
            )
        }
        #expect(kinds(files(500), files(0)) == [.fewerFiles])
        #expect(kinds(files(20), files(10)) == [])
        #expect(kinds(files(19), files(0)) == [])
        #expect(kinds(files(1, 100_000_000), files(1, 49_999_999)) == [.fewerBytes])
        #expect(kinds(files(1, 99_999_999), files(1)) == [])
        #expect(kinds(files(500), files(0, 0, "*.jpg")) == [])
        #expect(kinds(databases(["c.db": 4096]), databases([:])) == [.missing])
        #expect(kinds(databases(["plain.db": 4096]), databases([:])) == [])
        #expect(kinds(databases(["c.db": 3 << 20]), databases(["c.db": 4096])) == [.fewerBytes])
        #expect(kinds(databases(["c.db": 8192]), databases(["c.db": 4096])) == [])
    }

    @Test("The anomaly guard warns of missing files until they are back, from memory or an archive")
    func missingFiles() async throws {
        let scene = try Scene(withStore: false)
        try fill(scene, rows: 3)
        for number in 0..<30 { try scene.sandbox.write("a", to: "Stores/files/\(number)") }
        let cipher = [UInt8](repeating: 0x5A, count: 2 << 20)
        try scene.sandbox.write(cipher, to: "Stores/cipher.db")
        #expect(try await !backUp(scene, minute: 0))
        try LocalFileSystem().remove(scene.stores.appending("files"))
        #expect(try await backUp(scene, minute: 1))
        #expect(
            scene.told.contains { $0.contains("there were 31 files beside the stores and now 1") }
        )
        #expect(try await backUp(scene, minute: 2))
        for number in 0..<30 { try scene.sandbox.write("a", to: "Stores/files/\(number)") }
        #expect(try await !backUp(scene, minute: 3))
        try LocalFileSystem().remove(scene.stores.appending("cipher.db"))
        #expect(try await backUp(scene, minute: 4))
        #expect(scene.told.contains { $0.contains("'cipher.db' is gone") })
        #expect(try await !backUp(scene, minute: 5, accepting: true))
        #expect(try await !backUp(scene, minute: 6))
    }

    /// A stores directory with a store of so many rows, and a file that is always there.
    private func fill(_ scene: Scene, rows: Int, in name: String = "app.db") throws {
        try scene.sandbox.write("a file", to: "Stores/file")
        try LocalFileSystem().remove(scene.stores.appending(name))
        let queue = try DatabaseQueue(path: scene.stores.appending(name).string)
        try queue.write { database in
            try database.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, x)")
            for number in 0..<rows {
                try database.execute(sql: "INSERT INTO t (x) VALUES (?)", arguments: [number])
            }
        }
        try queue.close()
    }

    /// Backs up at a minute, and returns whether that was an anomaly.
    private func backUp(
        _ scene: Scene,
        minute: Int,
        to remote: (any RemoteFolder)? = nil,
        catalog: BackupCatalog? = nil,
        accepting: Bool = false
    ) async throws -> Bool {
        var options = scene.options(at: Scene.morning + Double(60 * minute))
        options.acceptsChanges = accepting
        let outcome = try await CreateBackup(
            of: scene.stores,
            to: scene.folder(remote ?? scene.remote, catalog: catalog ?? scene.catalog),
            options: options,
            context: scene.context()
        ).run()
        let isReported = outcome.problems.contains { $0.kind == .anomaly }
        #expect(outcome.backup.isAnomalous == isReported)
        return isReported
    }

    @Test("The anomaly guard warns at each backup until the rows are back, and not afterwards")
    func untilTheyAreBack() async throws {
        let scene = try Scene(withStore: false)
        try fill(scene, rows: 100)
        #expect(try await !backUp(scene, minute: 0))
        try fill(scene, rows: 30)
        #expect(try await backUp(scene, minute: 1))
        #expect(
            scene.told.contains {
                $0.contains("'app.db' had 100 rows and now 30")
            }
        )
        #expect(try await scene.list().isGuarded)
        // Not even that it gets worse slowly makes what was an anomaly the measure.
        try fill(scene, rows: 29)
        #expect(try await backUp(scene, minute: 2))
        #expect(try await scene.list().map(\.isAnomalous) == [true, true, false])
        try fill(scene, rows: 60)
        #expect(try await !backUp(scene, minute: 3))
        #expect(try await !scene.list().isGuarded)
        try fill(scene, rows: 31)
        #expect(try await !backUp(scene, minute: 4))
    }

    @Test("The anomaly guard accepts a confirmed loss, and then measures by the new state")
    func accepting() async throws {
        let scene = try Scene(withStore: false)
        try fill(scene, rows: 100)
        try fill(scene, rows: 5, in: "other.db")
        #expect(try await !backUp(scene, minute: 0))
        try LocalFileSystem().remove(scene.stores.appending("app.db"))
        #expect(try await backUp(scene, minute: 1))
        #expect(try await !backUp(scene, minute: 2, accepting: true))
        #expect(try await !backUp(scene, minute: 3))
        try fill(scene, rows: 0, in: "other.db")
        #expect(try await backUp(scene, minute: 4))
    }

    @Test("The anomaly guard knows the earlier state if only an anomaly is left, without a cache")
    func durable() async throws {
        let scene = try Scene(withStore: false)
        try fill(scene, rows: 100)
        #expect(try await !backUp(scene, minute: 0))
        let good = try #require(try await scene.list().first)
        try fill(scene, rows: 0)
        #expect(try await backUp(scene, minute: 1))
        try LocalFileSystem().remove(scene.remotePath.appending(good.name))
        // A file that says nothing is skipped, as is one that is no backup of ours.
        try scene.sandbox.write("damaged", to: "Remote/[2099-Jan-01] 01.00 AM Stores.zip")
        try scene.sandbox.write("foreign", to: "Remote/My Stores.zip")
        #expect(!scene.sandbox.exists("Cache"))
        #expect(try await backUp(scene, minute: 2))
        #expect(try await scene.list().count(where: \.isAnomalous) == 2)
    }

    @Test("The anomaly guard compares with a remote backup from memory, and fetches nothing")
    func elsewhere() async throws {
        let scene = try Scene(withStore: false)
        let remote = Elsewhere(folder: scene.remote)
        let catalog = scene.catalog
        try fill(scene, rows: 100)
        #expect(try await !backUp(scene, minute: 0, to: remote, catalog: catalog))
        try await catalog.save()
        try fill(scene, rows: 0)
        #expect(try await backUp(scene, minute: 1, to: remote, catalog: scene.catalog))
        #expect(!scene.told.contains { $0.contains("made elsewhere") })
        // Another machine has nothing to compare with, and says so.
        try LocalFileSystem().remove(scene.sandbox.path("Cache"))
        #expect(try await !backUp(scene, minute: 2, to: remote, catalog: scene.catalog))
        #expect(scene.told.contains { $0.contains("made elsewhere") })
    }

    @Test(
        "The anomaly guard measures by the restored state after a restore, and is silent during it"
    )
    func afterRestore() async throws {
        let scene = try Scene(withStore: false)
        try fill(scene, rows: 10)
        #expect(try await !backUp(scene, minute: 0))
        let small = try #require(try await scene.list().first)
        try fill(scene, rows: 100)
        #expect(try await !backUp(scene, minute: 1))
        // From much to little, and the other way round with the loss in the safety backup.
        let told = scene.told.count
        try await scene.restore(small.name)
        #expect(try await !backUp(scene, minute: 100))
        #expect(try await scene.list().map(\.isAnomalous) == [false, false, false, false])
        try fill(scene, rows: 100)
        #expect(try await !backUp(scene, minute: 101))
        let large = try #require(try await scene.list().first)
        try fill(scene, rows: 0)
        try await scene.restore(large.name) {
            $0.backup.date = Scene.morning + 120 * 60
        }
        #expect(scene.told.count == told)
        // The loss is in the safety backup alone, which is no measure.
        #expect(try await scene.list().first?.isAnomalous == true)
        #expect(try await !scene.list().isGuarded)
        #expect(try await !backUp(scene, minute: 130))
        #expect(try await !scene.list().isGuarded)
    }

    @Test("The anomaly guard measures by the stores in place after a restore was rolled back")
    func afterFailedRestore() async throws {
        let scene = try Scene(withStore: false)
        try fill(scene, rows: 30)
        #expect(try await !backUp(scene, minute: 0))
        let small = try #require(try await scene.list().first)
        try fill(scene, rows: 1000)
        #expect(try await !backUp(scene, minute: 1))
        await #expect(throws: RestoreError.self) {
            try await scene.restore(small.name) { $0.application.verify = ["false"] }
        }
        #expect(try await !backUp(scene, minute: 100))
        await #expect(throws: RestoreError.self) {
            try await scene.restore(small.name) {
                $0.application.verify = ["false"]
                $0.backup.date = Scene.morning + 120 * 60
            }
        }
        try fill(scene, rows: 40)
        #expect(try await backUp(scene, minute: 130))
        #expect(try await scene.list().isGuarded)
    }

    @Test("The anomaly guard counts a store that SQLite cannot read as lost")
    func damaged() async throws {
        let scene = try Scene(withStore: false)
        try fill(scene, rows: 100)
        #expect(try await !backUp(scene, minute: 0))
        var bytes = try scene.sandbox.read("Stores/app.db")
        for index in 100..<2000 { bytes[index] = 0xEE }
        try scene.sandbox.write(bytes, to: "Stores/app.db")
        #expect(try await backUp(scene, minute: 1))
        #expect(scene.told.contains { $0.contains("'app.db' cannot be read any more") })
        try scene.sandbox.write("no database", to: "Stores/app.db")
        #expect(try await backUp(scene, minute: 2))
        #expect(scene.told.contains { $0.contains("'app.db' is gone, or is no database") })
    }
}
