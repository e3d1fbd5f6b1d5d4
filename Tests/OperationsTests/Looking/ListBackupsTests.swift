import Files
import Foundation
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Listing backups")
struct ListBackupsTests {
    @Test("A list takes a backup's time from its manifest, not from its name or its file")
    func times() async throws {
        let scene = try Scene()
        let name = try await scene.backUp().backup.name
        try LocalFileSystem().move(
            scene.remotePath.appending(name),
            to: scene.remotePath.appending("[1999-Jan-01] 01.00 AM Stores.zip")
        )
        // Another machine, which has no memory of it.
        try LocalFileSystem().remove(scene.sandbox.path("Cache"))
        let backup = try #require(try await scene.list().first)
        #expect(backup.time == Scene.morning)
        #expect(backup.timeSource == .manifest)
    }

    @Test("A list passes over a symbolic link to a backup, and warns of it")
    func linked() async throws {
        let scene = try Scene()
        let name = try await scene.backUp().backup.name
        let elsewhere = scene.sandbox.path("Scratch").appending(name)
        try LocalFileSystem().move(scene.remotePath.appending(name), to: elsewhere)
        try scene.sandbox.link("Remote/\(name)", to: elsewhere.string)
        let listing = try await scene.folder().list()
        #expect(listing.backups.isEmpty && listing.passedOver.map(\.name) == [name])
        #expect(listing.warnings.map { $0.contains("a symbolic link") } == [true])
    }

    @Test("A list remembers what it read once, and looks at the newest again")
    func remembers() async throws {
        let scene = try Scene()
        let name = try await scene.backUp().backup.name
        let newest = try await scene.backUp(at: Scene.morning + 60).backup.name
        let catalog = scene.catalog
        let folder = scene.folder(catalog: catalog)
        let times = [Scene.morning + 60, Scene.morning]
        #expect(try await folder.list().backups.map(\.time) == times)
        try await catalog.save()
        /// Overwrites an archive with zeros; its size and time stay.
        func empty(_ name: String) throws {
            let file = scene.remotePath.appending(name)
            let size = try FileInfo(of: file).size
            let zeros = """
                touch -r "$1" "$3" && head -c "$2" /dev/zero > "$1" && touch -r "$3" "$1"
                """
            let reference = scene.sandbox.path("Cache/reference").string
            try Tool.check("sh", ["-c", zeros, "sh", file.string, "\(size)", reference])
        }
        // Nobody who does not read the archive again notices that it was overwritten.
        try empty(name)
        #expect(try await scene.list().map(\.time) == times)
        #expect(try await scene.list().map(\.isUnreadable) == [false, false])
        // One that was written to is read again, and so is one that was replaced.
        try Tool.check("touch", [scene.remotePath.appending(name).string])
        #expect(try await scene.list().map(\.isUnreadable) == [false, true])
        // A file of another size is another file.
        try scene.sandbox.write("no zip", to: "Remote/\(name)")
        #expect(try await scene.list().map(\.timeSource) == [.manifest, .name])
        // Others are removed for the newest one.
        try empty(newest)
        #expect(try await scene.list().map(\.isUnreadable) == [true, true])
    }

    @Test("A list forgets nothing that another run learned in the meantime")
    func remembersTogether() async throws {
        let scene = try Scene()
        let first = try await scene.backUp().backup
        let path = scene.sandbox.path("Cache/catalog.json")
        // Both have read it before either writes.
        let (one, other) = (BackupCatalog(path), BackupCatalog(path))
        for catalog in [one, other] { catalog.keepOnly([], in: "nowhere") }
        one.remember(first, in: "one")
        other.remember(first, in: "other")
        other.keepOnly([first.name.exact], in: "other")
        try await one.save()
        try await other.save()
        let known = BackupCatalog(path)
        for address in ["one", "other"] {
            let elsewhere = RemoteFile(name: first.name, size: first.size)
            let found = try await known.backups([elsewhere], in: address, timeZone: Scene.utc)
            #expect(found.map(\.timeSource) == [.manifest], "\(address)")
        }
        // Backups that are gone are forgotten after a while, and only those.
        one.remember(first, in: "third")
        try await one.save()
        for (days, source) in [(0.0, Backup.TimeSource.manifest), (31, .name)] {
            let later = BackupCatalog(path, at: Scene.morning + days * 86_400)
            later.keepOnly([], in: "one")
            try await later.save()
            let last = BackupCatalog(path)
            let file = RemoteFile(name: first.name, size: first.size)
            let sources: [(String, Backup.TimeSource)] = [
                ("one", source), ("other", .manifest), ("third", .manifest),
            ]
            for (address, source) in sources {
                let found = try await last.backups([file], in: address, timeZone: Scene.utc)
                #expect(found.map(\.timeSource) == [source], "\(address)")
            }
        }
    }

    @Test("A list survives a damaged cache")
    func damagedMemory() async throws {
        let scene = try Scene()
        try await scene.backUp()
        try scene.sandbox.write("{ no json", to: "Cache/catalog.json")
        #expect(try await scene.list().map(\.time) == [Scene.morning])
    }

    @Test("A list survives a cache that is larger than any can be")
    func hugeMemory() async throws {
        let scene = try Scene()
        try await scene.backUp()
        let path = try scene.sandbox.write("", to: "Cache/catalog.json")
        try scene.sandbox.stretch(path, to: 3 << 40)
        #expect(try await scene.list().map(\.time) == [Scene.morning])
        // It is as good as none, and the next that is known replaces it.
        let catalog = scene.catalog
        _ = try await scene.folder(catalog: catalog).list()
        try await catalog.save()
        #expect(try FileInfo(of: path).size < 1 << 20)
    }

    @Test("A list survives a cache with impossible times and numbers")
    func absurdMemory() async throws {
        let scene = try Scene()
        let remote = Elsewhere(folder: scene.remote)
        let name = try await scene.backUp().backup.name
        for (time, offset) in [
            (Int64.max, 0), (.min, 0), (Int64(1) << 60, 0), (1_795_251_660_123, Int.max),
            (1_795_251_660_123, Int.min),
        ] {
            let size = try FileInfo(of: scene.remotePath.appending(name)).size
            try scene.sandbox.write(
                """
                {"files":["elsewhere",["\(name)",{"size":\(size),"id":"1"}]],\
                "backups":{"1":{"time":\(time),"offset":\(offset)}},\
                "expected":["elsewhere",{"id":"1","stores":[\
                {"path":"a","rows":\(time)},{"path":"a","rows":\(time)},{"path":"b","rows":\(time)}]}]}
                """,
                to: "Cache/catalog.json"
            )
            let status = await ShowStatus(
                of: scene.stores,
                in: scene.folder(remote),
                now: Scene.morning + 3600
            ).run()
            #expect(status.backups == 1 && status.newest != nil, "\(time) \(offset)")
            var policy = RetentionPolicy()
            policy.counts = [.daily: 1, .weekly: 1]
            let plan = try await PruneBackups(
                in: scene.folder(remote),
                options: PruneBackups.Options(
                    policy: policy,
                    now: Scene.morning + 3600
                ),
                context: scene.context()
            ).plan()
            #expect(plan.keep.count == 1)
        }
    }

    @Test("A list survives files whose total size overflows a number")
    func absurdSizes() async throws {
        let scene = try Scene()
        let remote = Elsewhere(folder: scene.remote, claimedSize: .max)
        for minute in 0..<3 { try await scene.backUp(at: Scene.morning + Double(60 * minute)) }
        let status = await ShowStatus(
            of: scene.stores,
            in: scene.folder(remote),
            now: Scene.morning + 3600
        ).run()
        #expect(status.backups == 3 && status.size == .max)
    }

    @Test("A list has the newest first and those without a time last, and skips other files")
    func order() async throws {
        let scene = try Scene(withStore: false)
        for name in [
            "[2026-Nov-20] 09.01 AM Stores.zip", "[2026-Nov-21] 09.01 AM Stores.zip",
            "[2026-Nov-21] 09.01 AM (10) Stores.zip", "[2026-Nov-21] 09.01 AM (9) Stores.zip",
            "My Stores.zip", "notes.txt", "[2026-Nov-21] 09.01 AM Stores (conflicted copy).zip",
            ".grocerydude-5.partial",
        ] { try scene.sandbox.write("x", to: "Remote/\(name)") }
        let outcome = try await scene.folder().list()
        #expect(
            outcome.backups.map(\.displayName) == [
                "[2026-Nov-21] 09.01 AM (10)", "[2026-Nov-21] 09.01 AM (9)",
                "[2026-Nov-21] 09.01 AM",
                "[2026-Nov-20] 09.01 AM", "My",
            ]
        )
        #expect(outcome.passedOver.count == 3)
        #expect(outcome.passedOver.allSatisfy { !$0.reason.isEmpty })
    }

    @Test("A backup is found by file name, display name, unique part or 'latest'")
    func matching() async throws {
        let backups = [
            "[2026-Nov-21] 09.01 AM Stores.zip", "[2026-Nov-20] 09.01 AM Stores.zip",
            "Nov Stores.zip",
        ]
        .map { Backup(RemoteFile(name: $0, size: 1), timeZone: Scene.utc) }
        func find(_ text: String) throws -> String {
            try backups.matching(text, address: "there").name
        }
        #expect(try find("latest") == backups[0].name)
        #expect(try find("[2026-Nov-20] 09.01 AM") == backups[1].name)
        #expect(try find("[2026-Nov-20] 09.01 AM Stores.zip") == backups[1].name)
        #expect(try find("Nov-20") == backups[1].name)
        // A whole name counts more than a part of others.
        #expect(try find("Nov") == backups[2].name)
        #expect(throws: BackupFolderError.self) { try find("2026") }
        #expect(throws: BackupFolderError.self) { try find("1999") }
        #expect(throws: BackupFolderError.self) { try find("") }
        #expect(throws: BackupFolderError.self) {
            try [Backup]().matching("latest", address: "there")
        }
    }

    @Test("A deleted backup is not in the list, and deleting needs the lock")
    func delete() async throws {
        let scene = try Scene()
        try await scene.backUp()
        let delete = DeleteBackup(
            from: scene.folder(),
            context: scene.context()
        )
        let backup = try await scene.folder().find("latest")
        var lock: FileLock? = try await FileLock.acquire(scene.remotePath)
        await #expect(throws: FileError.self) {
            try await delete.run(backup, at: Scene.morning, keepingTrash: .zero)
        }
        withExtendedLifetime(lock) {}
        lock = nil
        try await delete.run(backup, at: Scene.morning, keepingTrash: .zero)
        #expect(try await scene.list() == [])
    }
}
