import Files
import Foundation
import Sample
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Files that rows refer to")
struct ExternalFilesTests {
    private let scene: Scene

    init() throws {
        scene = try Scene(withStore: false)
    }

    private func store(_ path: String, _ sql: String) throws {
        let location = scene.stores.appending(path)
        try LocalFileSystem().createDirectories(location.removingLastComponent())
        try StoreApplication(on: location, sql).end()
    }

    private func backUp(
        _ rules: [String] = [],
        excluding patterns: [String] = [],
        context: OperationContext? = nil,
        _ change: (inout CreateBackup.Options) -> Void = { _ in }
    ) async throws -> CreateBackup.Outcome {
        var options = scene.options()
        options.externalFiles = try rules.map { try #require(ExternalFiles($0)) }
        options.exclusions = Exclusions(
            patterns: try patterns.map { try PathPattern($0) },
            excludesCaches: false
        )
        change(&options)
        return try await CreateBackup(
            of: scene.stores,
            to: scene.folder(),
            options: options,
            context: context ?? scene.context()
        ).run()
    }

    private func missing(_ outcome: CreateBackup.Outcome) -> [String] {
        outcome.problems.filter { $0.kind == .missingExternalData }.map(\.path)
    }

    @Test(
        "A backup of any store reports missing external files once, even if their whole directory is gone"
    )
    func directoryIsGone() async throws {
        _ = try GroceryStore.create(in: scene.stores, withTestData: true)
        try LocalFileSystem().remove(scene.stores.appending(".Grocery-Dude_SUPPORT"))
        let outcome = try await backUp()
        #expect(missing(outcome).count == 200)
        let told = scene.told.filter { $0.contains("refers to this file") }
        #expect(told.count == 1)
        #expect(told.first?.contains("199 more files are missing") == true)
        // What was missing then is no damage of the backup.
        let check = CheckBackups(in: scene.folder(), options: .init(), context: scene.context())
        let result = try await check.run(outcome.backup, at: Scene.morning)
        #expect(result.damage.isEmpty && result.missingReferences == 200)
    }

    @Test("A setting names columns with external files, in the store's directory or another one")
    func named() async throws {
        try store(
            "app/app.sqlite",
            """
            CREATE TABLE "the photo" (id INTEGER PRIMARY KEY, "the file");
            INSERT INTO "the photo" ("the file") VALUES
                ('a.jpg'), ('deep/b.jpg'), (NULL), (''), (CAST('c.jpg' AS BLOB)), ('gone.jpg'),
                ('/etc/passwd'), ('../out'), (7), (replace(hex(zeroblob(2100)), '00', 'a/') || 'b');
            """
        )
        for name in ["a.jpg", "deep/b.jpg", "c.jpg", "unnamed.jpg"] {
            try scene.sandbox.write(name, to: "Stores/app/photos/\(name)")
        }
        let rule = "the photo.the file of app/app.sqlite in photos"
        let before = try scene.sandbox.contents(of: "Stores/app/photos")
        let outcome = try await backUp([rule])
        #expect(missing(outcome) == ["app/photos/7", "app/photos/gone.jpg"])
        let other = try #require(scene.told.first { $0.contains("is no path of a file there") })
        #expect(other.utf8.count < 300)
        try await scene.restore { $0.makesSafetyBackup = false }
        #expect(try scene.sandbox.contents(of: "Stores/app/photos") == before)
    }

    @Test(
        "A backup includes external files and their directories even if an exclusion matches them"
    )
    func leftOut() async throws {
        try store("app.sqlite", "CREATE TABLE p (f); INSERT INTO p VALUES ('cache/x/1')")
        try scene.sandbox.write("one", to: "Stores/cache/x/1")
        try scene.sandbox.write("two", to: "Stores/cache/x/2")
        let outcome = try await backUp(["p.f of app.sqlite"], excluding: ["/cache/"])
        #expect(outcome.problems.isEmpty)
        #expect(scene.told.contains { $0.contains("would be left out, and is backed up") })
        try await scene.restore(
            "latest"
        ) {
            $0.makesSafetyBackup = false
        }
        #expect(try scene.sandbox.read("Stores/cache/x/1") == Array("one".utf8))
    }

    @Test("An increment has its external files and the directories that only they need")
    func increments() async throws {
        try store("app.sqlite", "CREATE TABLE p (f); INSERT INTO p VALUES ('cache/x/1')")
        try scene.sandbox.write("one", to: "Stores/cache/x/1")
        var random = Pseudorandom(seed: 1)
        try scene.sandbox.write(random.bytes(400_000), to: "Stores/ballast")
        var increments = IncrementOptions(statePath: scene.sandbox.path("State/state.sqlite"))
        increments.leastFullSize = 0
        try scene.sandbox.directory("State")
        for number in 0..<3 {
            let outcome = try await backUp(["p.f of app.sqlite"], excluding: ["/cache/"]) {
                $0.increments = increments
                $0.date = Scene.morning + Double(number) * 3600
            }
            #expect(outcome.problems.isEmpty)
            #expect(outcome.backup.isIncrement == (number > 0))
            try scene.sandbox.write("content \(number)", to: "Stores/cache/x/1")
        }
        let target = scene.sandbox.path("Target")
        _ = try await scene.restoring().extract(try await scene.folder().find("latest"), to: target)
        #expect(try scene.sandbox.read("Target/cache/x/1") == Array("content 1".utf8))
    }

    @Test("External files that go during a backup count as missing after another cut")
    func vanishing() async throws {
        try store("app.sqlite", "CREATE TABLE p (f); INSERT INTO p VALUES ('1'), ('2')")
        for name in ["1", "2"] { try scene.sandbox.write(name, to: "Stores/\(name)") }
        let calls = Counter()
        let path = scene.stores.appending("2")
        let context = scene.context { if calls.next() == 4 { try LocalFileSystem().remove(path) } }
        let outcome = try await backUp(["p.f of app.sqlite"], context: context)
        #expect(missing(outcome) == (outcome.entries == 3 ? [] : ["2"]))
    }

    @Test("A missing column, and a missing store, of external files is a problem of a backup")
    func wrong() async throws {
        try store("app.sqlite", "CREATE TABLE p (f)")
        let outcome = try await backUp(["p.nope of app.sqlite", "p.f of other.sqlite"])
        #expect(outcome.problems.map(\.kind) == [.unreadable, .unreadable])
        let reasons = outcome.problems.map(\.reason)
        for name in ["p.nope of app.sqlite", "p.f of other.sqlite"] {
            #expect(reasons.contains { $0.contains(name) }, "\(reasons)")
        }
    }

    @Test(
        "A description of external files can be read back",
        arguments: [
            "photo.file of app.sqlite in photos", "photo.file of a/b c.sqlite",
            "a.b.file of x of y.db in z in q",
        ]
    )
    func words(text: String) throws {
        #expect(try #require(ExternalFiles(text)).text == text)
    }

    @Test(
        "A description of external files in other words is refused",
        arguments: [
            "", "photo", "photo.file", "photo of app.sqlite", ".file of app.sqlite", "photo. of a",
            "photo.file of /app.sqlite", "photo.file of app.sqlite in ..",
            "photo.file of ../app.sqlite",
        ]
    )
    func otherWords(text: String) { #expect(ExternalFiles(text) == nil) }
}
