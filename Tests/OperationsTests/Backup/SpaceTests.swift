import Files
import Foundation
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Space for archives")
struct SpaceTests {
    @Test("is asked for before a backup begins; the newest one says how much it takes")
    func making() async throws {
        let scene = try Scene()
        let free = try Directory.open(scene.remotePath).availableSpace()
        try scene.sandbox.stretch(scene.stores.appending("large"), to: 5 * free)
        await #expect {
            try await scene.backUp()
        } throws: { error in
            guard case OperationError.noSpace(scene.remotePath, let needed, _) = error else {
                return false
            }
            return needed > free
        }
        #expect(try await scene.list().isEmpty)
        #expect(try scene.leftovers().isEmpty)
        // An earlier backup of such files took next to nothing.
        try LocalFileSystem().remove(scene.sandbox.path("Stores/large"))
        try scene.sandbox.stretch(scene.stores.appending("large"), to: 100 << 20)
        try await scene.backUp()
        #expect(try await scene.list().count == 1)
    }

    @Test("is asked for before an archive is fetched")
    func fetching() async throws {
        let scene = try Scene()
        try await scene.backUp()
        let remote = Elsewhere(folder: scene.remote, claimedSize: .max)
        let folder = scene.folder(remote)
        let backup = try #require(try await folder.list().backups.first)
        await #expect(throws: BackupFolderError.self) {
            try await scene.context().open(backup, in: folder)
        }
    }
}
