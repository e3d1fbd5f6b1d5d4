import Archives
import Files
import Foundation
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Importing an archive")
struct ImportArchiveTests {
    private let scene: Scene

    init() throws {
        scene = try Scene()
    }

    private var now: Date { Scene.morning + 86_400 }

    private func run(
        _ path: FilePath,
        _ change: (inout ImportArchive.Options) -> Void = { _ in }
    ) async throws -> ImportArchive.Outcome {
        var options = ImportArchive.Options(date: now)
        change(&options)
        return try await ImportArchive(
            to: scene.folder(),
            options: options,
            context: scene.context()
        ).run(path)
    }

    /// Makes a zip as other programs do, of the stores or of a text.
    private func zip(_ name: String, ofStores: Bool = true) throws -> FilePath {
        let path = scene.sandbox.path(name)
        let text = "from zipfile import *; import sys, os\nz = ZipFile(sys.argv[1], 'w')\n"
        let files = try ofStores ? Directory.open(scene.stores).names().map(\.description) : []
        for file in files { _ = file }
        try Tool.check(
            "python3",
            [
                "-c",
                text
                    + (ofStores
                        ? "[z.write(sys.argv[2] + '/' + n, n) for n in os.listdir(sys.argv[2]) if n.endswith('.sqlite')]"
                        : "z.writestr('a.txt', 'SQLite format')") + "\nz.close()",
                path.string, scene.stores.string,
            ]
        )
        return path
    }

    @Test("An import takes the time of the manifest, whatever the file's name, and keeps the file")
    func ours() async throws {
        let backup = try await scene.backUp().backup
        let path = scene.sandbox.path("download.zip")
        try LocalFileSystem().move(scene.remotePath.appending(backup.name), to: path)
        let before = try scene.sandbox.read("download.zip")
        let outcome = try await run(path) {
            $0.time = now
            $0.tags = ["old"]
            $0.note = "found"
        }
        #expect(outcome.backup.name == backup.name && outcome.timeSource == .manifest)
        #expect(outcome.stores == 1 && !outcome.wasThere)
        #expect(scene.told.contains { $0.contains("is not used") })
        #expect(try scene.sandbox.read("download.zip") == before)
        let listed = try await scene.list()
        #expect(listed.map(\.id) == [backup.id] && listed.map(\.tags) == [["old"]])
        #expect(listed[0].note == "found")
        #expect(try await run(path).wasThere)
        #expect(try await scene.list().count == 1)
        #expect(try scene.leftovers() == ["download.zip"])
    }

    @Test("An import of what is there already is made all the same if that is damaged")
    func damagedThere() async throws {
        let backup = try await scene.backUp().backup
        let whole = try scene.sandbox.read("Remote/\(backup.name)")
        try scene.sandbox.write(whole, to: "whole.zip")
        var damaged = whole
        for index in 200..<216 { damaged[index] ^= 0xFF }
        try scene.sandbox.write(damaged, to: "Remote/\(backup.name)")
        let path = scene.sandbox.path("whole.zip")
        let outcome = try await run(path)
        #expect(!outcome.wasThere && outcome.backup.name != backup.name)
        #expect(scene.told.contains { $0.contains("is there already, and damaged") })
        #expect(try await scene.list().count == 2)
    }

    @Test(
        "An import of a foreign archive takes the given time, or its name's, or its file's",
        .enabled(if: Tool.isInstalled("python3"), "python3 is not installed")
    )
    func foreign() async throws {
        let path = try zip("[2020-Feb-03] 04.05 PM Stores.zip")
        let named = try await run(path)
        #expect(named.backup.name == "[2020-Feb-03] 04.05 PM Stores.zip")
        #expect(named.timeSource == .name && named.stores == 1)
        // The same one, though its name is to be another.
        #expect(try await run(path) { $0.time = now }.wasThere)
        let other = try zip("other.zip", ofStores: false)
        let file = try File.open(other)
        try file.setModified(1_600_000_000_000_000_000)
        let dated = try await run(other)
        #expect(dated.backup.name == "[2020-Sep-13] 12.26 PM Stores.zip")
        #expect(dated.timeSource == .file && dated.stores == 0)
        #expect(scene.told.contains { $0.contains("has no store in it") })
        try await DeleteBackup(from: scene.folder(), context: scene.context())
            .run(dated.backup, at: now, keepingTrash: .zero)
        let given = try await run(other) { $0.time = Scene.morning }
        #expect(given.backup.name == "[2026-Nov-21] 09.01 AM Stores.zip")
        #expect(given.timeSource == .given)
    }

    @Test("An import takes the next number, or the wanted one, if its name is taken")
    func sameName() async throws {
        let path = scene.sandbox.path("download.zip")
        let backup = try await scene.backUp().backup
        try LocalFileSystem().move(scene.remotePath.appending(backup.name), to: path)
        let other = try await scene.backUp().backup
        #expect(other.name == backup.name)
        await #expect(throws: BackupFolderError.self) {
            try await run(path) { $0.sameName = .fail }
        }
        #expect(try await run(path).backup.displayName == "\(backup.displayName) (2)")
    }

    @Test("An import refuses damaged archives and other files")
    func refuses() async throws {
        let backup = try await scene.backUp().backup
        var bytes = try scene.sandbox.read("Remote/\(backup.name)")
        // One byte may be one that no decoder looks at.
        for index in bytes.count / 3..<bytes.count / 3 + 64 { bytes[index] ^= 0xFF }
        let path = try scene.sandbox.write(bytes, to: "bad.zip")
        await #expect(throws: MovingError.self) { try await run(path) }
        let text = try scene.sandbox.write("text", to: "text.zip")
        await #expect(throws: MovingError.self) { try await run(text) }
        await #expect(throws: FileError.self) { try await run(scene.sandbox.path("none")) }
        #expect(try await scene.list().count == 1)
        #expect(try scene.leftovers() == ["bad.zip", "text.zip"])
    }

    @Test(
        "An import of a zip whose compression is unknown here does not call it damaged",
        .enabled(if: Tool.isInstalled("7z"), "there is no 7z")
    )
    func unknownCompression() async throws {
        let file = try scene.sandbox.write(String(repeating: "milk ", count: 9999), to: "a")
        let path = scene.sandbox.path("deflate64.zip")
        try Tool.check("7z", ["a", "-tzip", "-mm=Deflate64", path.string, file.string])
        let error = await #expect(throws: ArchiveError.self) { try await run(path) }
        guard case .unsupported(_, "a", _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.description.contains("in 'deflate64.zip' cannot be read") == true)
        #expect(try await scene.list().isEmpty)
    }
}

@Suite("Fetching a backup")
struct FetchBackupTests {
    private let scene: Scene

    init() throws {
        scene = try Scene()
        try scene.sandbox.directory("Here")
    }

    private func fetch(
        _ backup: Backup,
        from remote: (any RemoteFolder)? = nil,
        allowsDamage: Bool = false
    ) async throws -> FetchBackup.Outcome {
        try await FetchBackup(
            from: BackupFolder(
                remote ?? scene.remote,
                staging: scene.sandbox.path("Scratch"),
                memory: BackupMemory(catalog: scene.catalog),
                timeZone: Scene.utc
            ),
            allowsDamage: allowsDamage,
            at: Scene.morning,
            context: scene.context()
        ).run(backup, to: scene.sandbox.path("Here/\(backup.name)"))
    }

    private func names() throws -> [String] { try scene.sandbox.contents(of: "Here").paths }

    @Test(
        "A fetch makes a file of the backup's name, and overwrites none",
        arguments: [false, true]
    )
    func fetches(isElsewhere: Bool) async throws {
        var backup = try await scene.backUp().backup
        let elsewhere = Elsewhere(folder: scene.remote, isFetching: true)
        if isElsewhere { backup.file.location = nil }
        let remote: (any RemoteFolder)? = isElsewhere ? elsewhere : nil
        let outcome = try await fetch(backup, from: remote)
        #expect(outcome.path == scene.sandbox.path("Here/\(backup.name)"))
        #expect(try names() == [backup.name])
        #expect(
            try scene.sandbox.read("Here/\(backup.name)")
                == scene.sandbox.read("Remote/\(backup.name)")
        )
        try scene.sandbox.write("mine", to: "Here/\(backup.name)")
        await #expect(throws: FileError.exists(outcome.path)) {
            try await fetch(backup, from: remote)
        }
        #expect(try scene.sandbox.read("Here/\(backup.name)") == Array("mine".utf8))
    }

    @Test("A fetch of a damaged backup leaves nothing unless an option says so")
    func damaged() async throws {
        let backup = try await scene.backUp().backup
        var bytes = try scene.sandbox.read("Remote/\(backup.name)")
        // One byte may be one that no decoder looks at.
        for index in bytes.count / 3..<bytes.count / 3 + 64 { bytes[index] ^= 0xFF }
        try scene.sandbox.write(bytes, to: "Remote/\(backup.name)")
        await #expect(throws: MovingError.self) { try await fetch(backup) }
        #expect(try names().isEmpty)
        #expect(try await fetch(backup, allowsDamage: true).damage != nil)
        #expect(try names() == [backup.name])
    }
}
