import Files
import Foundation
import Sample
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("A part of a backup that cannot be restored")
struct PartRefusalTests {
    /// Expects a restore to be refused, and nothing to have changed.
    @discardableResult
    private func expectRefusal(
        of names: [String],
        in part: PartScene,
        saying text: String,
        isDryRunToo: Bool = true,
        _ change: (inout RestoreBackup.Options) -> Void = { _ in }
    ) async throws -> any Error {
        let before = try Contents(of: part.scene.stores)
        let backups = try await part.scene.list().count
        var last: (any Error)?
        for isDryRun in isDryRunToo ? [true, false] : [false] {
            do {
                try await part.restore(names) {
                    $0.isDryRun = isDryRun
                    change(&$0)
                }
                Issue.record("it was not refused: \(names)")
            } catch {
                #expect(explain(error).contains(text), "\(explain(error))")
                if !(error is LookingError) {
                    #expect((error as? any ExplainedError)?.hint != nil, "\(explain(error))")
                }
                last = error
            }
        }
        #expect(try Contents(of: part.scene.stores) == before)
        #expect(try part.scene.leftovers() == [])
        #expect(try await part.scene.list().count == backups, "a safety backup was made in vain")
        return try #require(last)
    }

    @Test("is one that the backup does not have: the nearest name is shown")
    func missing() async throws {
        let part = try await PartScene()
        for name in ["photoz", "photos/new", "../Remote", "/etc/passwd", "photos/.."] {
            let error = try await expectRefusal(
                of: ["note", name],
                in: part,
                saying: "there is no '\(name)' in"
            )
            if name == "photoz" {
                #expect((error as? LookingError)?.hint == "did you mean 'photos'?")
            }
        }
    }

    @Test("is all of it", arguments: [".", "./", "/", ""])
    func everything(name: String) async throws {
        let part = try await PartScene()
        try await expectRefusal(of: ["note", name], in: part, saying: "'.' is the whole")
    }

    @Test("is one whose directory is a file, or a link that leads elsewhere")
    func obstructed() async throws {
        let part = try await PartScene()
        let sandbox = part.scene.sandbox
        try sandbox.write("a file", to: "Stores/albums")
        try await expectRefusal(
            of: ["albums/old/cover"],
            in: part,
            saying: "Stores/albums' is no directory"
        )
        try LocalFileSystem().remove(sandbox.path("Stores/albums"))
        try sandbox.write("precious", to: "Remote/old/cover")
        try sandbox.link("Stores/albums", to: "../Remote")
        try await expectRefusal(
            of: ["albums/old/cover"],
            in: part,
            saying: "Stores/albums' is no directory"
        )
        #expect(try sandbox.read("Remote/old/cover") == Array("precious".utf8))
    }

    @Test("is the log of a store without the store, here or in the backup")
    func partsOfStores() async throws {
        let scene = try Scene(withStore: false)
        let sandbox = scene.sandbox
        try sandbox.directory("Cache")
        try StoreApplication(
            on: sandbox.path("Cache/s.db"),
            "PRAGMA journal_mode = WAL",
            "CREATE TABLE t (x)",
            "INSERT INTO t VALUES (1)"
        ).kill()
        try sandbox.write("a diary", to: "Cache/s.db-journal")
        try Tool.check(
            "zip",
            ["-qr", scene.remotePath.appending("Other Stores.zip").string, ".", "-x", "*-shm"],
            directory: sandbox.path("Cache")
        )
        try sandbox.write("x", to: "Stores/x")
        for name in ["s.db-wal", "s.db-journal"] {
            let restore = scene.restoring {
                $0.only = [name]
                $0.makesSafetyBackup = false
            }
            let backup = try await scene.folder().find("Other")
            guard name == "s.db-wal" else {
                // By its content it is not SQLite's.
                _ = try await restore.run(backup, to: scene.stores)
                #expect(try sandbox.read("Stores/s.db-journal") == Array("a diary".utf8))
                continue
            }
            let error = await #expect(throws: RestoreError.self) {
                try await restore.run(backup, to: scene.stores)
            }
            #expect(error?.description.contains("is a part of the store 's.db'") == true)
            #expect(!sandbox.exists("Stores/s.db-wal"))
        }
        // With its store it comes, and the diary stays.
        try sandbox.write("my diary", to: "Stores/s.db-journal")
        try await scene.restore("Other") { $0.only = ["s.db"] }
        #expect(try sandbox.read("Stores/s.db-journal") == Array("my diary".utf8))
        #expect(sandbox.exists("Stores/s.db-wal"))
        #expect(
            try Tool.check("sqlite3", [sandbox.path("Stores/s.db").string, "SELECT * FROM t"])
                == "1\n"
        )
    }

    @Test("is a store that an application has open; any other may be")
    func inUse() async throws {
        let part = try await PartScene()
        let application = try StoreApplication(
            on: part.scene.sandbox.path("Stores/\(PartScene.store)"),
            "SELECT count(*) FROM item"
        )
        defer { application.kill() }
        // Its external data, too.
        for name in [PartScene.store, "\(PartScene.external)/back"] {
            try await expectRefusal(of: [name], in: part, saying: "is in use by process")
        }
        try await part.restore(["photos", "shelf/book"])
        #expect(part.scene.sandbox.exists("Stores/photos/deep/2"))
        try await part.restore {
            $0.force = true; $0.backup.date += 60
        }
    }

    @Test("is of a directory that may not be changed", .enabled(if: geteuid() != 0))
    func readOnly() async throws {
        let part = try await PartScene()
        let shelf = part.scene.sandbox.path("Stores/shelf")
        try Tool.check("chmod", ["500", shelf.string])
        defer { _ = try? Tool.check("chmod", ["700", shelf.string]) }
        try await expectRefusal(of: ["shelf/book"], in: part, saying: "may not be changed")
        try await part.restore(["photos"])
        // Its owner may move it as a whole.
        try await part.restore(["shelf"])
    }

    @Test("is larger than the space that there is, or there is no stores directory")
    func nowhere() async throws {
        let part = try await PartScene()
        try LocalFileSystem().remove(part.scene.stores)
        await #expect(throws: OperationError.self) { try await part.restore() }
        #expect(!part.scene.sandbox.exists("Stores"))
        #expect(try part.scene.leftovers() == [])
    }

    @Test("is damaged in the archive: what is named is verified before anything is touched")
    func damaged() async throws {
        let part = try await PartScene()
        let path = part.scene.remotePath.appending(part.backup.name)
        var bytes = try File.contents(of: path, limit: 1 << 26)
        let name = Array(PartScene.store.utf8)
        let place = try #require(
            bytes.indices.first { bytes[$0...].starts(with: name) },
            "the store's local record"
        )
        for index in place + 400..<place + 600 { bytes[index] ^= 0x55 }
        try LocalFileSystem().write(bytes, to: path)
        try await expectRefusal(of: [PartScene.store], in: part, saying: "your data is as it was") {
            $0.makesSafetyBackup = false
        }
        try await part.restore(["photos"])
        #expect(part.scene.sandbox.exists("Stores/photos/deep/2"))
    }

    @Test("is external data that another store may need in another form")
    func shared() async throws {
        let part = try await PartScene()
        // Its external data has the same directory.
        try StoreApplication(
            on: part.scene.sandbox.path("Stores/Grocery-Dude.db"),
            "CREATE TABLE t (x)"
        ).end()
        try await expectRefusal(
            of: [PartScene.store],
            in: part,
            saying: "the store 'Grocery-Dude.db' may refer to it, too"
        )
        // The same without a file that both have in other forms.
        try LocalFileSystem().remove(part.scene.sandbox.path("Stores/\(PartScene.external)/other"))
        try await part.restore([PartScene.store])
        #expect(part.scene.sandbox.exists("Stores/\(PartScene.external)/back"))
    }

    @Test("is changed by an application that is stopped only then")
    func changedMeanwhile() async throws {
        for change in ["mkdir -p albums/mine", "rm '\(PartScene.external)/same'"] {
            let part = try await PartScene()
            do {
                try await part.restoreQuickly(through: LocalFileSystem()) {
                    $0.application.stop = ["cd '\(part.scene.stores.string)' && \(change)"]
                }
                Issue.record("it was not refused")
            } catch {
                #expect(explain(error).contains("was changed meanwhile"), "\(explain(error))")
            }
            #expect(try part.rows("SELECT count(*) FROM item", in: PartScene.store) == "11\n")
            #expect(!part.scene.sandbox.exists("Stores/\(StoresDirectory.restoreArea)"))
        }
    }

    @Test("has to wait for another run")
    func locked() async throws {
        let part = try await PartScene()
        let lock = try await FileLock.acquire(part.scene.stores)
        await #expect(throws: FileError.self) { try await part.restore() }
        withExtendedLifetime(lock) {}
        try part.expectWhole("locked", isNew: false)
    }
}

@Suite("External data of a part of a backup")
struct PartExternalDataTests {
    @Test("that is named without its store comes back, and none of the store's is taken away")
    func named() async throws {
        for name in [".Grocery-Dude_SUPPORT", PartScene.external] {
            let part = try await PartScene()
            try await part.restore([name])
            let sandbox = part.scene.sandbox
            for (file, text) in [
                ("back", "backup's \(PartScene.external)/back"),
                ("other", "backup's \(PartScene.external)/other"),
                ("only here", "present \(PartScene.external)/only here"),
            ] {
                let bytes = try sandbox.read("Stores/\(PartScene.external)/\(file)")
                #expect(String(decoding: bytes, as: UTF8.self) == text)
            }
            #expect(try part.rows("SELECT count(*) FROM item", in: PartScene.store) == "11\n")
        }
    }

    @Test("comes with its store where no directory for it is left, and no row lacks its file")
    func coreData() async throws {
        let scene = try Scene(withStore: false)
        try Fixtures.copy("stores/core-data", into: scene.sandbox, as: "Stores")
        try await scene.backUp()
        let before = try PartScene.state(of: scene.stores)
        for name in try Directory.open(scene.stores).names() {
            try LocalFileSystem().remove(scene.stores.appending(name.description))
        }
        try scene.sandbox.write("x", to: "Stores/mine")
        try await scene.restore { $0.only = ["Model.sqlite"] }
        var after = try PartScene.state(of: scene.stores)
        #expect(after.removeValue(forKey: try RelativePath("mine")) != nil)
        #expect(after == before)
    }
}
