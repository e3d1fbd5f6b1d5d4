import Archives
import Files
import Foundation
import Sample
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Exclusions from a backup")
struct LeavingOutTests {
    private static let tag = "Signature: 8a477f597d28d172789f06886806bc55\n# made by a test"
    private let scene: Scene

    init() throws {
        scene = try Scene()
    }

    private func backUp(
        at date: Date = Scene.morning,
        leavingOut patterns: [String] = [],
        caches: Bool = false,
        _ change: (inout CreateBackup.Options) -> Void = { _ in }
    ) async throws -> CreateBackup.Outcome {
        var options = scene.options(at: date)
        options.exclusions = Exclusions(
            patterns: try patterns.map { try PathPattern($0) },
            excludesCaches: caches
        )
        change(&options)
        return try await CreateBackup(
            of: scene.stores,
            to: scene.folder(),
            options: options,
            context: scene.context()
        ).run()
    }

    /// The paths of a backup's entries, and its record of what it left out.
    private func look(at backup: Backup) async throws -> (paths: [String], excluded: Excluded?) {
        let shown = try await ShowBackup(in: scene.folder(), context: scene.context())
            .run(backup.name)
        return (shown.files.map(\.path), shown.header?.excluded)
    }

    @Test("A backup leaves out what patterns and cache tags match, and its manifest records that")
    func patterns() async throws {
        let sandbox = scene.sandbox
        for path in [
            "a.tmp", "kept/b.tmp", "kept/c", "logs/today", "x.nosync/d", "cache/e", "fake/f",
            "deep/cache/g",
        ] { try sandbox.write("x", to: "Stores/\(path)") }
        try sandbox.write(Self.tag, to: "Stores/cache/CACHEDIR.TAG")
        try sandbox.write(
            "Signature: of another kind, and as long as that",
            to: "Stores/fake/CACHEDIR.TAG"
        )
        // A link to a tag is none, and one to a directory is no directory.
        try sandbox.directory("Stores/linked")
        try sandbox.link("Stores/linked/CACHEDIR.TAG", to: "../cache/CACHEDIR.TAG")
        try sandbox.link("Stores/link.nosync", to: "kept")
        let made = try await backUp(
            leavingOut: Exclusions.standard + ["*.tmp", "!b.tmp", "/logs/", "deep/cache"],
            caches: true
        )
        let (paths, excluded) = try await look(at: made.backup)
        #expect(made.problems == [])
        #expect(
            Set(paths) == [
                "Grocery-Dude.sqlite", "kept", "kept/b.tmp", "kept/c", "fake", "fake/CACHEDIR.TAG",
                "fake/f",
                "deep", "linked", "linked/CACHEDIR.TAG", "link.nosync",
            ]
        )
        #expect(excluded?.paths == ["a.tmp", "cache", "deep/cache", "logs", "x.nosync"])
        #expect(excluded?.count == 5 && made.leftOut == 5)
        #expect(excluded?.patterns == ["*.nosync/", "*.tmp", "!b.tmp", "/logs/", "deep/cache"])
        #expect(excluded?.caches == true)
    }

    @Test("A manifest records a limited number of exclusions")
    func bounds() async throws {
        for number in 0..<150 { try scene.sandbox.write("x", to: "Stores/\(number).tmp") }
        let (_, excluded) = try await look(at: backUp(leavingOut: ["*.tmp"]).backup)
        #expect(excluded?.count == 150)
        #expect(excluded?.paths.count == LeftOut.pathsLimit)
    }

    @Test("A manifest records no exclusions if a backup has no rules")
    func nothing() async throws {
        #expect(try await look(at: backUp().backup).excluded == nil)
    }

    @Test(
        "A backup never leaves out a file that a row refers to, and reports it",
        arguments: [".*", "_EXTERNAL_DATA", "**/_EXTERNAL_DATA/*", "[0-9A-F]*-*", "*"]
    )
    func externalData(pattern: String) async throws {
        let scene = try Scene(withStore: false)
        try Fixtures.copy("stores/core-data", into: scene.sandbox, as: "Stores")
        let support = "Stores/.Model_SUPPORT/_EXTERNAL_DATA"
        // Of three that rows refer to, one is missing in the fixture.
        try scene.sandbox.write("x", to: "\(support)/5F2C1E4A-0B7D-4E7A-8C55-6D1B7A3F9E03")
        let names = try Directory.open(scene.sandbox.path(support)).names().map(\.description)
        try scene.sandbox.write("x", to: "\(support)/0-nobody-s")
        var options = scene.options()
        options.exclusions.patterns = try [pattern, "!*.sqlite"].map { try PathPattern($0) }
        let made = try await CreateBackup(
            of: scene.stores,
            to: scene.folder(),
            options: options,
            context: scene.context()
        ).run()
        #expect(made.problems == [])
        #expect(
            scene.told.contains {
                $0.hasPrefix("warning: \(names.count) files") && $0.contains("refer to them")
            }
        )
        let target = scene.sandbox.path("Cache/Target")
        let restored = try await scene.restoring().extract(made.backup, to: target)
        #expect(restored.problems == [])
        let there = try Directory.open(target.appending(".Model_SUPPORT/_EXTERNAL_DATA")).names()
        #expect(Set(there.map(\.description)) == Set(names))
    }

    @Test(
        "A backup leaves out a store with all of its files, and treats that as an anomaly until accepted"
    )
    func stores() async throws {
        let path = scene.sandbox.path("Stores/other.db")
        let application = try StoreApplication(
            on: path,
            "PRAGMA journal_mode = WAL",
            "CREATE TABLE t (x)",
            "INSERT INTO t VALUES (1), (2)"
        )
        defer { application.kill() }
        try scene.sandbox.write("x", to: "Stores/.other_SUPPORT/_EXTERNAL_DATA/1")
        let first = try await backUp()
        #expect(try await look(at: first.backup).paths.contains("other.db"))
        let second = try await backUp(at: Scene.morning + 60, leavingOut: ["*.db"])
        #expect(try await look(at: second.backup).paths == ["Grocery-Dude.sqlite"])
        #expect(scene.told.contains("the store 'other.db' is left out, with all of its files"))
        let anomaly = try #require(second.problems.first)
        #expect(anomaly.kind == .anomaly)
        #expect(anomaly.reason.contains("'other.db' is left out now (it had 2 rows)"))
        let third = try await backUp(at: Scene.morning + 120, leavingOut: ["*.db"]) {
            $0.acceptsChanges = true
        }
        let fourth = try await backUp(at: Scene.morning + 180, leavingOut: ["*.db"])
        #expect(third.problems == [] && fourth.problems == [])
    }

    @Test("A backup leaves out no file beside an included store: the log is in the store's pages")
    func log() async throws {
        let path = scene.sandbox.path("Stores/other.db")
        let application = try StoreApplication(
            on: path,
            "PRAGMA journal_mode = WAL",
            "CREATE TABLE t (x)",
            "INSERT INTO t VALUES (1), (2)"
        )
        defer { application.kill() }
        let made = try await backUp(leavingOut: ["*-wal", "*-shm"])
        #expect(made.problems == [])
        let header = try await ShowBackup(in: scene.folder(), context: scene.context())
            .run(made.backup.name).header
        let store = try #require(header?.stores.first { $0.path == "other.db" })
        #expect(store.tables.first?.rows == 2)
    }

    @Test("A backup that would leave out every store is refused, unless there is no store")
    func everyStore() async throws {
        try scene.sandbox.write("x", to: "Stores/directory/file")
        for patterns in [["*.sqlite"], ["*"], ["*", "!directory"]] {
            let error = await #expect(throws: OperationError.self) {
                try await backUp(leavingOut: patterns)
            }
            guard case .everyStoreLeftOut = error else {
                Issue.record("\(patterns): \(error.map { "\($0)" } ?? "")")
                continue
            }
        }
        #expect(try await scene.list().isEmpty)
        let torn = try scene.sandbox.write("SQLite format 3\0", to: "Stores/torn")
        let partial = try await backUp(leavingOut: ["*.sqlite"])
        #expect(partial.problems.map(\.kind) == [.damagedStore])
        try LocalFileSystem().remove(torn)
        try LocalFileSystem().remove(scene.stores.appending(GroceryStore.fileName))
        for name in ["-wal", "-shm"] {
            try LocalFileSystem().remove(scene.stores.appending(GroceryStore.fileName + name))
        }
        let made = try await backUp(leavingOut: ["*.sqlite"])
        #expect(made.problems.map(\.kind) == [.noStore] && made.stores == 0)
    }

    @Test("A change in excluded files makes no new backup necessary, but a change of rules does")
    func unchanged() async throws {
        func again(_ minutes: Double, _ patterns: [String]) async throws -> Bool {
            try await backUp(at: Scene.morning + minutes * 60, leavingOut: patterns) {
                $0.skipsUnchanged = true
            }.isUnchanged
        }
        try scene.sandbox.write("1", to: "Stores/a.tmp")
        #expect(try await !again(0, ["*.tmp"]))
        try scene.sandbox.write("22", to: "Stores/a.tmp")
        try scene.sandbox.write("3", to: "Stores/b.tmp")
        #expect(try await again(1, ["*.tmp"]))
        // Nothing in the archive is different, but a restore of it would be.
        #expect(try await !again(2, ["*.tmp", "/cache/"]))
        #expect(try await again(3, ["*.tmp", "/cache/"]))
        #expect(try await !again(4, []))
    }

    @Test("The exclusions of a remote backup are known too")
    func unchangedElsewhere() async throws {
        let elsewhere = Elsewhere(folder: scene.remote, isFetching: true)
        let catalog = scene.catalog
        func again(_ minutes: Double, _ patterns: [String]) async throws -> Bool {
            var options = scene.options(at: Scene.morning + minutes * 60)
            options.exclusions.patterns = try patterns.map { try PathPattern($0) }
            options.skipsUnchanged = true
            let outcome = try await CreateBackup(
                of: scene.stores,
                to: scene.folder(elsewhere, catalog: catalog),
                options: options,
                context: scene.context()
            ).run()
            return outcome.isUnchanged
        }
        #expect(try await !again(0, ["*.tmp"]))
        #expect(try await again(1, ["*.tmp"]))
        #expect(try await !again(2, []))
    }
}
