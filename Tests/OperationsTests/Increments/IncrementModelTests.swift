import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

/// `GROCERYDUDE_INCREMENT_LIVES` sets how many lives there are, `GROCERYDUDE_INCREMENT_SEED` the first.
@Suite("Increments over random histories")
struct IncrementModelTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let lives = environment["GROCERYDUDE_INCREMENT_LIVES"].flatMap { Int($0) }
    private static let seed = environment["GROCERYDUDE_INCREMENT_SEED"].flatMap { UInt64($0) }

    @Test("Every increment of a random history restores what a whole backup would have")
    func lives() async throws {
        let first = Self.seed ?? (Self.lives == nil ? 1 : .random(in: 0..<1_000_000_000))
        let count = Self.lives ?? 6
        print("increments: \(count) lives from seed \(first)")
        var increments = 0
        for seed in first..<(first + UInt64(count)) {
            increments += try await live(seed)
        }
        #expect(increments > count * 3)
    }

    /// Lives through some days, and returns how many increments were made.
    private func live(_ seed: UInt64) async throws -> Int {
        let life = try IncrementScene(seed: seed)
        try life.makeStore("store0.sqlite", rows: 2500)
        try life.makeStore("store1.sqlite", rows: 400)
        // Files that are there from the beginning, to be changed and removed.
        for _ in 0..<8 { try life.edit() }
        var increments = 0
        for _ in 0..<10 {
            for _ in 0..<(life.random.next() % 4) { try life.edit() }
            switch life.random.next() % 32 {
            case 0: try? FileManager.default.removeItem(atPath: life.increments.statePath.string)
            case 1: try removeOne(of: life)
            case 2: life.increments.isFull = true
            case 3: life.increments.rereads = true
            case 6: try life.keepState()
            case 7: try life.putBackState()
            case 4...5: try await consolidateOne(of: life)
            case 8...9: try await crash(life)
            case 10...11: try await pruneOld(of: life, seed)
            case 12...13: try conflictOne(of: life)
            default: break
            }
            let backup = try await life.backUp()
            life.increments.isFull = false
            life.increments.rereads = false
            if backup.isIncrement { increments += 1 }
        }
        let there = try await life.scene.folder().list().backups
        // One that was not cancelled in time was compared with nothing.
        for backup in there.withoutReplaced where life.expected[backup.name] != nil {
            do {
                let differences = try await life.differences(backup.name)
                if !differences.isEmpty {
                    Issue.record("seed \(seed): '\(backup.name)' differs in \(differences)")
                }
            } catch BackupFolderError.missingNeed(_, let need, _, _, _) {
                // Only if it was removed, and then the list says so.
                #expect(!there.contains { $0.displayName == need }, "seed \(seed)")
                #expect(backup.damage != nil, "seed \(seed)")
            }
        }
        return increments
    }

    /// Ends a backup half-way; nothing of it may be left that a later one is built on.
    private func crash(_ life: IncrementScene) async throws {
        let count = try await life.scene.folder().list().backups.count
        do {
            try await life.backUpAlone(cancellingAfter: Int(life.random.next() % 40))
        } catch is CancellationError {
            #expect(try await life.scene.folder().list().backups.count == count)
        }
    }

    /// Prunes; what could be restored before, and is kept, can be after it.
    private func pruneOld(of life: IncrementScene, _ seed: UInt64) async throws {
        let before = try await life.scene.folder().list().backups.filter { $0.damage == nil }
        try await life.prune(keeping: 1 + Int(life.random.next() % 4))
        let later = life.date + 2 * 86_400
        _ = try await life.scene.folder().trash.empty(before: later, now: later)
        for backup in try await life.scene.folder().list().backups
        where before.contains(where: { $0.name == backup.name }) {
            #expect(backup.damage == nil, "seed \(seed): '\(backup.name)'")
        }
    }

    private func conflictOne(of life: IncrementScene) throws {
        let names = life.expected.keys.sorted()
        guard let name = names.randomElement(using: &life.random) else { return }
        try life.conflict(name, replacing: life.random.next() % 2 == 0)
    }

    private func consolidateOne(of life: IncrementScene) async throws {
        let names = life.expected.keys.filter { $0.hasSuffix(BackupName.incrementSuffix) }.sorted()
        guard let name = names.randomElement(using: &life.random) else { return }
        do {
            try await life.consolidate(name)
        } catch is BackupFolderError {
            // What it was built on was removed, or a copy of it was made whole.
        }
    }

    private func removeOne(of life: IncrementScene) throws {
        let names = life.expected.keys.sorted()
        guard let name = names.randomElement(using: &life.random) else { return }
        try life.remove(name)
    }
}
