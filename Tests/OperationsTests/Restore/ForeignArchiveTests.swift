import Sample
@testable import Backups
import Files
import Foundation
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Operations

@Suite("An archive of another program")
struct ForeignArchiveTests {
    private static let python = """
        import os, sys, zipfile
        with zipfile.ZipFile(sys.argv[1], 'w', getattr(zipfile, sys.argv[2])) as archive:
            for folder, folders, files in os.walk('.'):
                for name in files + folders:
                    archive.write(os.path.join(folder, name))
        """

    @Test(
        "restores with all its bytes",
        arguments: [
            ["zip", "-qry", "ARCHIVE", "."], ["zip", "-qry0", "ARCHIVE", "."],
            ["zip", "-qryZ", "bzip2", "ARCHIVE", "."],
            ["7z", "a", "-bso0", "-tzip", "ARCHIVE", "."],
            ["bsdtar", "--format", "zip", "-cf", "ARCHIVE", "."],
            ["python3", "-c", python, "ARCHIVE", "ZIP_DEFLATED"],
            ["python3", "-c", python, "ARCHIVE", "ZIP_STORED"],
            ["python3", "-c", python, "ARCHIVE", "ZIP_BZIP2"],
        ]
    )
    func restores(command: [String]) async throws {
        guard Tool.isInstalled(command[0]) else {
            print("skipped: \(command[0]) is not installed")
            return
        }
        let scene = try Scene()
        var random = Pseudorandom(seed: 4)
        try scene.sandbox.write(random.bytes(3_000_000), to: "Stores/large")
        try scene.sandbox.write([UInt8](repeating: 9, count: 3_000_000), to: "Stores/same")
        try scene.sandbox.write("text", to: "Stores/deep/er/file")
        let before = try scene.sandbox.contents(of: "Stores")
        let archive = scene.remotePath.appending("Old Stores.zip").string
        try Tool.check(
            command[0],
            command.dropFirst().map { $0 == "ARCHIVE" ? archive : $0 },
            directory: scene.stores
        )
        _ = try GroceryStore(in: scene.stores).remove(name: "Apples")
        try await scene.restore("Old") { $0.makesSafetyBackup = false }
        let after = try scene.sandbox.contents(of: "Stores")
        func data(_ contents: Contents) -> [String] {
            contents.items.filter { $0.kind == .file }.map { "\($0.path) \($0.detail)" }
        }
        #expect(data(after) == data(before))
        #expect(try scene.itemNames().count == 12)
    }

    @Test("with a store, its log and the log's index as files has what the log holds")
    func storeWithLog() async throws {
        guard Tool.isInstalled("zip") else { return print("skipped: zip is not installed") }
        let scene = try Scene(withStore: false)
        try scene.sandbox.directory("Stores")
        let path = scene.stores.appending("app.sqlite")
        try StoreApplication(
            on: path,
            "PRAGMA journal_mode = wal",
            "CREATE TABLE t (x)",
            "INSERT INTO t VALUES (1)"
        ).kill()
        try Tool.check(
            "zip",
            ["-qr", scene.remotePath.appending("Old Stores.zip").string, "."],
            directory: scene.stores
        )
        try LocalFileSystem().remove(scene.stores)
        let outcome = try await scene.restore("Old")
        #expect(outcome.stores == 1)
        let survey = try StoresDirectory(scene.stores).survey()
        let cut = try StoresCut(
            of: survey.stores,
            scratchParent: scene.sandbox.path("Scratch"),
            busyTimeout: .seconds(5)
        )
        let report = try cut.members[0].snapshot.report(hasSupportDirectory: false)
        #expect(report.facts.tables.map(\.rows) == [1])
    }

    @Test("whose names differ only in case is refused; one of ours that has such names is not")
    func caseClash() async throws {
        guard Tool.isInstalled("zip") else { return print("skipped: zip is not installed") }
        let scene = try Scene()
        try scene.sandbox.write("a", to: "Stores/Readme")
        try scene.sandbox.write("b", to: "Stores/README")
        try #require(
            scene.sandbox.read("Stores/Readme") == Array("a".utf8),
            "this file system ignores case"
        )
        try Tool.check(
            "zip",
            ["-qr", scene.remotePath.appending("Old Stores.zip").string, "."],
            directory: scene.stores
        )
        let error = await #expect(throws: RestoreError.self) { try await scene.restore("Old") }
        #expect(error?.description.contains("the same name if case is ignored") == true)
        try await scene.backUp()
        try await scene.restore("[2026") { $0.makesSafetyBackup = false }
        #expect(try scene.sandbox.read("Stores/README") == Array("b".utf8))
    }

    /// Unpacks an archive and packs its files again, with the manifest as the last of them.
    private static let repack = """
        import os, subprocess, sys, zipfile
        old, new, how = sys.argv[1:]
        with zipfile.ZipFile(old) as archive:
            names = archive.namelist()
            if how != 'zip':
                with zipfile.ZipFile(new, 'w', zipfile.ZIP_DEFLATED) as packed:
                    for name in names:
                        record = archive.getinfo(name) if how == 'copy' else name
                        packed.writestr(record, archive.read(name))
                sys.exit()
            archive.extractall('unpacked')
        subprocess.run(['zip', '-qX', os.path.abspath(new), *names], cwd='unpacked', check=True)
        """

    @Test(
        "that was one of ours, packed again with the manifest last, restores, and says what it is",
        arguments: ["zip", "zipfile"]
    )
    func packedAgain(how: String) async throws {
        guard Tool.isInstalled("python3"), Tool.isInstalled("zip") else {
            print("skipped: python3 or zip is not installed")
            return
        }
        let (scene, before) = try await repacked(how)
        try await scene.restore("Anew") { $0.makesSafetyBackup = false }
        let after = try scene.sandbox.contents(of: "Stores")
        #expect(after.items.map(\.detail) == before.items.map(\.detail))
        #expect(scene.told.contains { $0.contains("packed this backup again") })
        // Its own damage is damage all the same.
        let path = scene.remotePath.appending("Anew Stores.zip")
        let file = try scene.sandbox.read("Remote/Anew Stores.zip")
        var bytes = file
        bytes[bytes.count / 2] ^= 4
        try scene.sandbox.write(bytes, to: "Remote/Anew Stores.zip")
        #expect(try FileInfo(of: path).size == Int64(file.count))
        await #expect(throws: RestoreError.self) { try await scene.restore("Anew") }
    }

    @Test(
        "that was one of ours, packed again with all that its records said, is reported with a way out"
    )
    func copiedRecords() async throws {
        guard Tool.isInstalled("python3"), Tool.isInstalled("zip") else {
            print("skipped: python3 or zip is not installed")
            return
        }
        let (scene, before) = try await repacked("copy")
        let error = await #expect(throws: RestoreError.self) {
            try await scene.restore("Anew") { $0.makesSafetyBackup = false }
        }
        let hint = try #require(error?.hint)
        let command = try #require(hint.firstRange(of: "zip -d ")).lowerBound
        try Tool.check("sh", ["-c", String(hint[command...])], directory: scene.remotePath)
        try await scene.restore("Anew") { $0.makesSafetyBackup = false }
        let after = try scene.sandbox.contents(of: "Stores")
        #expect(after.items.map(\.detail) == before.items.map(\.detail))
    }

    private func repacked(_ how: String) async throws -> (Scene, before: Contents) {
        let scene = try Scene()
        var random = Pseudorandom(seed: 4)
        try scene.sandbox.write(random.text(3_000_000), to: "Stores/large")
        let before = try scene.sandbox.contents(of: "Stores")
        let ours = scene.remotePath.appending(try await scene.backUp().backup.name)
        try Tool.check(
            "python3",
            ["-c", Self.repack, ours.string, "Remote/Anew Stores.zip", how],
            directory: scene.sandbox.path
        )
        try LocalFileSystem().remove(scene.sandbox.path("unpacked"))
        return (scene, before)
    }

    @Test("is held to limits that can be raised, each by its own")
    func limits() async throws {
        guard Tool.isInstalled("python3") else { return print("skipped: python3 is not installed") }
        let scene = try Scene()
        let script = """
            import sys, zipfile
            with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as archive:
                archive.writestr('a/b/c/deep', bytes(100_000))
                archive.writestr('other', bytes(100_000))
            """
        try Tool.check(
            "python3",
            ["-c", script, scene.remotePath.appending("Old Stores.zip").string]
        )
        var strict = RestoreLimits()
        (strict.entries, strict.bytes, strict.depth) = (1, 199_999, 3)
        (strict.ratio, strict.freeBytes) = (2, 100)
        let raises: [(String, (inout RestoreLimits) -> Void)] = [
            ("entries", { $0.entries = 2 }), ("size", { $0.bytes = 200_000 }),
            ("ratio", { $0.ratio = 1000 }), ("depth", { $0.depth = 4 }),
        ]
        for (name, raise) in raises {
            let limits = strict
            let error = await #expect(throws: RestoreError.self) {
                try await scene.restore("Old") { $0.limits = limits }
            }
            guard case .restoreFailed(ArchivedBackupError.beyondLimit(_, _, let kind)) = error
            else {
                Issue.record("not refused for a limit: \(error.debugDescription)")
                return
            }
            #expect("\(kind)" == name)
            raise(&strict)
        }
        let limits = strict
        try await scene.restore("Old") {
            $0.limits = limits
            $0.allowsNoStores = true
        }
        #expect(try scene.sandbox.read("Stores/a/b/c/deep").count == 100_000)
    }

    @Test("that would fill the disk many times over is refused before it begins")
    func bomb() async throws {
        guard Tool.isInstalled("python3") else { return print("skipped: python3 is not installed") }
        let scene = try Scene()
        let script = """
            import sys, zipfile
            with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as archive:
                with archive.open('zeros', 'w') as entry:
                    for _ in range(200): entry.write(bytes(1 << 20))
            """
        try Tool.check(
            "python3",
            ["-c", script, scene.remotePath.appending("Bomb Stores.zip").string]
        )
        let error = await #expect(throws: RestoreError.self) { try await scene.restore("Bomb") }
        #expect(error?.description.contains("zip bomb") == true)
        #expect(try scene.leftovers() == [])
        #expect(try scene.itemNames().count == 12)
    }

    @Test("has no file that comes back set-user-id or set-group-id, nor has one that nobody signed")
    func setUserID() async throws {
        guard Tool.isInstalled("python3") else { return print("skipped: python3 is not installed") }
        let scene = try Scene(withStore: false)
        let script = """
            import sys, zipfile
            with zipfile.ZipFile(sys.argv[1], 'w') as archive:
                for name, mode in ('file', 0o106755), ('folder/', 0o043777):
                    entry = zipfile.ZipInfo(name)
                    entry.create_system = 3
                    entry.external_attr = mode << 16
                    archive.writestr(entry, '')
            """
        try Tool.check(
            "python3",
            ["-c", script, scene.remotePath.appending("Old Stores.zip").string]
        )
        try await scene.restore("Old") { $0.makesSafetyBackup = false }
        #expect(try scene.sandbox.contents(of: "Stores").items.map(\.mode) == [0o755, 0o777])
        try Tool.check("chmod", ["6755", scene.stores.appending("file").string])
        try Tool.check("chmod", ["3777", scene.stores.appending("folder").string])
        try await scene.backUp()
        try LocalFileSystem().remove(scene.stores)
        try await scene.restore("[2026")
        #expect(try scene.sandbox.contents(of: "Stores").items.map(\.mode) == [0o755, 0o3777])
    }

    @Test("has no pipes, sockets and devices for us: they are left out, and that is said once")
    func specialFiles() async throws {
        guard Tool.isInstalled("python3") else { return print("skipped: python3 is not installed") }
        let scene = try Scene(withStore: false)
        let script = """
            import sys, zipfile
            with zipfile.ZipFile(sys.argv[1], 'w') as archive:
                archive.writestr('file', 'milk')
                modes = [0o010644, 0o020644, 0o060644, 0o140644, 0o010600]
                for number, mode in enumerate(modes[:int(sys.argv[2])]):
                    entry = zipfile.ZipInfo(f'special{number}')
                    entry.create_system = 3
                    entry.external_attr = mode << 16
                    # What a program read out of a pipe is data like any other.
                    archive.writestr(entry, '' if number < 4 else 'eggs')
            """
        for (count, said) in [(5, "4 entries are left out"), (1, "1 entry is left out")] {
            let name = "Old \(count) Stores.zip"
            try Tool.check(
                "python3",
                ["-c", script, scene.remotePath.appending(name).string, "\(count)"]
            )
            try await scene.restore("Old \(count)") { $0.makesSafetyBackup = false }
            let files = ["file"] + (count == 5 ? ["special4"] : [])
            #expect(try scene.sandbox.contents(of: "Stores").paths == files)
            let told = scene.told.filter { $0.contains(said) }
            #expect(told.count == 1 && told[0].contains("'special0'"), "\(scene.told)")
        }
    }
}
