import Archives
import Files
import Foundation
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations
@testable import Stores

@Suite("Space for archives")
struct SpaceTests {
    @Test("A backup checks the free space before it begins, by the size of the newest one")
    func making() async throws {
        let scene = try Scene()
        let free = try Directory.open(scene.remotePath).availableSpace()
        var survey = StoresDirectory.Survey()
        (survey.size, survey.allocated) = (5 * free, 5 * free)
        func check(after newest: Backup? = nil) throws {
            try scene.folder().checkSpace(for: survey, isCompressed: true, after: newest)
        }
        #expect {
            try check()
        } throws: { error in
            guard case OperationError.noSpace(scene.remotePath, let needed, _) = error else {
                return false
            }
            return needed > free
        }
        // An earlier backup of such files took next to nothing.
        try await scene.backUp()
        try check(after: try await scene.list().first)
        // Holes take next to nothing as well.
        survey.allocated = free
        try check()
    }

    @Test("Holes need no free space, in a backup or in a restore")
    func holes() async throws {
        let scene = try Scene()
        try scene.sandbox.write("", to: "Stores/large")
        try scene.sandbox.stretch(scene.stores.appending("large"), to: 300 << 20)
        let backup = try await scene.backUp().backup
        let opened = try await scene.context().open(backup, in: scene.folder())
        var needed: Int64 = 0
        try opened.forEach { needed += $0.attributes.kind == .file ? $0.allocatedSize : 0 }
        #expect(opened.bytes > 300 << 20 && needed < 2 << 20)
        try opened.checkSpace(at: scene.sandbox.path)
    }

    @Test("A fetch checks the free space before it begins")
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
