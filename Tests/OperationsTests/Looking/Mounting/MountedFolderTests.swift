import Age
import Archives
import Files
import Foundation
import Mounts
import Remotes
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Backups as a file system, without a kernel")
struct MountedFolderTests {
    private static let seed: UInt64 = 20_261_124
    private let scene: IncrementScene

    init() throws {
        scene = try IncrementScene(seed: Self.seed)
    }

    private var remote: FilePath { scene.scene.remotePath }

    private func mount(
        _ folder: BackupFolder? = nil,
        _ context: OperationContext? = nil,
        pace: Duration = .zero
    ) async throws -> MountedScene {
        try await MountedScene(
            of: folder ?? scene.scene.folder(),
            context ?? scene.scene.context(),
            pace: pace
        )
    }

    private func display(_ name: String) -> String { BackupName.display(name) }

    @Test("Each mounted backup is a directory with the content of a restore, whatever its bases")
    func everyFile() async throws {
        _ = try await scene.makeChain(1)
        for _ in 0..<7 {
            for _ in 0..<3 { try scene.edit() }
            try await scene.backUp()
        }
        let (names, expected) = (scene.names, scene.expected)
        let mounted = try await mount()
        try await WorkThread.run { () throws in
            #expect(try mounted.names() == (names.map(display) + ["latest"]).sorted())
            for name in names {
                let whole = try #require(expected[name])
                #expect(
                    try mounted.tree(display(name)) == MountedScene.expected(whole),
                    "\(name), seed \(Self.seed)"
                )
            }
            let link = try mounted.node("latest")
            let last = try #require(names.last)
            #expect(link.kind == .link && link.size == Int64(display(last).utf8.count))
            #expect(try mounted.folder.target(of: link.inode) == Array(display(last).utf8))
        }
    }

    @Test("Inodes survive closing a backup, whole or not, and an open file stays readable")
    func inodes() async throws {
        try scene.makeStore("store0.sqlite", rows: 3000)
        let bytes = scene.random.bytes(3 << 20)
        try scene.scene.sandbox.write(bytes, to: "Stores/large")
        for number in 0..<7 {
            try scene.scene.sandbox.write("\(number)", to: "Stores/b\(number)")
            try await scene.backUp()
        }
        let names = scene.names.map(display)
        let mounted = try await mount(pace: .seconds(3600))
        let first = try await WorkThread.run { () throws in
            let first = try mounted.node("\(names[0])/large")
            let file = try mounted.folder.open(first.inode)
            var inodes: [[UInt64]] = []
            for _ in 0..<2 {
                // More than are open at a time.
                inodes.append(
                    try names.flatMap { name in
                        let directory = try mounted.node(name).inode
                        return try mounted.folder.names(in: directory).map(\.inode)
                    }
                )
            }
            #expect(inodes[0] == inodes[1])
            #expect(Set(inodes[0]).count == inodes[0].count)
            #expect(try file.readExactly(count: 3 << 20, at: 0) == bytes)
            return first
        }
        // By the paths in it, in order.
        #expect(first.inode & 0xFFFF_FFFF == 2)
    }

    @Test(
        "A mounted foreign archive has implied directories, and nothing stays unpacked for long"
    )
    func foreign() async throws {
        let stores = scene.scene.stores
        let application = try StoreApplication(
            on: stores.appending("log.sqlite"),
            "PRAGMA journal_mode = WAL",
            "CREATE TABLE t (x)",
            "INSERT INTO t VALUES ('in the log')"
        )
        let large = scene.random.bytes(3 << 20)
        try scene.scene.sandbox.directory("Stores/a/b/c")
        try scene.scene.sandbox.write(large, to: "Stores/a/b/c/large")
        try scene.scene.sandbox.write("small", to: "Stores/a/b/small")
        try scene.scene.sandbox.link("Stores/a/link", to: "b/small")
        let zip = remote.appending("Other Stores.zip")
        try Tool.check("zip", ["-ryD", zip.string, "."], directory: stores)
        try application.end()
        let mounted = try await mount()
        let context = scene.scene.sandbox.path("Scratch")
        try await WorkThread.run { () throws in
            #expect(
                try mounted.names("Other") == [
                    "a", "log.sqlite", "log.sqlite-shm", "log.sqlite-wal",
                ]
            )
            #expect(try mounted.node("Other/a/b/c").mode == 0o555)
            #expect(try mounted.contents(mounted.node("Other/a/b/small")) == Array("small".utf8))
            let link = try mounted.node("Other/a/link")
            #expect(try mounted.folder.target(of: link.inode) == Array("b/small".utf8))
            let node = try mounted.node("Other/a/b/c/large")
            #expect(try mounted.contents(node) == large)
            do {
                let file = try mounted.folder.open(node.inode)
                #expect(try file.readExactly(count: 1, at: 99) == [large[99]])
                #expect(try Directory.open(context).names().count == 1)
            }
            #expect(try Directory.open(context).names() == [])
        }
    }

    @Test("A mounted store in WAL mode has SQLite's files beside it by name, and in no listing")
    func sidecars() async throws {
        for (name, mode) in [("wal.sqlite", "WAL"), ("old.sqlite", "DELETE")] {
            try StoreApplication(
                on: scene.scene.stores.appending(name),
                "PRAGMA journal_mode = \(mode)",
                "CREATE TABLE t (x)"
            ).end()
        }
        try scene.scene.sandbox.write("text", to: "Stores/text")
        let bytes = try scene.scene.sandbox.read("Stores/wal.sqlite")
        try await scene.backUp()
        let mounted = try await mount()
        let name = display(scene.names[0])
        try await WorkThread.run { () throws in
            #expect(try mounted.names(name) == ["old.sqlite", "text", "wal.sqlite"])
            for ending in ["-wal", "-shm"] {
                let node = try mounted.node("\(name)/wal.sqlite\(ending)")
                #expect(node.kind == .file && node.size == 0 && node.mode & 0o222 == 0)
                #expect(try mounted.folder.node(node.inode) == node)
                #expect(try mounted.contents(node) == [])
                for other in ["old.sqlite", "text", "nothing", ""] {
                    #expect(
                        MountedScene.errno { try mounted.node("\(name)/\(other)\(ending)") }
                            == .noSuchFileOrDirectory
                    )
                }
            }
            #expect(
                MountedScene.errno { try mounted.node("\(name)/wal.sqlite-journal") }
                    == .noSuchFileOrDirectory
            )
            // Not a byte is another one.
            #expect(try mounted.contents(mounted.node("\(name)/wal.sqlite")) == bytes)
        }
    }

    @Test("Damage in a mounted backup is an I/O error, reported once, and all else can be read")
    func damage() async throws {
        let large = scene.random.bytes(3 << 20)
        let note = Array("note".utf8)
        try scene.scene.sandbox.write(large, to: "Stores/large")
        try scene.scene.sandbox.write(note, to: "Stores/note")
        let backup = try await scene.backUp()
        let path = remote.appending(backup.name)
        var bytes = try [UInt8](Data(contentsOf: URL(filePath: path.string)))
        bytes[3 << 19] ^= 1
        try Data(bytes).write(to: URL(filePath: path.string))
        try Data(bytes[..<(1 << 20)]).write(
            to: URL(filePath: remote.appending("Short Stores.zip").string)
        )
        let mounted = try await mount()
        let name = display(backup.name)
        try await WorkThread.run { () throws in
            let file = try mounted.folder.open(mounted.node("\(name)/large").inode)
            for _ in 0..<3 {
                #expect(
                    MountedScene.errno { try file.readExactly(count: 9, at: 2_000_000) } == .ioError
                )
            }
            #expect(try file.readExactly(count: 1 << 20, at: 0) == Array(large[..<(1 << 20)]))
            #expect(
                try file.readExactly(count: 9, at: 3_000_000) == Array(large[3_000_000..<3_000_009])
            )
            #expect(try mounted.contents(mounted.node("\(name)/note")) == note)
            for _ in 0..<3 {
                #expect(try mounted.node("Short").kind == .directory)
                #expect(MountedScene.errno { try mounted.names("Short") } == .ioError)
                #expect(MountedScene.errno { try mounted.node("Short/note") } == .ioError)
            }
        }
        let told = scene.scene.told.filter {
            $0.hasPrefix("warning: ") && !$0.contains("no store is in")
        }
        #expect(
            told.count(where: {
                $0.contains(
                    "'large' in '\(backup.name)' is damaged in its bytes 1048576 to 2097151"
                )
            }) == 1
        )
        #expect(told.count(where: { $0.contains("Short") }) == 1)
        #expect(told.count == 2, "\(told)")
    }

    @Test(
        "A mounted encrypted backup is read with its key, and is a closed directory without it"
    )
    func encrypted() async throws {
        let identity = try Identity.generate()
        let keys = BackupKeys(
            encrypts: true,
            recipients: { [identity.recipient] },
            identities: { [identity] }
        )
        let catalog = BackupCatalog(scene.scene.sandbox.path("Keys/catalog.json"), keys: keys)
        let large = scene.random.bytes(3 << 20)
        try scene.scene.sandbox.write(large, to: "Stores/large")
        let outcome = try await CreateBackup(
            of: scene.scene.stores,
            to: scene.scene.folder(catalog: catalog),
            options: scene.scene.options(),
            context: scene.scene.context()
        ).run()
        #expect(outcome.backup.isEncrypted)
        let name = outcome.backup.displayName
        let open = try await mount(scene.scene.folder(catalog: catalog))
        let sealed = try await mount()
        try await WorkThread.run { () throws in
            #expect(try open.contents(open.node("\(name)/large")) == large)
            #expect(try sealed.node(name).kind == .directory)
            for _ in 0..<3 {
                #expect(MountedScene.errno { try sealed.names(name) } == .permissionDenied)
            }
        }
        #expect(scene.scene.told.count(where: { $0.contains("is encrypted") }) == 1)
    }

    @Test("Only the parts that are read of a mounted remote backup are fetched")
    func elsewhere() async throws {
        let large = scene.random.bytes(30 << 20)
        try scene.makeStore("store.sqlite", rows: 1)
        try scene.scene.sandbox.write(large, to: "Stores/large")
        try scene.scene.sandbox.write("note", to: "Stores/note")
        let backup = try await scene.backUp()
        let fetched = Mutex(0)
        let elsewhere = Elsewhere(folder: scene.scene.remote) { range, bytes in
            fetched.withLock { $0 += range.count }
            return bytes
        }
        let mounted = try await mount(scene.scene.folder(elsewhere))
        let name = display(backup.name)
        try await WorkThread.run { () throws in
            #expect(try mounted.node(name).kind == .directory)
            // Its facts show whether it is the latest of this machine.
            #expect(fetched.withLock(\.self) < 1 << 20)
            #expect(try mounted.contents(mounted.node("\(name)/note")) == Array("note".utf8))
            let file = try mounted.folder.open(mounted.node("\(name)/large").inode)
            #expect(
                try file.readExactly(count: 5, at: 20_000_000)
                    == Array(large[20_000_000..<20_000_005])
            )
            #expect(fetched.withLock(\.self) < 8 << 20)
        }
    }

    @Test(
        "A mounted backup behind rclone is read as a local one",
        .enabled(if: Tool.isInstalled("rclone"), "rclone is missing")
    )
    func rclone() async throws {
        _ = try await scene.makeChain(3)
        let staging = try scene.scene.sandbox.directory("Staging")
        let folder = BackupFolder(
            RcloneFolder(remote.string),
            staging: staging,
            memory: BackupMemory(catalog: scene.scene.catalog, log: nil),
            timeZone: Scene.utc
        )
        let (names, expected) = (scene.names, scene.expected)
        let mounted = try await mount(folder, pace: .seconds(3600))
        try await WorkThread.run { () throws in
            for name in names {
                let whole = try #require(expected[name])
                #expect(try mounted.tree(display(name)) == MountedScene.expected(whole))
            }
        }
    }

    @Test("New backups appear in a mount, deleted ones go, and open ones stay readable")
    func changes() async throws {
        let bytes = scene.random.bytes(2_500_000)
        try scene.scene.sandbox.write(bytes, to: "Stores/file")
        let first = try await scene.scene.backUp().backup
        let mounted = try await mount()
        let (node, file) = try await WorkThread.run { () throws in
            let node = try mounted.node("\(display(first.name))/file")
            return (node, try mounted.folder.open(node.inode))
        }
        try scene.scene.sandbox.write("new", to: "Stores/file")
        let second = try await scene.scene.backUp(at: Scene.morning + 3600).backup
        try await WorkThread.run { () throws in
            #expect(
                try mounted.names()
                    == [display(first.name), display(second.name), "latest"].sorted()
            )
            let link = try mounted.node("latest")
            #expect(try mounted.folder.target(of: link.inode) == Array(display(second.name).utf8))
            #expect(try mounted.node("\(display(first.name))/file").inode == node.inode)
        }
        try FileManager.default.removeItem(atPath: remote.appending(first.name).string)
        try await WorkThread.run { () throws in
            #expect(
                MountedScene.errno { try mounted.node(display(first.name)) }
                    == .noSuchFileOrDirectory
            )
            #expect(try mounted.names().contains(display(first.name)) == false)
            #expect(
                MountedScene.errno { try mounted.folder.node(node.inode) } == .staleNFSFileHandle
            )
            #expect(try file.readExactly(count: bytes.count, at: 0) == bytes)
        }
        // Another one of its name is another one.
        try FileManager.default.copyItem(
            atPath: remote.appending(second.name).string,
            toPath: remote.appending(first.name).string
        )
        try await WorkThread.run { () throws in
            let again = try mounted.node("\(display(first.name))/file")
            #expect(again.inode != node.inode)
            #expect(try mounted.contents(again) == Array("new".utf8))
        }
        try scene.scene.sandbox.write("newer", to: "Stores/file")
        let third = try await scene.scene.backUp(at: Scene.morning + 7200).backup
        // Nobody looks while there is none.
        try Tool.check(
            "mv",
            [remote.appending(third.name).string, remote.appending(first.name).string]
        )
        try await WorkThread.run { () throws in
            let replaced = try mounted.node("\(display(first.name))/file")
            #expect(try mounted.contents(replaced) == Array("newer".utf8))
        }
    }

    @Test("A mount keeps its known backups if the folder cannot be listed, and reports that once")
    func unlistable() async throws {
        try scene.scene.sandbox.write("note", to: "Stores/note")
        let backup = try await scene.backUp()
        let mounted = try await mount()
        let aside = scene.scene.sandbox.path("Aside")
        try FileManager.default.moveItem(atPath: remote.string, toPath: aside.string)
        try await WorkThread.run { () throws in
            for _ in 0..<3 {
                #expect(try mounted.names() == [display(backup.name), "latest"])
            }
        }
        #expect(scene.scene.told.count(where: { $0.contains("no remote folder") }) == 1)
        try FileManager.default.moveItem(atPath: aside.string, toPath: remote.string)
        try await WorkThread.run { () throws in
            #expect(
                try mounted.contents(mounted.node("\(display(backup.name))/note"))
                    == Array("note".utf8)
            )
        }
    }

    @Test("A mount answers senseless requests with the error numbers of the system")
    func errors() async throws {
        try scene.scene.sandbox.write("note", to: "Stores/note")
        try scene.scene.sandbox.directory("Stores/d")
        let name = display(try await scene.backUp().name)
        let mounted = try await mount()
        try await WorkThread.run { () throws in
            let folder = mounted.folder
            func errno(_ body: (MountedNode) throws -> Any, _ path: String) throws -> Errno? {
                let node = try mounted.node(path)
                return MountedScene.errno { try body(node) }
            }
            let (file, directory) = ("\(name)/note", "\(name)/d")
            #expect(try errno({ try folder.names(in: $0.inode) }, file) == .notDirectory)
            #expect(
                try errno({ try folder.node(named: [97], in: $0.inode) }, file) == .notDirectory
            )
            #expect(try errno({ try folder.open($0.inode) }, directory) == .isDirectory)
            #expect(try errno({ try folder.open($0.inode) }, name) == .isDirectory)
            #expect(try errno({ try folder.target(of: $0.inode) }, file) == .invalidArgument)
            #expect(MountedScene.errno { try mounted.node("nothing") } == .noSuchFileOrDirectory)
            #expect(
                MountedScene.errno { try mounted.node("\(name)/nothing") }
                    == .noSuchFileOrDirectory
            )
            for inode: UInt64 in [0, 3, 99 << 32, try mounted.node(name).inode + 999, .max] {
                #expect(MountedScene.errno { try folder.node(inode) } == .staleNFSFileHandle)
                #expect(MountedScene.errno { try folder.open(inode) } == .staleNFSFileHandle)
            }
            #expect(folder.extent.files == 1 && folder.extent.bytes > 0)
        }
        #expect(scene.scene.told.filter { $0.hasPrefix("warning: ") } == [])
    }

    @Test("Ending the program interrupts readers of a mount, and no damage is reported")
    func cancelled() async throws {
        try scene.scene.sandbox.write(scene.random.bytes(3 << 20), to: "Stores/large")
        try Tool.check(
            "zip",
            ["-r", remote.appending("Other Stores.zip").string, "."],
            directory: scene.scene.stores
        )
        let mounted = try await mount(nil, scene.scene.context(cancellingAfter: 0))
        try await WorkThread.run { () throws in
            let inode = try mounted.node("Other/large").inode
            #expect(MountedScene.errno { try mounted.folder.open(inode) } == .interrupted)
        }
        #expect(scene.scene.told.filter { $0.hasPrefix("warning: ") } == [])
    }

    @Test("Two mounted backups with the same display name have the names of their files")
    func names() throws {
        func backup(_ name: String, waits: Bool = false) -> Backup {
            var backup = Backup(RemoteFile(name: name, size: 1), timeZone: Scene.utc)
            backup.isWaiting = waits
            return backup
        }
        func names(_ backups: Backup...) -> [String] { MountedFolder.names(backups) }
        #expect(names(backup("A Stores.zip"), backup("B Changes.zip.age")) == ["A", "B"])
        #expect(
            names(backup("A Stores.zip"), backup("A Changes.zip")) == [
                "A Stores.zip", "A Changes.zip",
            ]
        )
        #expect(names(backup("latest Stores.zip")) == ["latest Stores.zip"])
        #expect(
            names(
                backup("A Stores.zip Stores.zip"),
                backup("A Stores.zip"),
                backup("A Changes.zip")
            )
                == ["A Stores.zip Stores.zip", "A Stores.zip", "A Changes.zip"]
        )
        #expect(
            names(backup("A Stores.zip"), backup("A Stores.zip", waits: true))
                == ["A Stores.zip", "A Stores.zip (waiting)"]
        )
    }
}
