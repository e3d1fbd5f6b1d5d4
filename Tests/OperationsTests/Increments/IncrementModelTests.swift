import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

/// `GROCERYDUDE_INCREMENT_LIVES` sets how many lives there are, `GROCERYDUDE_INCREMENT_SEED` the first.
@Suite("Increments over random lives")
struct IncrementModelTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let lives = environment["GROCERYDUDE_INCREMENT_LIVES"].flatMap { Int($0) }
    private static let seed = environment["GROCERYDUDE_INCREMENT_SEED"].flatMap { UInt64($0) }

    @Test("every backup that is there restores what a whole one would have")
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
        var increments = 0
        for _ in 0..<10 {
            for _ in 0..<(life.random.next() % 4) { try life.edit() }
            switch life.random.next() % 24 {
            case 0: try? FileManager.default.removeItem(atPath: life.increments.statePath.string)
            case 1: try removeOne(of: life)
            case 2: life.increments.isFull = true
            case 3: life.increments.rereads = true
            case 6: try life.keepState()
            case 7: try life.putBackState()
            case 4...5: try await consolidateOne(of: life)
            default: break
            }
            let backup = try await life.backUp()
            life.increments.isFull = false
            life.increments.rereads = false
            if backup.isIncrement { increments += 1 }
        }
        let there = try await life.scene.folder().list().backups
        for backup in there {
            do {
                let differences = try await life.differences(backup.name)
                if !differences.isEmpty {
                    Issue.record("seed \(seed): '\(backup.name)' differs in \(differences)")
                }
            } catch BackupFolderError.missingNeed(_, let need, _) {
                // Only if it was removed.
                #expect(!there.contains { $0.displayName == need }, "seed \(seed)")
            }
        }
        return increments
    }

    private func consolidateOne(of life: IncrementScene) async throws {
        let names = life.expected.keys.filter { $0.hasSuffix(BackupName.incrementSuffix) }.sorted()
        guard let name = names.randomElement(using: &life.random) else { return }
        do {
            try await life.consolidate(name)
        } catch BackupFolderError.missingNeed {
            // What it was built on was removed.
        }
    }

    private func removeOne(of life: IncrementScene) throws {
        let names = life.expected.keys.sorted()
        guard let name = names.randomElement(using: &life.random) else { return }
        try life.remove(name)
    }
}
