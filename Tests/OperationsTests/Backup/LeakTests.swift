import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Many operations in one process")
struct LeakTests {
    /// `GROCERYDUDE_LEAKS=all` makes it the full number, and then counts all descriptors: run it
    /// alone, since other tests open files too.
    private static let isFull = ProcessInfo.processInfo.environment["GROCERYDUDE_LEAKS"] == "all"

    /// The descriptors that this process has open, as what they lead to.
    private func descriptors() throws -> [String] {
        let directory = try Directory.open("/proc/self/fd")
        return try directory.names().compactMap { name in
            // The one that lists them is gone by now.
            guard let target = try? directory.linkTarget(name) else { return nil }
            return String(decoding: target, as: UTF8.self)
        }
    }

    @Test(
        "Many operations leave no descriptor open, whether they succeed or fail",
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd"), "there is no /proc")
    )
    func descriptorsStay() async throws {
        let scene = try Scene()
        // Files that are opened once and stay open are so after the first round.
        var operations = try await cycle(scene)
        let before = try descriptors()
        while operations < (Self.isFull ? 1000 : 64) { operations += try await cycle(scene) }
        let after = try descriptors()
        print("\(operations) operations: \(before.count) descriptors before, \(after.count) after")
        let own = after.filter { $0.contains(scene.sandbox.path.string) }
        #expect(own == [], "after \(operations) operations")
        if Self.isFull { #expect(after.count == before.count, "\(after)") }
    }

    @Test(
        "Operations leave no descriptor open in the stores directory, however they read a store",
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd"), "there is no /proc")
    )
    func stores() async throws {
        let scene = try Scene()
        for name in try Fixtures.names(in: "stores") {
            try Fixtures.copy("stores/\(name)", into: scene.sandbox, as: "Stores/\(name)")
        }
        // Not in WAL mode: SQLite opens no log for it, but there is one, and an index.
        try scene.sandbox.write(try scene.closedStore(), to: "Stores/rest.sqlite")
        for suffix in ["-wal", "-shm"] {
            try scene.sandbox.write("", to: "Stores/rest.sqlite\(suffix)")
        }
        let open = scene.sandbox.path("Stores/open.sqlite")
        let application = try StoreApplication(on: open, "CREATE TABLE t (x)")
        #expect(try await scene.backUp().stores > 8)
        #expect(try descriptors().filter { $0.contains(scene.stores.string) } == [])
        try application.end()
    }

    /// - Returns: how many operations it did.
    private func cycle(_ scene: Scene) async throws -> Int {
        let backup = try await scene.backUp(at: Scene.morning).backup
        _ = try await scene.list()
        _ = try await ShowBackup(
            in: scene.folder(),
            context: scene.context()
        ).run(backup.name)
        try await scene.restore(backup.name) { $0.makesSafetyBackup = false }
        let target = scene.sandbox.path("Cache/target")
        _ = try await scene.restoring().extract(backup, to: target)
        try LocalFileSystem().remove(target)
        // And those that fail.
        let name = backup.name
        let bytes = try scene.sandbox.read("Remote/\(name)")
        try scene.sandbox.write(bytes.dropLast(bytes.count / 2), to: "Remote/\(name)")
        await #expect(throws: RestoreError.self) { try await scene.restore(name) }
        let faulty = FaultyFileSystem(failing: .callOf(.swap, 1))
        try scene.sandbox.write(bytes, to: "Remote/\(name)")
        await #expect(throws: RestoreError.self) {
            try await scene.restore(name, fileSystem: faulty) { $0.makesSafetyBackup = false }
        }
        try await DeleteBackup(
            from: scene.folder(),
            context: scene.context()
        ).run(backup, at: Scene.morning, keepingTrash: .zero)
        return 8
    }
}
