import Files
import Foundation
import GRDB
import Remotes
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

/// A stores directory that is edited at random and backed up by increments, and next to each of them what a
/// whole backup has.
final class IncrementScene {
    let scene: Scene
    var random: Pseudorandom
    /// A day ahead, so that nothing was changed within the grain of its times.
    var date = Date(timeIntervalSince1970: 1_900_000_000)
    var increments: IncrementOptions
    /// The names of all backups in the folder, with the directories that have what each is to restore.
    private(set) var expected: [String: FilePath] = [:]
    private(set) var names: [String] = []
    private var keptState: Data?

    /// Makes it; its remote folder may be that of a scene of another machine.
    init(seed: UInt64, sharing shared: Scene? = nil) throws {
        scene = try Scene(withStore: false, sharing: shared)
        random = Pseudorandom(seed: seed)
        increments = IncrementOptions(statePath: scene.sandbox.path("State/state.sqlite"))
        increments.leastFullSize = 0
        try scene.sandbox.directory("Whole")
        try scene.sandbox.directory("Stores")
    }

    // MARK: - The application

    /// Makes a store with some rows.
    func makeStore(_ name: String, rows: Int) throws {
        try write(name) { database in
            try database.execute(
                sql: "CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY, name, data)"
            )
            for _ in 0..<rows {
                try database.execute(
                    sql: "INSERT INTO item (name, data) VALUES (?, ?)",
                    arguments: ["item \(random.next() % 1000)", Data(random.bytes(200))]
                )
            }
        }
    }

    func write(_ name: String, _ body: (Database) throws -> Void) throws {
        let queue = try DatabaseQueue(path: scene.stores.appending(name).string)
        defer { try? queue.close() }
        try queue.write(body)
    }

    func vacuum(_ name: String) throws {
        let queue = try DatabaseQueue(path: scene.stores.appending(name).string)
        defer { try? queue.close() }
        try queue.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
    }

    /// Makes a store of some 700 kB, and a whole backup and increments of it: the second of these needs the whole
    /// one alone, the third the second.
    func makeChain(_ count: Int) async throws -> [Backup] {
        try makeStore("store0.sqlite", rows: 2500)
        try LocalFileSystem().createDirectories(scene.stores.appending("d/e"))
        try Data("one".utf8).write(to: URL(filePath: scene.stores.appending("d/f").string))
        var backups: [Backup] = []
        for number in 0..<count {
            try write("store0.sqlite") {
                try $0.execute(sql: "UPDATE item SET name = 'n\(number)' WHERE id = \(number + 7)")
            }
            backups.append(try await backUp())
        }
        return backups
    }

    /// Changes something at random.
    func edit() throws {
        let store = "store\(random.next() % 3).sqlite"
        let path = scene.stores.appending("d\(random.next() % 3)/f\(random.next() % 4)")
        switch random.next() % 15 {
        case 12...14: try comeAndGo("lock\(random.next() % 2)")
        case 0: try makeStore(store, rows: Int(random.next() % 1500))
        case 1...4:
            try makeStore(store, rows: 1)
            let number = random.next() % 500
            try write(store) {
                try $0.execute(sql: "UPDATE item SET name = name || '!' WHERE id % 500 = \(number)")
            }
        case 5:
            try makeStore(store, rows: 0)
            try write(store) { try $0.execute(sql: "DELETE FROM item WHERE id % 3 = 0") }
        case 6:
            try makeStore(store, rows: 0)
            try vacuum(store)
        case 7: try? FileManager.default.removeItem(atPath: scene.stores.appending(store).string)
        case 8:
            try? FileManager.default.removeItem(atPath: path.removingLastComponent().string)
        case 9:
            try LocalFileSystem().createDirectories(path.removingLastComponent())
            try? FileManager.default.removeItem(atPath: path.string)
            try FileManager.default.createSymbolicLink(
                atPath: path.string,
                withDestinationPath: "target \(random.next() % 5)"
            )
        case 10:
            guard FileManager.default.fileExists(atPath: path.string) else { return }
            chmod(path.string, random.next() % 2 == 0 ? 0o600 : 0o640)
        default:
            try LocalFileSystem().createDirectories(path.removingLastComponent())
            try? FileManager.default.removeItem(atPath: path.string)
            let count = random.next() % 4 == 0 ? 3_000_000 : Int(random.next() % 5000)
            try Data(random.bytes(count)).write(to: URL(filePath: path.string))
        }
    }

    /// Removes a name if it is there; else makes a file or a link of it, as a lock is.
    func comeAndGo(_ name: String) throws {
        let path = scene.stores.appending(name).string
        if try FileInfo.ifPresent(FilePath(path)) != nil {
            try FileManager.default.removeItem(atPath: path)
        } else if random.next() % 2 == 0 {
            try Data(random.bytes(9)).write(to: URL(filePath: path))
        } else {
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "none")
        }
    }

    // MARK: - Backups

    /// Makes a backup that nobody will compare with a whole one.
    ///
    /// - Parameters:
    ///   - limit: after how many steps it is cancelled.
    ///   - change: what else is to be set.
    /// - Returns: the result.
    /// - Throws: what the operation throws.
    @discardableResult
    func backUpAlone(
        cancellingAfter limit: Int = .max,
        _ change: (inout CreateBackup.Options) -> Void = { _ in }
    ) async throws -> CreateBackup.Outcome {
        date += 3600
        var options = scene.options(at: date)
        options.increments = increments
        change(&options)
        return try await CreateBackup(
            of: scene.stores,
            to: scene.folder(),
            options: options,
            context: scene.context(cancellingAfter: limit)
        ).run()
    }

    /// Makes a backup, and keeps what it is to restore.
    @discardableResult
    func backUp() async throws -> Backup {
        let outcome = try await backUpAlone()
        let whole = scene.sandbox.path("Whole/\(names.count)")
        let folder = LocalFolder(try scene.sandbox.directory("Other\(names.count)"))
        let other = try await CreateBackup(
            of: scene.stores,
            to: scene.folder(folder),
            options: scene.options(at: date),
            context: scene.context()
        ).run()
        try LocalFileSystem().createDirectory(whole)
        try await extract(other.backup, from: scene.folder(folder), to: whole)
        // None is built on what is not there.
        let there = try await scene.folder().list().backups
        for need in outcome.backup.needs {
            #expect(there.contains { $0.name == need.name && $0.size == need.size })
        }
        expected[outcome.backup.name] = whole
        names.append(outcome.backup.name)
        return outcome.backup
    }

    /// Makes a whole backup of an increment, and keeps that it is to restore the same.
    @discardableResult
    func consolidate(_ name: String) async throws -> ConsolidateBackup.Outcome {
        let outcome = try await ConsolidateBackup(
            in: scene.folder(),
            options: .init(date: date, tool: "test"),
            context: scene.context()
        ).run(name)
        if let replaced = outcome.replaced {
            expected[outcome.backup.name] = expected[replaced.name]
            expected[replaced.name] = nil
            names.removeAll { $0 == replaced.name }
            names.append(outcome.backup.name)
        }
        return outcome
    }

    /// Puts the state back as it was when it was kept, as a restored home directory does.
    func putBackState() throws {
        guard let keptState else { return }
        try keptState.write(to: URL(filePath: increments.statePath.string))
    }

    func keepState() throws {
        keptState = try? Data(contentsOf: URL(filePath: increments.statePath.string))
    }

    /// Prunes with a policy that keeps a few, and forgets what is gone.
    ///
    /// - Returns: the backups that it removed.
    @discardableResult
    func prune(keeping count: Int) async throws -> [Backup] {
        var policy = RetentionPolicy()
        policy.counts[.last] = count
        let outcome = try await PruneBackups(
            in: scene.folder(),
            options: .init(policy: policy, now: date + 1),
            context: scene.context()
        ).run()
        for backup in outcome.removed { expected[backup.name] = nil }
        return outcome.removed
    }

    /// Leaves a copy of a backup's file as a synchronising program does, perhaps in place of it.
    func conflict(_ name: String, replacing isReplacing: Bool) throws {
        let ending = try #require(BackupName.suffix(of: name))
        let copy = "\(name.dropLast(ending.count))(conflicted copy) \(ending)"
        guard expected[copy] == nil, !name.contains("conflicted") else { return }
        let folder = scene.remotePath
        try FileManager.default.copyItem(
            atPath: folder.appending(name).string,
            toPath: folder.appending(copy).string
        )
        expected[copy] = expected[name]
        if isReplacing { try remove(name) }
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: scene.remotePath.appending(name).string)
        expected[name] = nil
    }

    func extract(_ backup: Backup, from folder: BackupFolder, to path: FilePath) async throws {
        let archived = try await folder.open(backup, holdingTo: nil) { _ in }
        let (_, flush) = try archived.extract(
            into: Directory.open(path),
            threads: 2
        ) { _ in }
        try flush.wait()
        flush.close()
    }

    /// Restores a backup next to everything, and compares it with what a whole one restores.
    ///
    /// - Returns: the paths that differ.
    func differences(_ name: String) async throws -> [String] {
        let path = scene.sandbox.path("Restored-\(UUID().uuidString)")
        try LocalFileSystem().createDirectory(path)
        defer { try? FileManager.default.removeItem(atPath: path.string) }
        let folder = scene.folder()
        try await extract(folder.find(name), from: folder, to: path)
        return try Self.differences(path, #require(expected[name]))
    }

    static func differences(_ left: FilePath, _ right: FilePath) throws -> [String] {
        let (one, other) = (try tree(left), try tree(right))
        return Set(one.keys).union(other.keys).filter { one[$0] != other[$0] }.sorted()
    }

    /// Returns everything in a directory, by path.
    static func tree(_ root: FilePath, withTimes: Bool = true) throws -> [String: String] {
        var tree: [String: String] = [:]
        try Directory.open(root).walk { _, error in
            Issue.record(error)
        } visit: { file in
            let info = file.info
            var text = "\(info.kind) \(info.mode)"
            if withTimes { text += " \(info.modified)" }
            let path = file.path.below(root)
            switch info.kind {
            case .file: text += try Digest(contentsOf: path).description
            case .link:
                text += try FileManager.default.destinationOfSymbolicLink(atPath: path.string)
            default: break
            }
            tree[file.path.description] = text
            return .descend
        }
        return tree
    }
}
