import Archives
import Files
import Foundation
import Remotes
import Sample
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Backing up")
struct CreateBackupTests {
    @Test("A backup keeps every kind of file, its bytes, mode, time and name, and changes nothing")
    func roundTrip() async throws {
        let scene = try Scene()
        let box = scene.sandbox
        var random = Pseudorandom(seed: 1)
        for size in [
            0, 1, 4095, Segment.size - 1, Segment.size, Segment.size + 1, 3 * Segment.size + 77,
        ] {
            try box.write(random.bytes(size), to: "Stores/random/\(size)")
            try box.write([UInt8](repeating: 65, count: size), to: "Stores/same/\(size)")
        }
        try box.directory("Stores/empty")
        try box.directory("Stores/.hidden/deep/er")
        try box.write("x", to: "Stores/-rf")
        try box.write("x", to: "Stores/ends in space ")
        try box.write("x", to: "Stores/new\nline")
        try box.write("x", to: "Stores/back\\slash")
        try box.write("x", to: "Stores/\(String(repeating: "n", count: 255))")
        try box.write("x", to: "Stores/e\u{301}")
        try box.write("y", to: "Stores/\u{E9}")
        let invalid = try RelativePath(validating: [0x66, 0xFF, 0xFE, 0x80])
        _ = try Directory.open(scene.stores).createFile(invalid.name)
        try box.link("Stores/link", to: "random/1")
        try box.link("Stores/dangling", to: "/nowhere/at all")
        try box.link("Stores/loop", to: "loop")
        let stores = try Directory.open(scene.stores)
        try stores.setAttributes(
            of: "-rf",
            isLink: false,
            mode: 0o4751,
            modified: 1_234_567_890_123_456_789
        )
        try stores.setAttributes(of: "empty", isLink: false, mode: 0o500, modified: -5_000_000_001)
        let before = try box.contents(of: "Stores")

        let outcome = try await scene.backUp()
        #expect(outcome.problems.isEmpty)
        #expect(try box.contents(of: "Stores") == before)
        // Without the store, whose log is folded in, so that its bytes need not be the same.
        try await scene.restore {
            $0.makesSafetyBackup = false
            $0.keepsSetID = true
        }
        let store = GroceryStore.fileName
        func others(_ contents: Contents) -> [Contents.Item] {
            contents.items.filter { !$0.path.description.hasPrefix(store) }
        }
        #expect(try others(box.contents(of: "Stores")) == others(before))
        #expect(try scene.itemNames().count == 12)
        #expect(try scene.leftovers() == [])
    }

    @Test("A second backup in one minute takes the next number, and overwrites nothing")
    func sameMinute() async throws {
        let scene = try Scene()
        for number in 1...3 {
            let name = try await scene.backUp().backup.name
            #expect(name == BackupName.make(Scene.morning, in: Scene.utc, number: number))
        }
        #expect(try await scene.list().map(\.displayName).count == 3)
    }

    @Test("A backup warns of one from the future, and is newer than that one all the same")
    func clockSetBack() async throws {
        let scene = try Scene()
        try scene.sandbox.write("milk", to: "Stores/list.txt")
        let later = try await scene.backUp(at: Scene.morning + 86_400).backup
        let made = try await scene.backUp().backup
        #expect(
            scene.told == [
                "warning: '\(later.displayName)' is from the future: is the clock right?"
            ]
        )
        #expect(try await scene.list().map(\.name) == [made.name, later.name])
    }

    @Test("A backup creates archives that only their owner can read, whatever the umask")
    func permissions() async throws {
        let scene = try Scene()
        let previous = umask(0)
        defer { umask(previous) }
        let name = try await scene.backUp().backup.name
        #expect(try FileInfo(of: scene.remotePath.appending(name)).mode == 0o600)
    }

    @Test("A backup of a missing or empty directory is refused with advice")
    func nothingThere() async throws {
        let scene = try Scene(withStore: false)
        let missing = await #expect(throws: OperationError.self) { try await scene.backUp() }
        #expect(missing?.hint != nil)
        try scene.sandbox.directory("Stores")
        let empty = await #expect(throws: OperationError.self) { try await scene.backUp() }
        #expect(empty?.description.contains("nothing to back up") == true)
        #expect(try scene.leftovers() == [])
    }

    @Test("A backup to a missing folder or to a file is refused before it begins")
    func noFolder() async throws {
        let scene = try Scene()
        let missing = LocalFolder(scene.sandbox.path("Nowhere"))
        await #expect(throws: RemoteError.missing(missing.address)) {
            try await scene.backUp(to: missing)
        }
        let file = LocalFolder(try scene.sandbox.write("x", to: "Cache"))
        await #expect(throws: RemoteError.notAFolder(file.address)) {
            try await scene.backUp(to: file)
        }
    }

    @Test("A backup that cannot be published leaves no file")
    func failingUpload() async throws {
        let scene = try Scene()
        let faulty = FaultyFileSystem(failing: .callOf(.move, 1), with: .noSpace)
        let error = await #expect(throws: OperationError.self) {
            try await scene.backUp(to: LocalFolder(scene.remotePath, fileSystem: faulty))
        }
        #expect(error?.description.contains("no space left") == true)
        try faulty.assertFaultWasMet()
        #expect(try scene.leftovers() == [])
    }

    @Test("A backup that is interrupted at any moment leaves no file")
    func cancellation() async throws {
        let scene = try Scene()
        var random = Pseudorandom(seed: 2)
        try scene.sandbox.write(random.bytes(5 * Segment.size), to: "Stores/large")
        for limit in 0..<40 {
            do {
                try await scene.backUp(context: scene.context(cancellingAfter: limit))
                // Everything that asks was asked.
                #expect(limit > 5)
                break
            } catch is CancellationError {
                #expect(try scene.list(inFolder: scene.remotePath) == [])
            }
        }
        #expect(try scene.leftovers() == [])
    }

    @Test("A backup removes the leftovers of a killed run once it has the lock")
    func staleFiles() async throws {
        let scene = try Scene()
        try scene.sandbox.write("half a zip", to: "Remote/.grocerydude-1.partial")
        try await scene.backUp()
        #expect(try scene.leftovers() == [])
        #expect(scene.told.contains { $0.contains("interrupted run") })
        // A directory with such a name is none of ours, and in nobody's way.
        try scene.sandbox.directory("Remote/.grocerydude-2.partial")
        try await scene.backUp()
    }

    @Test("A backup is refused while another run has a lock, and waits if an option says so")
    func locks() async throws {
        let scene = try Scene()
        for path in [scene.stores, scene.remotePath] {
            var lock: FileLock? = try await FileLock.acquire(path)
            let error = await #expect(throws: FileError.self) {
                try await scene.backUp()
            }
            #expect(
                error?.description.contains("process \(ProcessInfo.processInfo.processIdentifier)")
                    == true
            )
            withExtendedLifetime(lock) {}
            let waiting = Task {
                try await scene.backUp(context: scene.context(lockWait: .seconds(60)))
            }
            lock = nil
            #expect(try await waiting.value.problems.isEmpty)
        }
    }

    @Test("A backup saves a damaged store's files as they are, and reports it")
    func damagedStore() async throws {
        let scene = try Scene()
        let header = Array("SQLite format 3\0".utf8) + [UInt8](repeating: 7, count: 2000)
        try scene.sandbox.write(header, to: "Stores/bad.sqlite")
        try scene.sandbox.write("its journal", to: "Stores/bad.sqlite-journal")
        let outcome = try await scene.backUp()
        #expect(outcome.problems.map(\.kind) == [.damagedStore])
        #expect(outcome.stores == 1)
        let target = scene.sandbox.path("Target")
        let restore = scene.restoring { $0.allowsDamage = true }
        _ = try await restore.extract(try await scene.folder().find("latest"), to: target)
        #expect(try scene.sandbox.read("Target/bad.sqlite") == header)
        #expect(try scene.sandbox.read("Target/bad.sqlite-journal") == Array("its journal".utf8))
    }

    @Test("A backup reports missing external data that a store refers to")
    func missingExternalData() async throws {
        let scene = try Scene(withStore: false)
        let store = try GroceryStore.create(in: scene.stores, withTestData: true)
        #expect(try store.items().count == 212)
        let external = ".Grocery-Dude_SUPPORT/_EXTERNAL_DATA"
        let names = try Directory.open(scene.stores.appending(external)).names()
        try LocalFileSystem().remove(scene.stores.appending("\(external)/\(names[3])"))
        let outcome = try await scene.backUp()
        #expect(outcome.problems.map(\.kind) == [.missingExternalData])
        #expect(outcome.problems.map(\.path) == ["\(external)/\(names[3])"])
    }

    @Test("A backup takes a file that changes all the time as it comes, and reports it")
    func restlessFile() async throws {
        let scene = try Scene()
        try scene.sandbox.write([UInt8](repeating: 1, count: 3 * Segment.size), to: "Stores/log")
        let log = try #require(FileHandle(forWritingAtPath: scene.stores.appending("log").string))
        // One that only grew would be whole.
        let context = scene.context {
            try log.seek(toOffset: 0)
            let now = DispatchTime.now().uptimeNanoseconds
            try log.write(contentsOf: withUnsafeBytes(of: now) { Data($0) })
        }
        let outcome = try await scene.backUp(context: context)
        #expect(outcome.problems.map(\.kind) == [.neverStill])
        #expect(outcome.problems.map(\.path) == ["log"])
        // The archive is a good one all the same.
        try await scene.restore { $0.makesSafetyBackup = false }
        #expect(
            try scene.sandbox.read("Stores/log").dropFirst(8).allSatisfy { $0 == 1 }
        )
    }

    @Test("A backup of many files whose records change before they are read has each of them once")
    func restlessRecords() async throws {
        let scene = try Scene(withStore: false)
        let paths = (0..<2_500).map { "Stores/file-\($0)" }
        for (number, path) in paths.enumerated() {
            try scene.sandbox.write("\(number)", to: path)
        }
        let (directory, asked) = (try Directory.open(scene.stores), Counter())
        let names = try directory.names()
        // Short files wait until 512 are there: many of them are others by then.
        let context = scene.context {
            guard asked.next() % 400 == 0 else { return }
            let time = 1_700_000_000_000_000_000 + Int64(asked.next()) * 1_000_000_000
            for name in names {
                try directory.setAttributes(of: name, isLink: false, mode: 0o600, modified: time)
            }
        }
        let outcome = try await scene.backUp(context: context)
        #expect(outcome.problems.map(\.kind) == [.noStore])
        let backup = try await scene.folder().find("latest")
        let archived = try await scene.context().open(backup, in: scene.folder())
        #expect(archived.files == paths.count)
        let target = scene.sandbox.path("Target")
        _ = try await scene.restoring().extract(backup, to: target)
        for (number, path) in paths.enumerated() {
            let restored = path.replacingOccurrences(of: "Stores/", with: "Target/")
            #expect(try scene.sandbox.read(restored) == Array("\(number)".utf8))
        }
    }

    @Test("A backup of a directory in which files come and go all the time succeeds")
    func comingAndGoing() async throws {
        let scene = try Scene()
        try scene.sandbox.directory("Stores/busy")
        let path = scene.stores.appending("busy").string
        let writer = try RunningTool(
            "/bin/sh",
            [
                "-c",
                "cd '\(path)'; echo ready; i=0; while :; do i=$((i+1)); echo $i > f$i; rm -f f$((i-20)); done",
            ]
        )
        #expect(try writer.readLine() == "ready")
        for minute in 0..<5 {
            let outcome = try await scene.backUp(at: Scene.morning + Double(60 * minute))
            #expect(outcome.problems.allSatisfy { $0.kind == .neverStill })
        }
        writer.kill()
        #expect(try await scene.list().count == 5)
    }

    @Test(
        "A backup leaves out sockets and pipes with a notice, and the manifest of an unzipped backup"
    )
    func leftOut() async throws {
        let scene = try Scene()
        #expect(mkfifo(scene.stores.appending("pipe").string, 0o600) == 0)
        try scene.sandbox.write("{}", to: "Stores/.grocerydude/manifest.json")
        try await scene.backUp()
        #expect(
            scene.told == [
                "'.grocerydude/manifest.json' is left out: every archive has its own",
                "'pipe' is left out: a named pipe cannot be in an archive",
            ]
        )
        try await scene.restore { $0.makesSafetyBackup = false }
        #expect(!scene.sandbox.exists("Stores/pipe"))
        #expect(!scene.sandbox.exists("Stores/.grocerydude/manifest.json"))
    }

    /// What may have the name of the directory that every archive has.
    enum Reserved: CaseIterable { case file, link, store }

    @Test(
        "A backup leaves out what has the name of the archive's own directory, which is a problem",
        arguments: Reserved.allCases
    )
    func reservedName(kind: Reserved) async throws {
        let scene = try Scene()
        let good = try await scene.backUp().backup
        let name = "Stores/.grocerydude"
        switch kind {
        case .file: try scene.sandbox.write("note", to: name)
        case .link: try scene.sandbox.link(name, to: GroceryStore.fileName)
        case .store: try scene.sandbox.write(scene.closedStore(), to: name)
        }
        // No restore replaces what cannot be saved.
        await #expect(throws: RestoreError.self) { try await scene.restore(good.name) }
        #expect(scene.sandbox.exists(name))

        let outcome = try await scene.backUp(at: Scene.morning + 60)
        #expect(outcome.problems.map(\.kind) == [.unreadable] && outcome.stores == 1)
        #expect(outcome.problems.map(\.path) == [".grocerydude"])
        try await scene.restore { $0.makesSafetyBackup = false }
        #expect(!scene.sandbox.exists(name))
    }

    @Test(
        "A backup keeps files whose names only resemble those of SQLite's files beside a database"
    )
    func namesLikeSidecars() async throws {
        let scene = try Scene()
        let name = GroceryStore.fileName
        try scene.sandbox.write("dear diary", to: "Stores/\(name)-journal")
        try scene.sandbox.write("x", to: "Stores/other-wal/file")
        try scene.sandbox.write("also not a log", to: "Stores/other-shm")
        let outcome = try await scene.backUp()
        #expect(outcome.problems.isEmpty)
        try await scene.restore { $0.makesSafetyBackup = false }
        #expect(try scene.sandbox.read("Stores/\(name)-journal") == Array("dear diary".utf8))
        #expect(try scene.sandbox.read("Stores/other-wal/file") == Array("x".utf8))
    }

    @Test("A backup keeps names that would be hostile in an archive of another program")
    func backslashes() async throws {
        let scene = try Scene()
        for name in ["\\leading", "..\\x", "a\\..\\b", "C:\\x"] {
            try scene.sandbox.write(name, to: "Stores/\(name)")
        }
        try await scene.backUp()
        try await scene.restore { $0.makesSafetyBackup = false }
        #expect(try scene.sandbox.read("Stores/..\\x") == Array("..\\x".utf8))
    }

    @Test("A backup has every file once if external data holds stores with external data")
    func nestedExternalData() async throws {
        let scene = try Scene(withStore: false)
        try scene.sandbox.write("x", to: "Stores/.A_SUPPORT/.B_SUPPORT/_EXTERNAL_DATA/photo")
        for path in ["Stores/A.sqlite", "Stores/.A_SUPPORT/B.sqlite"] {
            try StoreApplication(on: scene.sandbox.path(path), "CREATE TABLE t (x)").end()
        }
        #expect(try await scene.backUp().stores == 2)
        try await scene.restore { $0.makesSafetyBackup = false }
        #expect(scene.sandbox.exists("Stores/.A_SUPPORT/.B_SUPPORT/_EXTERNAL_DATA/photo"))
    }

    @Test(
        "A backup saves the files of a store that SQLite cannot read for a reason other than damage"
    )
    func unreadableStore() async throws {
        let scene = try Scene()
        // A schema format of the future.
        var bytes = try scene.closedStore()
        bytes[47] = 9
        try scene.sandbox.write(bytes, to: "Stores/future.sqlite")
        let outcome = try await scene.backUp()
        #expect(outcome.problems.map(\.path) == ["future.sqlite"])
        try await scene.restore {
            $0.makesSafetyBackup = false
            $0.check = .none
            $0.allowsDamage = true
        }
        #expect(try scene.sandbox.read("Stores/future.sqlite") == bytes)
    }

    @Test("A backup of a store with an empty log and an unused index does not wait")
    func emptyLog() async throws {
        let scene = try Scene(withStore: false)
        try scene.sandbox.write(try scene.closedStore(), to: "Stores/a.sqlite")
        try scene.sandbox.write("", to: "Stores/a.sqlite-wal")
        try scene.sandbox.write("", to: "Stores/a.sqlite-shm")
        var options = scene.options()
        options.busyTimeout = .zero
        let outcome = try await CreateBackup(
            of: scene.stores,
            to: scene.folder(),
            options: options,
            context: scene.context()
        ).run()
        #expect(outcome.stores == 1 && outcome.problems.isEmpty)
    }

    @Test("A backup into the stores directory, or a folder in it, is refused")
    func remoteInside() async throws {
        let scene = try Scene()
        for path in [scene.stores, try scene.sandbox.directory("Stores/backups")] {
            let error = await #expect(throws: OperationError.self) {
                try await scene.backUp(to: LocalFolder(path))
            }
            #expect(error?.description.contains("inside the stores directory") == true)
        }
        // Beside it, in the directory that holds it, is fine, also for a restore.
        try await scene.backUp(to: LocalFolder(scene.sandbox.path))
        let restore = RestoreBackup(
            from: scene.folder(LocalFolder(scene.sandbox.path)),
            options: .init(backup: scene.options()),
            context: scene.context()
        )
        let outcome = try await restore.run(
            try await scene.folder(LocalFolder(scene.sandbox.path)).find("latest"),
            to: scene.stores
        )
        #expect(outcome.safetyBackup != nil)
    }
}

extension Scene {
    /// All names in a folder.
    func list(inFolder path: FilePath) throws -> [String] {
        try Directory.open(path).names().map(\.description)
    }
}
