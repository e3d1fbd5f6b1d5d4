import Archives
import Files
import Foundation
import Stores
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

/// Files that SQLite keeps beside a store, and that are of another moment than the store in an archive.
@Suite("Journals and logs beside stores")
struct SidecarTests {
    /// A journal that is no longer valid, and a log without a frame.
    private static let contents: [String: [UInt8]] = [
        "-journal": Array(repeating: 0, count: 512),
        "-wal": [0x37, 0x7F, 0x06, 0x82] + Array(repeating: 1, count: 28),
    ]

    private func names(in backup: Backup, of scene: Scene) async throws -> [String] {
        let archived = try await scene.folder().open(backup, holdingTo: nil) { _ in }
        var names: [String] = []
        _ = try archived.forEach { names.append($0.attributes.path.description) }
        return names
    }

    @Test(
        "Journals and logs that appear at any moment of a backup are not in it",
        arguments: ["-journal", "-wal"]
    )
    func late(suffix: String) async throws {
        let bytes = try #require(Self.contents[suffix])
        for moment in 1... {
            let scene = try Scene(withStore: false)
            try scene.sandbox.write(try scene.closedStore(), to: "Stores/notes")
            try scene.sandbox.write("so that there is more to do", to: "Stores/a/b")
            let calls = Mutex(0)
            let context = scene.context {
                let isNow = calls.withLock { calls in
                    calls += 1
                    return calls == moment
                }
                guard isNow else { return }
                try scene.sandbox.write(bytes, to: "Stores/notes\(suffix)")
                // Whose name says nothing comes along, as long as it is not too late.
                try scene.sandbox.write("diary", to: "Stores/notes.txt-journal")
            }
            let outcome = try await scene.backUp(context: context)
            #expect(outcome.problems.isEmpty, "moment \(moment): \(outcome.problems)")
            let names = try await names(in: outcome.backup, of: scene)
            #expect(names.contains("notes") && !names.contains("notes\(suffix)"), "\(moment)")
            if calls.withLock({ $0 }) < moment {
                #expect(moment > 5)
                break
            }
        }
    }

    @Test("A journal or log that got into an archive is left beside its store")
    func stray() async throws {
        let scene = try Scene(withStore: false)
        let store = try scene.closedStore()
        try scene.sandbox.write(store, to: "Stores/notes")
        let good = try await scene.backUp().backup
        let archived = try await scene.folder().open(good, holdingTo: nil) { _ in }
        let header = try #require(archived.header)
        try LocalFileSystem().remove(scene.remotePath.appending(good.name))

        let manifest = ManifestWriter(
            modified: Scene.morning,
            compression: .default,
            in: scene.sandbox.path
        )
        try manifest.begin(header)
        let path = scene.remotePath.appending(good.name)
        let archive = ArchiveWriter(to: try File.create(path), compression: .default, threads: 1) {
            try manifest.append($0)
        }
        defer { archive.close() }
        let journal = try #require(Self.contents["-journal"])
        for (name, bytes) in [
            ("notes", store), ("notes-journal", journal), ("notes-wal", Array("a diary".utf8)),
        ] {
            let attributes = EntryAttributes(
                path: try RelativePath(name),
                kind: .file,
                mode: 0o600,
                modified: 0
            )
            try archive.add(attributes, content: bytes)
        }
        try archive.drain()
        _ = try manifest.finish(problems: [])
        _ = try manifest.add(to: archive, signing: nil)
        _ = try archive.finish()

        let backup = try #require(try await scene.list().first)
        try await scene.restore { $0.makesSafetyBackup = false }
        #expect(try scene.sandbox.read("Stores/notes") == store)
        #expect(!scene.sandbox.exists("Stores/notes-journal"))
        #expect(scene.sandbox.exists("Stores/notes-wal"))
        #expect(scene.told.contains { $0.contains("'notes-journal'") }, "\(scene.told)")
        #expect(try await names(in: backup, of: scene).contains("notes-journal"))
    }
}
