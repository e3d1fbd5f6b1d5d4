import Files
import Foundation
import Sample
import Stores
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("A part of a backup that is restored")
struct PartTests {
    @Test("is as it was saved, and all else is the very same files")
    func whole() async throws {
        let part = try await PartScene()
        let before = try FileInfo(of: part.scene.stores)
        let outcome = try await part.restore()
        try part.expectWhole("restored", isNew: true)
        #expect(try FileInfo(of: part.scene.stores).identity == before.identity)
        #expect(
            outcome.only == ["Grocery-Dude.sqlite", "albums/old/cover", "photos", "shelf/book"]
        )
        #expect(outcome.stores == 1)
        // The store, three photos with the link, the book, the cover and two files of external data.
        #expect(outcome.files == 7)
        #expect(outcome.problems == [])
        #expect(try part.rows("SELECT count(*) FROM item", in: PartScene.store) == "12\n")
        #expect(try part.rows("SELECT count(*) FROM t", in: "other.db") == "3\n")
    }

    @Test("is undone by the safety backup, of which a part is restored again")
    func undone() async throws {
        let part = try await PartScene()
        let safety = try #require(try await part.restore().safetyBackup)
        try await part.restore(["Grocery-Dude.sqlite", "photos"], from: safety.name) {
            $0.backup.date = Scene.morning + 7200
        }
        #expect(try part.rows("SELECT count(*) FROM item", in: PartScene.store) == "11\n")
        #expect(part.scene.sandbox.exists("Stores/photos/new"))
        #expect(!part.scene.sandbox.exists("Stores/photos/deep"))
        #expect(part.scene.sandbox.exists("Stores/photos/kept.tmp"))
        // That was not named again.
        #expect(part.scene.sandbox.exists("Stores/albums/old/cover"))
    }

    @Test("is undone as a whole, too")
    func undoneAsAWhole() async throws {
        let part = try await PartScene()
        let safety = try #require(try await part.restore().safetyBackup)
        _ = try await part.scene.restore(safety.name) { $0.backup.date = Scene.morning + 7200 }
        #expect(try part.rows("SELECT count(*) FROM item", in: PartScene.store) == "11\n")
        #expect(try part.rows("SELECT count(*) FROM t", in: "other.db") == "3\n")
        for path in ["photos/new", "photos/kept.tmp", "\(PartScene.external)/only here"] {
            #expect(part.scene.sandbox.exists("Stores/\(path)"), "\(path)")
        }
        #expect(!part.scene.sandbox.exists("Stores/albums"))
    }

    @Test("is not there after a dry run, which finds the same faults and the same size")
    func dryRun() async throws {
        let part = try await PartScene()
        let outcome = try await part.restore { $0.isDryRun = true }
        try part.expectWhole("dry run", isNew: false)
        #expect(outcome.files == 7 && outcome.stores == 1)
        #expect(try await part.scene.list().count == 1)
    }

    @Test("is the one that is printed as its name, where a name is printed for one and is another")
    func nameOfTwo() async throws {
        let scene = try Scene()
        let paths = try [RelativePath(validating: [0xFF]), RelativePath("\\xFF")].map {
            $0.below(scene.stores)
        }
        func write(_ text: String) throws {
            for path in paths {
                try LocalFileSystem().remove(path)
                try LocalFileSystem().write(Array(text.utf8), to: path)
            }
        }
        func contents(afterRestoring name: String) async throws -> [String] {
            _ = try await scene.restore {
                $0.only = [name]
                $0.makesSafetyBackup = false
            }
            return try paths.map {
                String(decoding: try File.contents(of: $0, limit: 9), as: UTF8.self)
            }
        }
        try write("old")
        _ = try await scene.backUp()
        try write("new")
        #expect(try await contents(afterRestoring: "\\xFF") == ["old", "new"])
        #expect(try await contents(afterRestoring: "\\\\xFF") == ["old", "old"])
    }

    @Test("may be named twice, by names in one another, and with slashes at either end")
    func overlapping() async throws {
        let part = try await PartScene()
        let outcome = try await part.restore([
            "photos/", "./photos/deep/2", "photos", "shelf/book", "albums/old", "albums",
            "albums/old/cover", PartScene.store, "photos/1",
        ])
        #expect(outcome.only == ["Grocery-Dude.sqlite", "albums", "photos", "shelf/book"])
        try part.expectWhole("overlapping", isNew: true)
    }

    @Test("keeps the mode and the times of files, and a directory's own")
    func attributes() async throws {
        let scene = try Scene()
        try scene.sandbox.write("x", to: "Stores/d/f")
        let directory = scene.sandbox.path("Stores/d")
        try Tool.check("chmod", ["640", directory.appending("f").string])
        try Tool.check("chmod", ["750", directory.string])
        try Tool.check("touch", ["-d", "2020-02-03 04:05:06.789", directory.string])
        let before = try Contents(of: scene.stores)
        try await scene.backUp()
        try LocalFileSystem().remove(directory)
        try await scene.restore {
            $0.only = ["d/f"]
            $0.makesSafetyBackup = false
        }
        #expect(try Contents(of: scene.stores) == before)
    }

    @Test(
        "takes the place of a file where it is a directory, and of a directory where it is a file"
    )
    func otherKind() async throws {
        let scene = try Scene()
        for path in ["a/1", "b", "c"] {
            try scene.sandbox.write("in the backup", to: "Stores/\(path)")
        }
        try scene.sandbox.link("Stores/link", to: "b")
        let before = try PartScene.state(of: scene.stores)
        try await scene.backUp()
        for path in ["a", "b", "c", "link"] {
            try LocalFileSystem().remove(scene.stores.appending(path))
        }
        try scene.sandbox.write("a file", to: "Stores/a")
        try scene.sandbox.write("in a directory", to: "Stores/b/x")
        try scene.sandbox.link("Stores/c", to: "../Remote")
        try scene.sandbox.write("in a directory", to: "Stores/link/x")
        try await scene.restore { $0.only = ["a", "b", "c", "link"] }
        #expect(try PartScene.state(of: scene.stores) == before)
        #expect(scene.sandbox.exists("Remote"))
    }

    @Test(
        "takes the log of a store along if it is no store, and its place is taken by that of another kind"
    )
    func storeGone() async throws {
        let scene = try Scene(withStore: false)
        for path in ["a", "b/1"] { try scene.sandbox.write("no store", to: "Stores/\(path)") }
        try await scene.backUp()
        let before = try PartScene.state(of: scene.stores)
        for name in ["a", "b"] {
            try LocalFileSystem().remove(scene.stores.appending(name))
            try StoreApplication(
                on: scene.stores.appending(name),
                "PRAGMA journal_mode = WAL",
                "CREATE TABLE t (x)"
            ).kill()
            #expect(scene.sandbox.exists("Stores/\(name)-wal"))
        }
        try await scene.restore {
            $0.only = ["a", "b"]
            $0.makesSafetyBackup = false
        }
        #expect(try PartScene.state(of: scene.stores) == before)
    }

    @Test("comes out of an increment")
    func increment() async throws {
        let scene = try Scene()
        try scene.sandbox.write("one", to: "Stores/d/1")
        var options = scene.options()
        try scene.sandbox.directory("State")
        var increments = IncrementOptions(statePath: scene.sandbox.path("State/state.sqlite"))
        increments.leastFullSize = 0
        options.increments = increments
        for minute in 0...1 {
            options.date = Scene.morning + Double(minute) * 60
            _ = try await CreateBackup(
                of: scene.stores,
                to: scene.folder(),
                options: options,
                context: scene.context()
            ).run()
            try scene.sandbox.write("two", to: "Stores/d/2")
        }
        #expect(try await scene.list()[0].isIncrement)
        try LocalFileSystem().remove(scene.sandbox.path("Stores/d"))
        try scene.sandbox.write("x", to: "Stores/other")
        try await scene.restore { $0.only = ["d"] }
        #expect(try scene.sandbox.read("Stores/d/1") == Array("one".utf8))
        #expect(try scene.sandbox.read("Stores/d/2") == Array("two".utf8))
        #expect(scene.sandbox.exists("Stores/other"))
    }

    @Test("comes from elsewhere, and no more is fetched than that")
    func elsewhere() async throws {
        let scene = try Scene()
        var random = Pseudorandom(seed: 3)
        try scene.sandbox.write(random.bytes(6 << 20), to: "Stores/large")
        try scene.sandbox.write("old", to: "Stores/d/1")
        let backup = try await scene.backUp().backup
        try scene.sandbox.write("new", to: "Stores/d/1")
        let fetched = Mutex(0)
        let remote = Elsewhere(folder: scene.remote) { range, bytes in
            fetched.withLock { $0 += range.count }
            return bytes
        }
        var options = RestoreBackup.Options(backup: scene.options(at: Scene.morning + 60))
        options.only = ["d", PartScene.store]
        options.makesSafetyBackup = false
        let restore = RestoreBackup(
            from: scene.folder(remote),
            options: options,
            context: scene.context()
        )
        let outcome = try await restore.run(
            try await scene.folder(remote).find("latest"),
            to: scene.stores
        )
        #expect(outcome.stores == 1 && outcome.files == 2)
        #expect(try scene.sandbox.read("Stores/d/1") == Array("old".utf8))
        #expect(fetched.withLock { $0 } < Int(backup.size) / 2)
    }

    @Test("has the next backup compared with what is there then")
    func expectedRows() async throws {
        let scene = try Scene()
        func fill(_ count: Int) throws {
            try StoreApplication(
                on: scene.sandbox.path("Stores/other.db"),
                "CREATE TABLE IF NOT EXISTS t (x)",
                "DELETE FROM t",
                "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count)) INSERT INTO t SELECT i FROM n"
            ).end()
        }
        let store = try GroceryStore(in: scene.stores)
        let names = try store.items().map(\.name)
        for name in names.dropFirst(2) { _ = try store.remove(name: name) }
        try fill(8)
        let first = try await scene.backUp().backup
        for number in 1...300 {
            try store.add(name: "\(number)", quantity: 1, unit: nil)
        }
        try fill(200)
        try await scene.backUp(at: Scene.morning + 60)
        try await scene.restore(first.name) {
            $0.only = [PartScene.store]
            $0.makesSafetyBackup = false
            $0.force = true
        }
        // What was restored has far less than the last backup, as it should. What was not is compared with that.
        try fill(10)
        let outcome = try await scene.backUp(at: Scene.morning + 120)
        let reasons = outcome.problems.map(\.reason).joined()
        #expect(reasons.contains("other.db") && !reasons.contains("Grocery-Dude"), "\(reasons)")
    }
}
