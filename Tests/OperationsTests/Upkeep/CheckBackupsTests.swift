import Files
import Foundation
import Remotes
import History
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Checking")
struct CheckBackupsTests {
    private let scene: Scene

    init() throws {
        scene = try Scene()
    }

    private func check(
        reading subset: DataSubset = .all,
        _ change: (inout CheckBackups.Options) -> Void = { _ in }
    ) async throws -> CheckBackups.Result {
        var options = CheckBackups.Options()
        change(&options)
        let checks = CheckBackups(
            in: scene.folder(),
            options: options,
            context: scene.context()
        )
        let backups = try await checks.all().backups
        return try await checks.run(
            try #require(try checks.find(["latest"], in: backups).first),
            reading: subset,
            at: Scene.morning
        )
    }

    /// A backup with some large files, of which one byte was flipped in the middle of the data.
    private func backUpWithDamage(at share: Double) async throws {
        var random = Pseudorandom(seed: 7)
        for number in 1...3 {
            let bytes = random.bytes(3_000_000)
            try scene.sandbox.write(bytes, to: "Stores/\(number).bin")
        }
        let name = try await scene.backUp().backup.name
        var bytes = try scene.sandbox.read("Remote/\(name)")
        bytes[Int(Double(bytes.count) * share)] ^= 1
        try scene.sandbox.write(bytes, to: "Remote/\(name)")
    }

    @Test("finds a whole backup whole, and leaves nothing behind", arguments: [true, false])
    func whole(restores: Bool) async throws {
        try await scene.backUp()
        #expect(try await check { $0.restores = restores }.isGood)
        #expect(try scene.leftovers() == [])
    }

    @Test("finds a flipped bit", arguments: [true, false])
    func damage(restores: Bool) async throws {
        try await backUpWithDamage(at: 0.5)
        let result = try await check { $0.restores = restores }
        #expect(result.damage.count == 1)
        #expect(result.failure == nil)
        #expect(try scene.leftovers() == [])
    }

    @Test("in parts finds it in just one of them, and the other parts do not refute it")
    func parts() async throws {
        try await backUpWithDamage(at: 0.7)
        let first = try await check(reading: .part(1, of: 4))
        #expect(first.isGood)
        var found: [Bool] = []
        for part in 2...4 {
            let result = try await check(reading: .part(part, of: 4))
            found.append(!result.isGood)
        }
        let index = try #require(found.firstIndex(of: true))
        #expect(!found[index...].contains(false))
        for subset in [DataSubset.part(1, of: 4), .share(percent: 1)] {
            let result = try await check(reading: subset)
            #expect(result.damage.count == 1)
            #expect(result.damage[0].hasPrefix("an earlier check found it damaged"))
        }
        #expect(try await !check(reading: .share(percent: 100)).isGood)
    }

    @Test(
        "of all data, or of the same part, refutes the damage of a part",
        arguments: [true, false]
    )
    func refuted(ofAll: Bool) async throws {
        try await backUpWithDamage(at: 0.7)
        var damaged = 1
        while try await check(reading: .part(damaged, of: 4)).isGood { damaged += 1 }
        let name = try #require(try await scene.folder().list().backups.first?.name)
        var bytes = try scene.sandbox.read("Remote/\(name)")
        bytes[Int(Double(bytes.count) * 0.7)] ^= 1
        try scene.sandbox.write(bytes, to: "Remote/\(name)")
        #expect(try await !check(reading: .part(damaged % 4 + 1, of: 4)).isGood)
        #expect(try await check(reading: ofAll ? .all : .part(damaged, of: 4)).isGood)
        #expect(try await check(reading: .part(damaged % 4 + 1, of: 4)).isGood)
    }

    @Test("with a rehearsal finds what SQLite finds, and external data that is missing")
    func rehearsal() async throws {
        let path = scene.sandbox.path("Stores/broken.sqlite")
        let tool = try Tool.run(
            "sqlite3",
            [
                path.string,
                "PRAGMA foreign_keys=OFF; CREATE TABLE a(x PRIMARY KEY); CREATE TABLE b(y REFERENCES a); INSERT INTO b VALUES(1)",
            ]
        )
        try #require(tool.status == 0)
        try await scene.backUp()
        #expect(try await check().isGood)
        let result = try await check { $0.restores = true }
        #expect(result.isGood)
        #expect(result.remarks.count == 1)
        #expect(result.remarks.first?.contains("broken.sqlite") == true)
        let strict = try await check {
            $0.restores = true
            $0.isStrict = true
        }
        #expect(strict.damage.count == 1 && strict.remarks.isEmpty)
        #expect(strict.damage.first?.contains("broken.sqlite") == true)
    }

    @Test("distinguishes what cannot be checked from what is damaged")
    func failure() async throws {
        try await scene.backUp()
        let backup = try #require(try await scene.list().first)
        try LocalFileSystem().remove(scene.remotePath.appending(backup.name))
        let result = try await CheckBackups(
            in: scene.folder(),
            options: CheckBackups.Options(),
            context: scene.context()
        ).run(backup, at: Scene.morning)
        #expect(result.damage.isEmpty)
        #expect(result.failure != nil)
    }

    @Test(
        "A part is written as in restic",
        arguments: [
            ("10%", DataSubset.share(percent: 10)), ("2.5%", .share(percent: 2.5)),
            ("1/7", .part(1, of: 7)), ("256/256", .part(256, of: 256)),
        ]
    )
    func subsets(text: String, subset: DataSubset) {
        #expect(DataSubset(text) == subset)
    }

    @Test("The part whose turn it is has a name of its own")
    func turns() {
        #expect(SubsetChoice("next/7") == .next(of: 7))
        #expect(SubsetChoice("1/7") == .subset(.part(1, of: 7)))
        #expect(SubsetChoice("next/7")?.description == "next/7")
        for text in ["next/0", "next/257", "next/", "next/1/7", "next", "first/7", ""] {
            #expect(SubsetChoice(text) == nil, "\(text)")
        }
    }

    @Test("reads a part that there is, whatever the log says of those that were read")
    func absurdParts() {
        func check(_ part: Int) -> RunLog.Check {
            RunLog.Check(
                id: "1",
                address: "there",
                name: "a",
                time: Scene.morning,
                depth: .part,
                part: .one(part, of: 2)
            )
        }
        for part in [Int.min, -5, 0, 3, Int.max] {
            let history = CheckHistory([check(part), check(1), check(2)])
            let subset = SubsetChoice.next(of: 2).subset(after: history)
            #expect(subset == .part(part < 1 ? 1 : 2, of: 2))
            let isSelected = subset.selection()
            #expect(isSelected(6) != isSelected(7))
        }
    }

    @Test(
        "What is no part is none",
        arguments: ["", "0%", "101%", "0/7", "8/7", "1/257", "1/7x", "7"]
    )
    func noSubsets(text: String) {
        #expect(DataSubset(text) == nil)
    }
}
