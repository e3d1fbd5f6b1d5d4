import Files
import Foundation
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

/// Symbolic links that lead out of the stores directory, to stores.
@Suite("Stores behind a link that leads outside")
struct OutsideLinkTests {
    private let scene: Scene

    init() throws {
        scene = try Scene(withStore: false)
        try scene.sandbox.directory("Stores")
        try store("Elsewhere/main.db")
    }

    private func store(_ path: String, _ statements: String...) throws {
        try scene.sandbox.directory(FilePath(path).removingLastComponent().string)
        let application = try StoreApplication(
            on: scene.sandbox.path(path),
            "CREATE TABLE t (v)",
            "INSERT INTO t VALUES (1), (2)"
        )
        for statement in statements { try application.run(statement) }
        try application.end()
    }

    private func backUp(
        _ change: (inout CreateBackup.Options) -> Void = { _ in }
    ) async throws -> CreateBackup.Outcome {
        var options = scene.options()
        change(&options)
        return try await CreateBackup(
            of: scene.stores,
            to: scene.folder(),
            options: options,
            context: scene.context()
        ).run()
    }

    @Test(
        "A link that leads outside to a store or to a directory with stores is a problem each time"
    )
    func reported() async throws {
        try store("Stores/own.db")
        try store("Elsewhere/deep/er/notes")
        try scene.sandbox.link("Stores/main.db", to: "../Elsewhere/main.db")
        try scene.sandbox.link("Stores/data", to: scene.sandbox.path("Elsewhere/deep").string)
        for times in 1...2 {
            let outcome = try await backUp()
            #expect(
                Set(outcome.problems.map(\.kind.rawValue)) == ["linked_store", "linked_directory"]
            )
            #expect(outcome.stores == 1 && outcome.backup.isPartial)
            for (path, target) in [("main.db", "main.db"), ("data", "deep")] {
                let target = scene.sandbox.path("Elsewhere/\(target)")
                let text = "'\(path)': it is a link to '\(target)', outside"
                #expect(scene.told.count { $0.hasPrefix(text) } == times, "\(scene.told)")
            }
        }
        let other = try await backUp { options in
            options.exclusions.patterns = ["main.db", "data"].compactMap { try? PathPattern($0) }
        }
        #expect(other.problems == [])
    }

    @Test(
        "A link with a database's name to nothing is a problem each time: its disk may not be mounted",
        arguments: [false, true]
    )
    func notMounted(isFollowed: Bool) async throws {
        try store("Stores/own.db")
        try store("Disk/main.db")
        try scene.sandbox.link("Stores/main.sqlite", to: "../Disk/main.db")
        let mounted = try await backUp { $0.followsLinks = isFollowed }
        #expect(mounted.problems.map(\.kind) == (isFollowed ? [] : [.linkedStore]))
        try LocalFileSystem().remove(scene.sandbox.path("Disk"))
        for _ in 1...2 {
            let outcome = try await backUp {
                ($0.followsLinks, $0.acceptsChanges) = (isFollowed, true)
            }
            #expect(outcome.problems.map(\.kind) == [.linkToNothing])
            #expect(outcome.problems.map(\.path) == ["main.sqlite"])
            #expect(outcome.backup.isPartial)
        }
    }

    @Test(
        "A link to an outside store makes the backup partial if the directory itself has no store"
    )
    func nothingInside() async throws {
        try scene.sandbox.write("text", to: "Stores/notes.txt")
        try scene.sandbox.link("Stores/main.db", to: "../Elsewhere/main.db")
        let outcome = try await backUp()
        #expect(outcome.problems.map(\.kind) == [.linkedStore])
        #expect(outcome.problems.map(\.path) == ["main.db"])
        #expect(outcome.backup.isPartial)
        // A link that is left out hides nothing.
        let other = try await backUp { options in
            options.exclusions.patterns = (try? [PathPattern("main.db")]) ?? []
        }
        #expect(other.problems.map(\.kind) == [.noStore])
    }

    @Test(
        "A backup ignores links that stay inside, lead nowhere, or lead to something other than a store"
    )
    func others() async throws {
        try store("Stores/own.db")
        try scene.sandbox.write("SQLite", to: "Elsewhere/text")
        try scene.sandbox.directory("Elsewhere/empty")
        #expect(mkfifo(scene.sandbox.path("Elsewhere/pipe").string, 0o600) == 0)
        for (name, target) in [
            ("same", "own.db"), ("up", ".."), ("self", "../Stores"), ("gone", "../gone"),
            ("loop", "loop"), ("text", "../Elsewhere/text"), ("pipe", "../Elsewhere/pipe"),
            ("empty", "../Elsewhere/empty"),
        ] where name != "up" {
            try scene.sandbox.link("Stores/\(name)", to: target)
        }
        #expect(try await backUp().problems == [])
        #expect(scene.told.filter { $0.hasPrefix("warning") } == [])
        // In the directory around it, the stores directory itself is no store that is hidden.
        try LocalFileSystem().remove(scene.sandbox.path("Elsewhere"))
        try scene.sandbox.link("Stores/up", to: "..")
        _ = try await backUp()
        #expect(scene.told.filter { $0.hasPrefix("warning") } == [])
    }

    @Test("The search for stores behind links ends")
    func bounds() async throws {
        try store("Stores/own.db")
        try store("Far/1/2/3/4/main.db")
        try scene.sandbox.link("Stores/far", to: "../Far")
        _ = try await backUp()
        #expect(scene.told.filter { $0.hasPrefix("warning") } == [])
    }

    @Test("A backup that follows links saves the store with its log in the place of the link")
    func followed() async throws {
        try store("Stores/zoo.db")
        try scene.sandbox.link("Stores/main.db", to: "../Elsewhere/main.db")
        let path = scene.sandbox.path("Elsewhere/main.db")
        let application = try StoreApplication(
            on: path,
            "PRAGMA journal_mode = WAL",
            "INSERT INTO t VALUES (3)"
        )
        let before = try scene.sandbox.contents(of: "Elsewhere", hashing: false)
        let outcome = try await backUp { $0.followsLinks = true }
        #expect(try scene.sandbox.contents(of: "Elsewhere", hashing: false) == before)
        #expect(outcome.problems == [] && outcome.stores == 2)
        #expect(scene.told.filter { $0.hasPrefix("warning") } == [])
        try application.end()
        _ = try await scene.restoring().extract(outcome.backup, to: scene.sandbox.path("Out"))
        #expect(try FileInfo(of: scene.sandbox.path("Out/main.db")).kind == .file)
        let count = try Tool.check(
            Tool.product("grocerydude"),
            [
                "sql", "live", "--stores", scene.sandbox.path("Out").string, "--remote",
                scene.remotePath.string,
            ]
                + ["--store", "main.db", "--csv", "SELECT count(*) FROM t"],
            environment: ["HOME": scene.sandbox.path.string]
        )
        #expect(count.split(whereSeparator: \.isNewline).last == "3", "\(count)")
        // In place, the link makes way for the file; the file that it led to stays, and the link comes back.
        try await scene.restore()
        #expect(try FileInfo(of: scene.stores.appending("main.db")).kind == .file)
        #expect(scene.sandbox.exists("Elsewhere/main.db"))
    }

    @Test("A damaged store behind a link is a problem, and the backup saves the link")
    func damaged() async throws {
        try store("Stores/own.db")
        try scene.sandbox.link("Stores/main.db", to: "../Elsewhere/main.db")
        var bytes = try scene.sandbox.read("Elsewhere/main.db")
        bytes.replaceSubrange(16..<100, with: Array(repeating: 0xFF, count: 84))
        try scene.sandbox.write(bytes, to: "Elsewhere/main.db")
        let outcome = try await backUp { $0.followsLinks = true }
        #expect(outcome.problems.map(\.kind) == [.unreadable], "\(outcome.problems)")
        #expect(outcome.problems.map(\.path) == ["main.db"])
        _ = try await scene.restoring().extract(outcome.backup, to: scene.sandbox.path("Out"))
        #expect(try FileInfo(of: scene.sandbox.path("Out/main.db")).kind == .link)
    }
}
