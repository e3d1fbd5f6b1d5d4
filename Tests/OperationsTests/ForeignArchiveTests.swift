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
        let writer = try RunningTool(Tool.product("StoreWriter"), ["sql", path.string])
        for sql in ["PRAGMA journal_mode = wal", "CREATE TABLE t (x)", "INSERT INTO t VALUES (1)"] {
            try writer.writeLine(sql)
        }
        for expected in ["ready", "ok", "ok", "ok"] { #expect(try writer.readLine() == expected) }
        writer.kill()
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
        let error = await #expect(throws: OperationError.self) { try await scene.restore("Old") }
        #expect(error?.description.contains("one name where case is ignored") == true)
        try await scene.backUp()
        try await scene.restore("[2026") { $0.makesSafetyBackup = false }
        #expect(try scene.sandbox.read("Stores/README") == Array("b".utf8))
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
        let error = await #expect(throws: OperationError.self) { try await scene.restore("Bomb") }
        #expect(error?.description.contains("zip bomb") == true)
        #expect(try scene.leftovers() == [])
        #expect(try scene.itemNames().count == 12)
    }
}
