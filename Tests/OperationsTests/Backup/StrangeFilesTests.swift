@testable import Backups
import Files
import Foundation
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Operations

/// Files that are not what their names say, or that SQLite would read in another way.
@Suite("Backups of misleading files")
struct StrangeFilesTests {
    @Test(
        "A backup saves a database and a file beside it that has the name of one of SQLite's files",
        arguments: ["-wal", "-journal", "-shm"]
    )
    func strangeSidecars(suffix: String) async throws {
        for kind in ["directory", "link", "pipe"] {
            let scene = try Scene(withStore: false)
            let bytes = try scene.closedStore()
            try scene.sandbox.write(bytes, to: "Stores/notes")
            let name = "Stores/notes\(suffix)"
            switch kind {
            case "directory": try scene.sandbox.write("diary", to: "\(name)/diary")
            case "link": try scene.sandbox.link(name, to: "nowhere")
            default: #expect(mkfifo(scene.sandbox.path(name).string, 0o600) == 0)
            }
            let outcome = try await scene.backUp()
            // SQLite does not look for an index without a log.
            let isPassedOver = suffix == "-shm"
            #expect(
                outcome.problems.map(\.path) == (isPassedOver ? [] : ["notes"]),
                "\(kind): \(outcome.problems)"
            )
            let target = scene.sandbox.path("Cache/look")
            let restore = scene.restoring {
                $0.allowsDamage = true
                $0.check = .none
            }
            _ = try await restore.extract(outcome.backup, to: target)
            #expect(try scene.sandbox.read("Cache/look/notes") == bytes, "\(kind)")
            switch kind {
            case "directory": #expect(scene.sandbox.exists("Cache/look/notes\(suffix)/diary"))
            case "link":
                let link = target.appending("notes\(suffix)")
                #expect(try FileInfo(of: link).kind == .link)
            default: break
            }
        }
    }

    @Test("A backup saves a file or link that has the name of a support directory")
    func strangeSupport() async throws {
        let scene = try Scene(withStore: false)
        try scene.sandbox.write(try scene.closedStore(), to: "Stores/notes.db")
        try scene.sandbox.write(try scene.closedStore(), to: "Stores/photos.db")
        try scene.sandbox.write("precious", to: "Stores/.notes_SUPPORT")
        try scene.sandbox.link("Stores/.photos_SUPPORT", to: "/elsewhere")
        #expect(try await scene.backUp().problems == [])
        try await scene.restore { $0.makesSafetyBackup = false }
        #expect(try scene.sandbox.read("Stores/.notes_SUPPORT") == Array("precious".utf8))
        let link = scene.sandbox.path("Stores/.photos_SUPPORT")
        #expect(try FileInfo(of: link).kind == .link)
    }

    @Test("A backup saves all bytes of a database whose damaged header claims too few pages")
    func tooFewPages() async throws {
        let scene = try Scene(withStore: false)
        let path = scene.sandbox.path("Stores/app.sqlite")
        try scene.sandbox.directory("Stores")
        try StoreApplication(
            on: path,
            "CREATE TABLE t (x)",
            "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999) INSERT INTO t SELECT i FROM n"
        ).end()
        var bytes = try scene.sandbox.read("Stores/app.sqlite")
        bytes.replaceSubrange(28..<32, with: [0, 0, 0, 2])
        try scene.sandbox.write(bytes, to: "Stores/app.sqlite")
        let outcome = try await scene.backUp()
        #expect(outcome.problems.map(\.kind) == [.damagedStore])
        try await scene.restore {
            $0.makesSafetyBackup = false
            $0.allowsDamage = true
        }
        #expect(try scene.sandbox.read("Stores/app.sqlite") == bytes)
    }
}
