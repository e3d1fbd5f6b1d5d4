import Age
import Files
import Foundation
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

/// What an increment is built on, under another name, in another form, or gone.
@Suite("Increments and their bases")
struct IncrementNeedsTests {
    private let life: IncrementScene
    private let backups: [Backup]

    /// A whole backup and three increments: the last needs the one before it, and the whole one.
    init() async throws {
        life = try IncrementScene(seed: 31)
        backups = try await life.makeChain(4)
    }

    private var scene: Scene { life.scene }

    private func outside(_ name: String, _ keys: BackupKeys = .none) throws -> BackupFolder {
        let catalog = BackupCatalog(scene.sandbox.path("Cache/\(name).json"), keys: keys)
        return scene.folder(LocalFolder(try scene.sandbox.directory(name)), catalog: catalog)
    }

    /// A folder whose files are not on this machine, which knows nothing of them.
    private func elsewhere(
        _ path: FilePath? = nil,
        _ keys: BackupKeys = .none,
        timeZone: LocalZone = Scene.utc
    ) -> BackupFolder {
        let folder = LocalFolder(path ?? scene.remotePath)
        let name = scene.sandbox.path("Cache/\(UUID().uuidString).json")
        return BackupFolder(
            Elsewhere(folder: folder, isFetching: true),
            staging: folder.path,
            memory: BackupMemory(catalog: BackupCatalog(name, keys: keys)),
            timeZone: timeZone
        )
    }

    private func keys(_ recipients: [Identity], _ identities: [Identity]) -> BackupKeys {
        BackupKeys(
            encrypts: true,
            recipients: { recipients.map(\.recipient) },
            identities: { identities }
        )
    }

    private func expectRestored(
        _ backup: Backup,
        _ name: String,
        from folder: BackupFolder
    )
        async throws
    {
        let target = try scene.sandbox.directory("From-\(UUID().uuidString)")
        try await life.extract(folder.find(name), from: folder, to: target)
        let expected = try #require(life.expected[backup.name])
        #expect(try IncrementScene.differences(target, expected).isEmpty)
    }

    private func move(_ name: String, to other: String) throws {
        let folder = scene.remotePath
        try LocalFileSystem().move(folder.appending(name), to: folder.appending(other))
    }

    @Test("An increment finds a base encrypted for new keys, with the new key and an empty trash")
    func rotated() async throws {
        let (old, new) = (try Identity.generate(), try Identity.generate())
        var options = CopyBackups.Options(date: life.date)
        options.recipients = [old.recipient]
        let sealed = try outside("Sealed", keys([old], [old]))
        let copied = try await CopyBackups(
            from: scene.folder(),
            to: sealed,
            options: options,
            context: scene.context()
        ).run(nil)
        #expect(copied.problems.isEmpty && copied.copied.count == 4)
        // Here by what is known of the archives, and elsewhere by looking into them.
        let name = "\(backups[3].name).age"
        try await expectRestored(backups[3], name, from: sealed)
        let path = scene.sandbox.path("Sealed")
        try await expectRestored(backups[3], name, from: elsewhere(path, keys([old], [old])))

        let rotating = try outside("Sealed", keys([old, new], [old]))
        let rotated = try await RotateKeys(in: rotating, context: scene.context())
            .run(at: life.date)
        #expect(rotated.items.allSatisfy { $0.rotated != nil })
        for isEmpty in [false, true] {
            if isEmpty {
                try LocalFileSystem().remove(path.appending(Trash.subfolder))
            }
            for identity in isEmpty ? [new, old] : [new] {
                let keys = keys([new], [identity])
                try await expectRestored(backups[3], name, from: outside("Sealed", keys))
                try await expectRestored(backups[3], name, from: elsewhere(path, keys))
            }
        }
    }

    @Test("An increment finds its remote base under another name, which no machine deletes")
    func renamedElsewhere() async throws {
        try move(backups[0].name, to: "renamed Stores.zip")
        let folder = elsewhere()
        // What it needs is known from here on, but not what the other file is.
        for increment in try await folder.list().backups where increment.isIncrement {
            _ = try await folder.open(increment, .parts, alone: true, holdingTo: nil) { _ in }
        }
        // Until it was looked at, nothing shows that they can be restored.
        let listed = try await folder.list().backups
        #expect(listed.filter { $0.damage != nil }.count == 3)
        let renamed = try await folder.find("renamed")
        #expect(
            try await Dependence(in: folder, among: folder.list().backups, goneForGood: false)
                .dependants(of: renamed).count == 3
        )
        let delete = DeleteBackup(from: folder, context: scene.context())
        await #expect(throws: BackupFolderError.self) {
            try await delete.run(renamed, at: life.date, keepingTrash: .zero)
        }
        #expect(try await folder.list().backups.allSatisfy { $0.damage == nil })
        try await expectRestored(backups[3], backups[3].name, from: elsewhere())
        // The second time it is known, and fetched with the other at once.
        for _ in 0..<2 { try await expectRestored(backups[3], backups[3].name, from: folder) }
    }

    @Test(
        "Increments are not good if only an unknown remote file may be their base",
        arguments: [true, false]
    )
    func unknownBase(isCut: Bool) async throws {
        let folder = elsewhere()
        for backup in try await folder.list().backups {
            _ = try await folder.open(backup, .parts, alone: true, holdingTo: nil) { _ in }
        }
        #expect(try await folder.list().backups.allSatisfy { $0.damage == nil })
        let base = backups[0]
        var name = base.name
        if isCut {
            let bytes = try scene.sandbox.read("Remote/\(name)")
            try scene.sandbox.write(Array(bytes.dropLast(9)), to: "Remote/\(name)")
        } else {
            try life.remove(name)
            name = BackupName.make(try #require(base.time), in: Scene.utc, number: 9)
            try scene.sandbox.write("another", to: "Remote/\(name)")
        }
        let increments = try await folder.list().backups.filter(\.isIncrement)
        let state = isCut ? "not as it was" : "gone"
        let reason = "it is built on '\(base.displayName)', which is \(state)"
        #expect(increments.map(\.damage) == [reason, reason, reason])
        let unknown = try await folder.find(name)
        #expect(
            try await Dependence(in: folder, among: folder.list().backups, goneForGood: false)
                .dependants(of: unknown).count == 3
        )
        let checks = CheckBackups(in: folder, options: .init(), context: scene.context())
        let results = try await checks.compare(increments, at: life.date)
        #expect(results.map(\.damage) == [[reason], [reason], [reason]])
    }

    @Test(
        "Increments find a base whose name was altered, and a list warns of that file",
        arguments: [" (1)", " (x's conflicted copy 2026-11-28)"]
    )
    func alteredName(addition: String) async throws {
        let name = backups[0].name
        let altered = "\(name.dropLast(4))\(addition).zip"
        try move(name, to: altered)
        let listing = try await scene.folder().list()
        #expect(listing.backups.map(\.name) == backups.dropFirst().reversed().map(\.name))
        #expect(listing.backups.allSatisfy { $0.damage == nil })
        #expect(listing.warnings.count == 1 && listing.warnings.first?.contains(altered) == true)
        #expect(try await life.differences(backups[3].name).isEmpty)
        try await expectRestored(backups[3], backups[3].name, from: elsewhere())
        // A copy without it could not be restored.
        let copied = try await CopyBackups(
            from: scene.folder(),
            to: outside("Copies"),
            options: .init(date: life.date),
            context: scene.context()
        ).run(["latest"])
        #expect(copied.copied.isEmpty)

        let imported = try await ImportArchive(
            to: scene.folder(),
            options: .init(date: life.date),
            context: scene.context()
        ).run(scene.remotePath.appending(altered))
        #expect(imported.backup.name == name)
        #expect(try await scene.folder().list().warnings.isEmpty)
    }

    @Test("An import of an increment finds its base beside it under another name")
    func importedUnderOtherNames() async throws {
        let downloads = try scene.sandbox.directory("Downloads")
        for (number, name) in ["whole.zip", "increment.zip"].enumerated() {
            try LocalFileSystem().move(
                scene.remotePath.appending(backups[number].name),
                to: downloads.appending(name)
            )
        }
        let imported = try await ImportArchive(
            to: outside("Other"),
            options: .init(date: life.date),
            context: scene.context()
        ).run(downloads.appending("increment.zip"))
        #expect(imported.needs.map(\.name) == [backups[0].name])
        try await expectRestored(backups[1], backups[1].name, from: outside("Other"))
    }

    @Test(
        "No machine deletes an unknown remote base whose name has another time",
        arguments: ["keep Stores.zip", "[2040-Nov-27] 10.00 AM Stores.zip"]
    )
    func misnamedElsewhere(name: String) async throws {
        // A file's own time is years before those of the increments.
        try move(backups[0].name, to: name)
        let folder = elsewhere()
        let renamed = try await folder.find(name)
        let delete = DeleteBackup(from: folder, context: scene.context())
        await #expect(throws: BackupFolderError.self) {
            try await delete.run(renamed, at: life.date, keepingTrash: .seconds(86_400))
        }
        #expect(try await folder.list().backups.contains { $0.name == name })
    }

    @Test("An increment finds the whole backup that was consolidated remotely, encrypted too")
    func consolidatedElsewhere() async throws {
        let identity = try Identity.generate()
        let keys = keys([identity], [identity])
        var options = CopyBackups.Options(date: life.date)
        options.recipients = [identity.recipient]
        let sealed = try outside("Sealed", keys)
        let context = scene.context()
        _ = try await CopyBackups(
            from: scene.folder(),
            to: sealed,
            options: options,
            context: context
        )
        .run(nil)
        _ = try await ConsolidateBackup(
            in: sealed,
            options: .init(date: life.date, tool: "test"),
            context: context
        ).run("\(backups[2].name).age")
        let path = scene.sandbox.path("Sealed")
        try LocalFileSystem().remove(path.appending(Trash.subfolder))
        try LocalFileSystem().remove(path.appending("\(backups[0].name).age"))
        let name = "\(backups[3].name).age"
        try await expectRestored(backups[3], name, from: elsewhere(path, keys))
    }

    @Test("A backup of about the time of an increment with unknown bases cannot be deleted")
    func unknownNeeds() async throws {
        // As the scene's next is an hour later: of the whole one's minute.
        life.date = Date(timeIntervalSince1970: 1_900_000_000) + 10
        let names = try Set(Directory.open(scene.remotePath).names().map(\.description))
        for name in names where name.hasSuffix(BackupName.incrementSuffix) {
            try life.remove(name)
        }
        let increment = try await life.backUp()
        #expect(increment.isIncrement && increment.displayName == "\(backups[0].displayName) (2)")
        for hours in [0, 5, 14] {
            let zone = LocalZone(offset: hours * 3600)
            let folder = elsewhere(timeZone: zone)
            let known = try await folder.list().backups
            let whole = try #require(known.first { $0.name == backups[0].name })
            _ = try await folder.open(whole, .parts, alone: true, holdingTo: nil) { _ in }
            await #expect(throws: BackupFolderError.self, "\(hours)") {
                try await DeleteBackup(from: folder, context: scene.context())
                    .run(whole, at: life.date, keepingTrash: .zero)
            }
        }
    }

    // MARK: - Gone

    @Test("Increments come back with their base, and are not copied while it is in the trash")
    func undeleted() async throws {
        let folder = scene.folder()
        let delete = DeleteBackup(from: folder, context: scene.context())
        try await delete.run(
            backups[0],
            at: life.date,
            keepingTrash: .seconds(60),
            withDependants: true
        )
        #expect(try await folder.list().backups.isEmpty)
        _ = try await folder.trash.bringBack(backups[3].name)
        // It can be restored from the trash, and is no damage.
        #expect(try await folder.list().backups.allSatisfy { $0.damage == nil })
        let copy = try CopyBackups(
            from: folder,
            to: outside("Copies"),
            options: .init(date: life.date),
            context: scene.context()
        )
        let refused = try await copy.run(["latest"])
        #expect(refused.copied.isEmpty)
        #expect(
            refused.failure as? MovingError
                == .needsTrashed(backups[3].displayName, need: backups[0].displayName)
        )
        _ = try await folder.remove(backups[3], at: life.date, keepingTrash: .seconds(60))

        let (back, needs, problems) = try await delete.undo(backups[3].name)
        #expect(back.name == backups[3].name && problems.isEmpty)
        #expect(needs.map(\.name) == [backups[0].name, backups[2].name])
        let names = try await folder.list().backups.map(\.name)
        #expect(names == [backups[3].name, backups[2].name, backups[0].name])
        let copied = try await copy.run(["latest"])
        #expect(copied.copied.count == 3 && copied.problems.isEmpty)
        try await expectRestored(backups[3], "latest", from: outside("Copies"))
        // The last one comes back alone: all else is there.
        #expect(try await delete.undo(backups[1].name).needs.isEmpty)
    }

    @Test("Increments whose base is gone are not good in a list, a status or a policy")
    func incomplete() async throws {
        life.increments.isFull = true
        let good = try await life.backUp()
        let base = try await life.backUp()
        life.increments.isFull = false
        for number in 0..<2 {
            try life.makeStore("store0.sqlite", rows: number + 1)
            try await life.backUp()
        }
        try life.remove(base.name)
        let listed = try await scene.folder().list().backups
        #expect(listed.filter { $0.damage != nil }.map(\.name) == life.names.suffix(2).reversed())
        let reason = "it is built on '\(base.displayName)', which is gone"
        #expect(listed.first?.damage == reason)
        let status = await ShowStatus(of: scene.stores, in: scene.folder(), now: life.date).run()
        #expect(status.newest?.name == good.name)
        #expect(status.warnings.contains { $0.hasSuffix("cannot be restored: \(reason)") })

        var policy = RetentionPolicy()
        policy.counts[.last] = 1
        let plan = try await PruneBackups(
            in: scene.folder(),
            options: .init(policy: policy, now: life.date + 1),
            context: scene.context()
        ).plan()
        let kept = plan.keep.map(\.backup.name)
        #expect(kept.contains(good.name) && kept.contains(life.names.last ?? ""))

        // Which others are hit, and which of the same origin is whole.
        let other = try Scene(sharing: scene)
        try await other.backUp(at: life.date + 60)
        let error = await #expect(throws: BackupFolderError.self) {
            try await life.differences(#require(life.names.last))
        }
        let hit = BackupName.display(life.names[life.names.count - 2])
        #expect(
            error
                == .missingNeed(
                    BackupName.display(life.names.last ?? ""),
                    need: base.displayName,
                    address: scene.remote.address,
                    others: [hit],
                    whole: good.displayName
                )
        )
        #expect(error?.description.contains(hit) == true)
    }

    // MARK: - Of one minute

    private func replace(_ folder: BackupFolder? = nil) async throws -> CreateBackup.Outcome {
        life.date += 1
        try life.makeStore("store0.sqlite", rows: 1)
        var options = scene.options(at: life.date)
        options.increments = life.increments
        options.sameName = .replace
        return try await CreateBackup(
            of: scene.stores,
            to: folder ?? scene.folder(),
            options: options,
            context: scene.context()
        ).run()
    }

    @Test("Increments of one minute replace one another, unless an increment needs the other")
    func replaced() async throws {
        life.date += 3600
        let first = try await replace()
        #expect(first.backup.name.hasSuffix("M Changes.zip") && first.replaced == nil)
        let second = try await replace()
        #expect(second.replaced?.name == first.backup.name && second.problems.isEmpty)
        #expect(second.backup.name == first.backup.name)
        #expect(!second.backup.needs.contains { $0.name == first.backup.name })
        #expect(try await scene.folder().list().backups.count == 5)
        // The state knows it by the name that it has now.
        life.date += 3600
        let next = try await life.backUp()
        #expect(next.isIncrement)
        #expect(try await life.differences(next.name).isEmpty)

        // A whole one that others need stays.
        life.date = try #require(backups[0].time) + 1
        life.increments.isFull = true
        let whole = try await replace()
        #expect(whole.replaced == nil && whole.problems.map(\.kind) == [.notRemoved])
        #expect(try await life.differences(backups[3].name).isEmpty)
        var options = scene.options(at: life.date)
        options.sameName = .replace
        let alone = CreateBackup(
            of: scene.stores,
            to: scene.folder(),
            options: options,
            context: scene.context()
        )
        await #expect(throws: BackupFolderError.self) { try await alone.run() }
    }

    @Test("A copy does not replace a base of an increment")
    func replacedByCopy() async throws {
        let other = try Scene()
        let made = try await CreateBackup(
            of: other.stores,
            to: other.folder(),
            options: other.options(at: try #require(backups[0].time)),
            context: other.context()
        ).run()
        #expect(made.backup.name == backups[0].name)
        var options = CopyBackups.Options(date: life.date)
        options.sameName = .replace
        let copied = try await CopyBackups(
            from: other.folder(),
            to: scene.folder(),
            options: options,
            context: scene.context()
        ).run(nil)
        #expect(copied.copied.isEmpty)
        let needing = backups.dropFirst().reversed().map(\.displayName)
        #expect(
            copied.failure as? BackupFolderError == .needed(backups[0].displayName, by: needing)
        )
        #expect(try await life.differences(backups[3].name).isEmpty)
    }

    // MARK: - Of several lineages

    @Test("Pruning keeps the newest of each lineage with its bases while others may build on it")
    func lineages() async throws {
        let other = try IncrementScene(seed: 37, sharing: scene)
        other.date = life.date + 60
        _ = try await other.makeChain(3)
        var policy = RetentionPolicy()
        policy.counts[.last] = 1
        func removed(at date: Date, _ scope: PruneBackups.Scope) async throws -> Set<String> {
            var options = PruneBackups.Options(policy: policy, now: date)
            options.scope = scope
            let plan = try await PruneBackups(
                in: scene.folder(),
                options: options,
                context: scene.context()
            ).plan()
            return Set(plan.remove.map(\.backup.name))
        }
        let built: Set = [backups[1].name, other.names[1]]
        #expect(try await removed(at: other.date + 1, .allOrigins) == built)
        let later = other.date + 36 * 86_400
        #expect(try await removed(at: later, .eachOrigin) == built)
        let old = Set(backups.map(\.name))
        #expect(try await removed(at: later, .allOrigins) == old.union([other.names[1]]))
    }

    @Test("A check begins with the backups that most others depend on")
    func order() async throws {
        life.increments.isFull = true
        let last = try await life.backUp()
        let checks = CheckBackups(
            in: scene.folder(),
            options: .init(),
            context: scene.context()
        )
        let names = try await checks.mostNeededFirst(checks.all().backups).map(\.name)
        let increments = backups.dropFirst().reversed().map(\.name)
        #expect(names == [backups[0].name, last.name] + increments)
    }
}
