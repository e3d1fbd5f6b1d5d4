import Age
import Files
import Foundation
import Remotes
import TestSupport
import Testing

@testable import Backups
@testable import Operations

/// Deleting a backup with all that needs it, in a folder that another machine has its own backups in.
@Suite("Deleting with dependants")
struct DeleteDependantsTests {
    private let life: IncrementScene
    private let other: IncrementScene
    private let backups: [Backup]

    /// A whole backup and two increments of each machine.
    init() async throws {
        life = try IncrementScene(seed: 51)
        other = try IncrementScene(seed: 52, sharing: life.scene)
        backups = try await life.makeChain(3)
    }

    private var scene: Scene { life.scene }

    /// The folder as one of files elsewhere, of which this machine knows only its own backups.
    private func elsewhere() async throws -> BackupFolder {
        let catalog = BackupCatalog(scene.sandbox.path("Cache/elsewhere.json"))
        let folder = BackupFolder(
            Elsewhere(folder: LocalFolder(scene.remotePath), isFetching: true),
            staging: scene.remotePath,
            memory: BackupMemory(catalog: catalog),
            timeZone: Scene.utc
        )
        let names = Set(backups.map(\.name))
        for backup in try await folder.list().backups where names.contains(backup.name) {
            _ = try await folder.open(backup, .parts, alone: true, holdingTo: nil) { _ in }
        }
        return folder
    }

    @Test("Deleting with dependants keeps another machine's, after reading what they build on")
    func lookedInto() async throws {
        let others = try await other.makeChain(3).map(\.name)
        let folder = try await elsewhere()
        let whole = try await folder.find(backups[0].name)
        let delete = DeleteBackup(from: folder, context: scene.context())
        await #expect(
            throws: BackupFolderError.needed(
                whole.displayName,
                by: [backups[2].displayName, backups[1].displayName]
            )
        ) {
            try await delete.run(whole, at: life.date, keepingTrash: .seconds(60))
        }
        let all = [backups[2], backups[1], backups[0]].map(\.name)
        let plan = try await delete.plan(whole, keepingTrash: .seconds(60), withDependants: true)
        #expect(plan.map(\.name) == all)
        // Nobody agreed to what came meanwhile.
        await #expect(throws: BackupFolderError.self) {
            try await delete.run(
                whole,
                at: life.date,
                keepingTrash: .seconds(60),
                withDependants: true,
                agreed: [whole]
            )
        }
        let outcome = try await delete.run(
            whole,
            at: life.date,
            keepingTrash: .seconds(60),
            withDependants: true,
            agreed: plan
        )
        #expect(outcome.backups.map(\.name) == all)
        #expect(try await Set(scene.list().map(\.name)) == Set(others))
    }

    @Test("Deleting with dependants removes nothing if some cannot be read here")
    func sealed() async throws {
        let identity = try Identity.generate()
        let keys = BackupKeys(
            encrypts: true,
            recipients: { [identity.recipient] },
            identities: { [identity] }
        )
        var options = CopyBackups.Options(date: life.date)
        options.recipients = [identity.recipient]
        let separate = try IncrementScene(seed: 53)
        _ = try await separate.makeChain(2)
        _ = try await CopyBackups(
            from: separate.scene.folder(),
            to: scene.folder(catalog: BackupCatalog(scene.sandbox.path("k.json"), keys: keys)),
            options: options,
            context: scene.context()
        ).run(nil)
        let before = try await Set(scene.list().map(\.name))
        let sealed = before.filter(BackupName.isEncrypted)
        #expect(sealed.count == 2)
        // Each has the display name of another one.
        let increment = try #require(sealed.first(where: BackupName.isIncrement))
        for folder in [scene.folder(), try await elsewhere()] {
            let whole = try await folder.find(backups[0].name)
            let delete = DeleteBackup(from: folder, context: scene.context())
            await #expect(
                throws: BackupFolderError.perhapsNeeded(
                    whole.displayName,
                    by: [increment]
                )
            ) {
                try await delete.run(
                    whole,
                    at: life.date,
                    keepingTrash: .seconds(60),
                    withDependants: true
                )
            }
        }
        #expect(try await Set(scene.list().map(\.name)) == before)
    }
}
