import Files
import Foundation
import Remotes
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

/// A third kind of remote folder, in memory: it shows what one costs that has nothing but the promises.
private struct MemoryFolder: RemoteFolder {
    private final class Files: Sendable {
        let contents = Mutex<[String: [UInt8]]>([:])
    }

    private let files = Files()
    private var prefix = ""
    var description: String { "memory:\(prefix)" }

    func subfolder(_ name: String) -> any RemoteFolder {
        var folder = self
        folder.prefix += "\(name)/"
        return folder
    }

    func list() async throws -> [RemoteFile] {
        files.contents.withLock { contents in
            contents.compactMap { path, bytes in
                let name = path.dropFirst(prefix.count)
                guard path.hasPrefix(prefix), !name.contains("/") else { return nil }
                return RemoteFile(name: String(name), size: Int64(bytes.count))
            }
        }
    }

    func upload(_ file: FilePath, as name: String) async throws -> RemoteFile {
        let bytes = try File.contents(of: file, limit: 1 << 30)
        try files.contents.withLock { contents in
            guard contents[prefix + name] == nil else {
                throw RemoteError.exists(address, name: name)
            }
            contents[prefix + name] = bytes
        }
        try LocalFileSystem().remove(file)
        return RemoteFile(name: name, size: Int64(bytes.count))
    }

    func download(_ name: String, to path: FilePath) async throws {
        let bytes = try await download(name, range: 0..<Int64.max)
        let file = try File.create(path)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    }

    func download(_ name: String, range: Range<Int64>) async throws -> [UInt8] {
        guard let bytes = files.contents.withLock({ $0[prefix + name] }) else {
            throw RemoteError.noFile(address, name: name)
        }
        return Array(bytes[Int(range.lowerBound)..<Int(min(range.upperBound, Int64(bytes.count)))])
    }

    func move(_ name: String, to folder: any RemoteFolder, as newName: String) async throws {
        let target = try #require(folder as? MemoryFolder).prefix + newName
        try files.contents.withLock { contents in
            guard contents[target] == nil else {
                throw RemoteError.exists(folder.address, name: newName)
            }
            guard let bytes = contents.removeValue(forKey: prefix + name) else {
                throw RemoteError.noFile(address, name: name)
            }
            contents[target] = bytes
        }
    }

    func delete(_ name: String) async throws {
        files.contents.withLock { $0[prefix + name] = nil }
    }
}

@Suite("Another kind of remote folder")
struct MemoryFolderTests {
    let scene: Scene

    init() throws {
        scene = try Scene()
    }

    @Test("A new kind of remote folder takes backups, prunes them, recovers and restores them")
    func wholeRound() async throws {
        // Elsewhere, a backup counts once its manifest is known.
        let folder = scene.folder(MemoryFolder(), catalog: scene.catalog)
        func backUp(at date: Date) async throws -> Backup {
            try await CreateBackup(
                of: scene.stores,
                to: folder,
                options: scene.options(at: date),
                context: scene.context()
            ).run().backup
        }
        let first = try await backUp(at: Scene.morning)
        let before = try scene.sandbox.contents(of: "Stores")
        try scene.sandbox.write("later", to: "Stores/later")
        let second = try await backUp(at: Scene.morning + 3600)
        #expect(try await folder.list().backups.map(\.name) == [second.name, first.name])

        var policy = RetentionPolicy()
        policy.counts = [.last: 1]
        var options = PruneBackups.Options(policy: policy, now: Scene.morning + 7200)
        options.scope = .allOrigins
        _ = try await PruneBackups(in: folder, options: options, context: scene.context()).run()
        #expect(try await folder.list().backups.map(\.name) == [second.name])
        _ = try await folder.trash.bringBack(first.name)

        let restoring = RestoreBackup.Options(backup: scene.options(at: Scene.morning + 9000))
        _ = try await RestoreBackup(from: folder, options: restoring, context: scene.context())
            .run(try await folder.find(first.name), to: scene.stores)
        let after = try scene.sandbox.contents(of: "Stores")
        #expect(after.items.map(\.detail) == before.items.map(\.detail))
        #expect(try await folder.list().backups.count == 3)
    }
}
