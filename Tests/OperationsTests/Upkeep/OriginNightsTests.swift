import Age
import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

/// A machine with a key of its own, whose backups are in a folder with those of others.
private final class Machine: @unchecked Sendable {
    let scene: Scene
    let key = SigningKey()
    /// The keys of others that it trusts.
    var trusted: [SSHPublicKey] = []
    /// The backups that are to be left of those that it made, the newest first.
    var expected: [String] = []
    let keeps: Int
    var isIncremental = false

    init(sharing first: Scene?, keeps: Int) throws {
        scene = try first.map { try Scene(sharing: $0) } ?? Scene()
        self.keeps = keeps
    }

    var origin: Origin { Origin(of: scene.stores, named: nil) }

    /// The folder as it sees it in one run.
    func folder() -> BackupFolder {
        let source = Signers.Source(
            signingKey: { [key] in key },
            ownKeys: { [key] in [key.publicKey] },
            allowed: { [trusted] in
                let lines = trusted.map {
                    AllowedSigners.line(
                        for: $0,
                        name: "other",
                        namespace: BackupSignature.namespace
                    )
                }
                return try AllowedSigners(lines.joined(), path: "allowed")
            }
        )
        let keys = BackupKeys(signers: Signers(source, at: Scene.morning))
        let catalog = BackupCatalog(
            scene.sandbox.path("Cache/catalog.json"),
            at: Scene.morning,
            keys: keys
        )
        var folder = BackupFolder(
            scene.remote,
            staging: scene.remotePath,
            memory: BackupMemory(catalog: catalog),
            timeZone: Scene.utc
        )
        folder.origin = origin
        return folder
    }

    func backUp(
        at date: Date,
        acceptingChanges accepts: Bool = false
    ) async throws -> CreateBackup.Outcome {
        var options = scene.options(at: date)
        options.acceptsChanges = accepts
        if isIncremental {
            var increments = IncrementOptions(
                statePath: scene.sandbox.path("Cache/state.sqlite")
            )
            increments.leastFullSize = 0
            options.increments = increments
        }
        let folder = folder()
        let outcome = try await CreateBackup(
            of: scene.stores,
            to: folder,
            options: options,
            context: scene.context()
        ).run()
        try await folder.memory.catalog.save()
        expected.insert(outcome.backup.name, at: 0)
        return outcome
    }

    /// Runs statements on the store.
    func edit(_ sql: String) throws {
        try StoreApplication(on: scene.stores.appending("Grocery-Dude.sqlite"), sql).end()
    }

    /// Returns the note in the newest backup, as a restore from `latest` brings it.
    func restoredNote(now: Date) async throws -> String {
        try await note(in: ImpliedBackup.latest(in: folder(), now: now) { _ in }.0.backup, now: now)
    }

    /// Returns the note that a backup brings.
    func note(in backup: Backup, now: Date) async throws -> String {
        let restore = RestoreBackup(
            from: folder(),
            options: RestoreBackup.Options(backup: scene.options(at: now)),
            context: scene.context()
        )
        let target = scene.sandbox.path("Target")
        try LocalFileSystem().remove(target)
        _ = try await restore.extract(backup, to: target)
        return String(
            decoding: try File.contents(of: target.appending("note"), limit: 99),
            as: UTF8.self
        )
    }

    func prune(
        _ scope: PruneBackups.Scope,
        at date: Date
    ) async throws -> PruneBackups.Outcome {
        var policy = RetentionPolicy()
        policy.counts[.last] = keeps
        var options = PruneBackups.Options(policy: policy, now: date)
        options.keepsTrash = .zero
        options.scope = scope
        let folder = folder()
        let outcome = try await PruneBackups(in: folder, options: options, context: scene.context())
            .run()
        try await folder.memory.catalog.save()
        return outcome
    }
}

@Suite("Several machines in one folder")
struct OriginNightsTests {
    private let seed = UInt64.random(in: 0...UInt64.max)

    private static let moreRows =
        "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) INSERT INTO more SELECT i FROM n"

    private func names(_ scene: Scene) throws -> Set<String> {
        Set(
            try Directory.open(scene.remotePath).names().map(\.description)
                .filter { $0.hasSuffix("Stores.zip") }
        )
    }

    @Test(
        "prune and judge each its own backups, whatever others make, plant and take away",
        arguments: [2, 3]
    )
    func nights(count: Int) async throws {
        print("origins: \(count) machines, seed \(seed)")
        var random = Pseudorandom(seed: seed)
        let first = try Machine(sharing: nil, keeps: 3)
        var machines = [first]
        for _ in 1..<count {
            machines.append(
                try Machine(sharing: first.scene, keeps: Int.random(in: 1...4, using: &random))
            )
        }
        // Each has other rows: none is an anomaly beside another.
        for (index, machine) in machines.enumerated() where index > 0 {
            try machine.edit("CREATE TABLE more(x); \(Self.moreRows)")
            try machine.scene.sandbox.write("\(index)", to: "Stores/note")
        }
        try first.scene.sandbox.write("0", to: "Stores/note")
        var planted: Set<String> = []
        var date = Scene.morning
        for night in 0..<8 {
            for machine in machines.shuffled(using: &random) {
                date += Double(Int.random(in: 60...7_200, using: &random))
                let outcome = try await machine.backUp(at: date)
                #expect(outcome.problems == [], "\(outcome.problems)")
                if Bool.random(using: &random) {
                    // One of a machine that nobody knows.
                    let stranger = try Machine(sharing: first.scene, keeps: 1)
                    planted.insert(try await stranger.backUp(at: date + 1).backup.name)
                }
                if machine !== first, Int.random(in: 0..<4, using: &random) == 0 {
                    // Its rows are lost: only its own policy waits for a person.
                    try machine.edit("DELETE FROM more")
                    let less = try await machine.backUp(at: date + 10)
                    #expect(less.problems.map(\.kind) == [.anomaly], "seed \(seed)")
                    let refused = try await machine.prune(.ownOrigin, at: date + 11)
                    #expect(refused.plan.remove.isEmpty, "seed \(seed)")
                    let accepted = try await machine.backUp(at: date + 20, acceptingChanges: true)
                    #expect(accepted.problems == [])
                    try machine.edit(Self.moreRows)
                    date += 30
                }
                let pruned = try await machine.prune(.ownOrigin, at: date + 2)
                machine.expected = Array(machine.expected.prefix(machine.keeps))
                #expect(pruned.problems == [] && pruned.plan.refusal == nil)
                #expect(
                    try names(first.scene)
                        == planted.union(machines.flatMap { $0.expected }),
                    "night \(night), seed \(seed)"
                )
                let index = machines.firstIndex { $0 === machine } ?? -1
                #expect(try await machine.restoredNote(now: date + 3) == "\(index)")
            }
        }
        for machine in machines {
            let now = date + 60
            let choice = try await ImpliedBackup.latest(in: machine.folder(), now: now) { _ in }.0
            #expect(choice.backup.name == machine.expected[0])
            let status = await ShowStatus(of: machine.scene.stores, in: machine.folder(), now: now)
                .run()
            #expect(status.newest?.name == machine.expected[0], "\(status.warnings)")
            #expect(status.warnings.allSatisfy { !$0.contains("gone") }, "\(status.warnings)")
        }
        // One that trusts all of them prunes each by itself, and what nobody known signed stays.
        first.trusted = machines.dropFirst().map(\.key.publicKey)
        let all = try await first.prune(.eachOrigin, at: date + 120)
        let left = machines.flatMap { $0.expected.prefix(first.keeps) }
        #expect(try names(first.scene) == planted.union(left), "\(all.plan), seed \(seed)")
        _ = try await first.prune(.allOrigins, at: date + 180)
        #expect(try names(first.scene).subtracting(planted).count == min(first.keeps, left.count))
    }

    @Test("build increments on their own backups alone, and restore them")
    func increments() async throws {
        let one = try Machine(sharing: nil, keeps: 9)
        let two = try Machine(sharing: one.scene, keeps: 9)
        (one.isIncremental, two.isIncremental) = (true, true)
        for machine in [one, two] {
            // An increment is to be worth it.
            let sql = "CREATE TABLE more(x); INSERT INTO more VALUES(randomblob(700000))"
            try machine.edit(sql)
        }
        for hour in 0..<3 {
            for (index, machine) in [one, two].enumerated() {
                try machine.scene.sandbox.write("\(hour)", to: "Stores/note")
                let date = Scene.morning + Double(3_600 * hour + 600 * index)
                let outcome = try await machine.backUp(at: date)
                #expect(
                    outcome.backup.isIncrement == (hour > 0),
                    "\(hour) \(index): \(machine.scene.told)"
                )
            }
        }
        for machine in [one, two] {
            let backup = try #require(
                try await machine.folder().list().backups.first { $0.name == machine.expected[0] }
            )
            #expect(backup.needs.allSatisfy { machine.expected.contains($0.name) })
            #expect(try await machine.note(in: backup, now: Scene.morning + 90_000) == "2")
        }
    }

    @Test("are reported if the folder fell behind what it had, and not if they removed it")
    func behind() async throws {
        let machine = try Machine(sharing: nil, keeps: 1)
        _ = try await machine.backUp(at: Scene.morning)
        let newest = try await machine.backUp(at: Scene.morning + 600).backup
        func warning() async throws -> String? {
            let folder = machine.folder()
            let text = await folder.losses.lagWarning(beside: try await folder.list().backups)
            try await folder.memory.catalog.save()
            return text
        }
        #expect(try await warning() == nil)
        let path = machine.scene.remotePath.appending(newest.name)
        let kept = machine.scene.sandbox.path("kept")
        try LocalFileSystem().move(path, to: kept)
        for _ in 0..<2 {
            #expect(try await warning()?.contains("'\(newest.displayName)' was the newest") == true)
        }
        try LocalFileSystem().move(kept, to: path)
        #expect(try await warning() == nil)
        let folder = machine.folder()
        _ = try await DeleteBackup(from: folder, context: machine.scene.context()).run(
            newest,
            at: Scene.morning + 900,
            keepingTrash: .zero
        )
        try await folder.memory.catalog.save()
        #expect(try await warning() == nil)
    }
}
