import Age
import Files
import Foundation
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Increments that are moved, shown and chosen")
struct IncrementMovingTests {
    private let life: IncrementScene
    private let backups: [Backup]

    /// A whole backup and three increments: the last needs the one before it, and the whole one.
    init() async throws {
        life = try IncrementScene(seed: 11)
        backups = try await life.makeChain(4)
    }

    private func outside(_ name: String) throws -> BackupFolder {
        life.scene.folder(LocalFolder(try life.scene.sandbox.directory(name)))
    }

    @Test("A fetched increment brings its bases and restores from there, replacing no file")
    func fetched() async throws {
        let usb = try life.scene.sandbox.directory("USB")
        let fetch = FetchBackup(
            from: life.scene.folder(),
            allowsDamage: false,
            at: Scene.morning,
            context: life.scene.context()
        )
        let first = try await fetch.run(backups[2], to: usb.appending(backups[2].name))
        #expect(first.needs.map(\.wasThere) == [false])
        let second = try await fetch.run(backups[3], to: usb.appending("Mine.zip"))
        #expect(second.needs.map(\.wasThere) == [true, true])
        #expect(second.needs.map { $0.path.lastComponent?.string } == backups[3].needs.map(\.name))
        let mine = usb.appending("Mine.zip")
        try LocalFileSystem().move(mine, to: usb.appending(backups[3].name))
        let folder = try outside("USB")
        let target = try life.scene.sandbox.directory("FromUSB")
        try await life.extract(folder.find(backups[3].name), from: folder, to: target)
        let expected = try #require(life.expected[backups[3].name])
        #expect(try IncrementScene.differences(target, expected).isEmpty)
        // Another file of the same name is in the way, and stays.
        let other = usb.appending(backups[0].name)
        try Data("mine".utf8).write(to: URL(filePath: other.string))
        await #expect(throws: FileError.exists(other)) {
            try await fetch.run(backups[1], to: usb.appending(backups[1].name))
        }
        #expect(try life.scene.sandbox.read("USB/\(backups[0].name)") == Array("mine".utf8))
        #expect(try FileInfo.ifPresent(usb.appending(backups[1].name)) == nil)
    }

    @Test("An increment fetched without a key brings the bases that are remembered")
    func fetchedSealed() async throws {
        let identity = try Identity.generate()
        func keys(_ identities: [Identity]) -> BackupKeys {
            BackupKeys(
                encrypts: true,
                recipients: { [identity.recipient] },
                identities: { identities }
            )
        }
        let scene = life.scene
        let path = scene.sandbox.path("Cache/sealed.json")
        let remote = LocalFolder(try scene.sandbox.directory("Sealed"))
        let catalog = BackupCatalog(path, keys: keys([identity]))
        let sealed = scene.folder(remote, catalog: catalog)
        var options = CopyBackups.Options(date: life.date)
        options.recipients = [identity.recipient]
        _ = try await CopyBackups(
            from: scene.folder(),
            to: sealed,
            options: options,
            context: scene.context()
        ).run(nil)
        _ = try await sealed.list()
        try await catalog.save()

        let usb = try scene.sandbox.directory("USB")
        let folder = scene.folder(remote, catalog: BackupCatalog(path, keys: keys([])))
        let fetch = FetchBackup(
            from: folder,
            allowsDamage: false,
            at: Scene.morning,
            context: scene.context()
        )
        let name = "\(backups[3].name).age"
        let fetched = try await fetch.run(folder.find(name), to: usb.appending(name))
        #expect(!fetched.isVerified && fetched.damage == nil)
        let needs = backups[3].needs.map { "\($0.name).age" }
        #expect(fetched.needs.map { $0.path.lastComponent?.string } == needs)
        let read = scene.folder(
            LocalFolder(usb),
            catalog: BackupCatalog(scene.sandbox.path("Cache/usb.json"), keys: keys([identity]))
        )
        let target = try scene.sandbox.directory("FromUSB")
        try await life.extract(read.find(name), from: read, to: target)
        let expected = try #require(life.expected[backups[3].name])
        #expect(try IncrementScene.differences(target, expected).isEmpty)

        // If nothing is known of a machine, a key has to decide.
        let unknown = scene.folder(
            remote,
            catalog: BackupCatalog(scene.sandbox.path("Cache/none.json"), keys: keys([]))
        )
        let other = try scene.sandbox.directory("Other")
        await #expect(throws: AgeError.self) {
            try await FetchBackup(
                from: unknown,
                allowsDamage: false,
                at: Scene.morning,
                context: scene.context()
            )
            .run(unknown.find(name), to: other.appending(name))
        }
        #expect(try Directory.open(other).names().isEmpty)
    }

    @Test("An imported increment brings the bases beside it, and is refused without them")
    func imported() async throws {
        let other = try outside("Other")
        let download = try life.scene.sandbox.directory("Download")
        func bring(_ index: Int) throws -> FilePath {
            let file = download.appending(backups[index].name)
            try FileManager.default.copyItem(
                atPath: life.scene.remotePath.appending(backups[index].name).string,
                toPath: file.string
            )
            return file
        }
        let importing = ImportArchive(
            to: other,
            options: .init(date: life.date),
            context: life.scene.context()
        )
        let file = try bring(3)
        _ = try bring(2)
        let error = await #expect(throws: MovingError.self) { try await importing.run(file) }
        #expect(error?.description.contains(backups[0].displayName) == true)
        #expect(try await other.list().backups.isEmpty)
        _ = try bring(0)
        let outcome = try await importing.run(file)
        #expect(outcome.needs.map(\.name) == [backups[0].name, backups[2].name])
        #expect(outcome.backup.name == backups[3].name)
        let target = try life.scene.sandbox.directory("FromOther")
        try await life.extract(other.find("latest"), from: other, to: target)
        let expected = try #require(life.expected[backups[3].name])
        #expect(try IncrementScene.differences(target, expected).isEmpty)
        // Now that the whole one is there, one alone is enough.
        let next = try bring(1)
        #expect(try await importing.run(next).needs.isEmpty)
    }

    @Test("Showing an increment names its bases and its dependants")
    func shown() async throws {
        let show = ShowBackup(in: life.scene.folder(), context: life.scene.context())
        let second = try await show.run(backups[2].name)
        #expect(second.backup.needs.map(\.name) == [backups[0].name])
        #expect(second.neededBy.map(\.name) == [backups[3].name])
        let first = try await show.run(backups[0].name)
        #expect(first.neededBy.map(\.name) == backups.dropFirst().reversed().map(\.name))
    }

    @Test("Choosing by moment takes the newest increment until then, and no safety backup")
    func chosen() async throws {
        let folder = life.scene.folder()
        let time = try #require(backups[1].time)
        func newest(_ offset: TimeInterval) async throws -> String {
            try await ImpliedBackup.newest(
                in: folder,
                until: time + offset,
                saying: "then"
            ) { _ in }.0.backup.name
        }
        #expect(try await newest(0) == backups[1].name)
        #expect(try await newest(3599) == backups[1].name)
        #expect(try await newest(-1) == backups[0].name)
        #expect(try await newest(1_000_000) == backups[3].name)
        await #expect(throws: BackupFolderError.noneUntil("then", address: folder.address)) {
            try await newest(-1_000_000)
        }
        var options = life.scene.options(at: time + 1)
        options.reason = "restore"
        _ = try await CreateBackup(
            of: life.scene.stores,
            to: folder,
            options: options,
            context: life.scene.context()
        ).run()
        #expect(try await newest(3599) == backups[1].name)
    }
}
