import Files
import Foundation
import Sample
import Stores
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("A restore of an archive that is not what it looks like")
struct UnlikelyArchiveTests {
    private let scene: Scene

    init() throws {
        scene = try Scene()
    }

    private func zip(_ name: String, from directory: String, _ what: String = ".") throws {
        try Tool.check(
            "zip",
            ["-qr", scene.remotePath.appending("\(name) Stores.zip").string, what],
            directory: scene.sandbox.path(directory)
        )
    }

    private func expectUntouched() throws {
        #expect(try scene.itemNames().count == 12)
        #expect(try scene.leftovers() == [])
    }

    @Test("refuses one without a store in place of stores, unless that is wanted")
    func noStores() async throws {
        try scene.sandbox.write("letter", to: "Cache/in/letter.txt")
        try zip("Letters", from: "Cache/in")
        let error = await #expect(throws: RestoreError.self) { try await scene.restore("Letters") }
        guard case .restoreFailed(RestoreError.noStores) = error else {
            Issue.record("\(error.debugDescription)")
            return
        }
        try expectUntouched()
        #expect(try await scene.list().count == 1)
        try await scene.restore("Letters") { $0.allowsNoStores = true }
        #expect(try scene.sandbox.contents(of: "Stores").paths == ["letter.txt"])
        // There is nothing to lose any more.
        try await scene.restore("Letters") { $0.backup.date = Scene.morning + 7200 }
    }

    @Test("of the directory itself restores what is in it, and says so", arguments: [true, false])
    func wholeDirectory(hasMacNames: Bool) async throws {
        let name = "Stores"
        if hasMacNames {
            try scene.sandbox.write("fork", to: "__MACOSX/Stores/._\(GroceryStore.fileName)")
            try Tool.check(
                "zip",
                ["-qr", scene.remotePath.appending("Whole Stores.zip").string, name, "__MACOSX"],
                directory: scene.sandbox.path
            )
            try LocalFileSystem().remove(scene.sandbox.path("__MACOSX"))
        } else {
            try zip("Whole", from: ".", name)
        }
        let before = try scene.sandbox.contents(of: "Stores").paths
        _ = try GroceryStore(in: scene.stores).remove(name: "Apples")
        try await scene.restore("Whole")
        #expect(try scene.sandbox.contents(of: "Stores").paths == before)
        try expectUntouched()
        #expect(scene.told.contains { $0.contains("in a directory 'Stores'") })
    }

    @Test("keeps a directory that the present data has too, and takes off as many as are asked for")
    func directories() async throws {
        try LocalFileSystem().move(
            scene.stores.appending(GroceryStore.fileName),
            to: try scene.sandbox.directory("Stores/Data").appending("a.sqlite")
        )
        try zip("Right", from: "Stores")
        try await scene.restore("Right") { $0.makesSafetyBackup = false }
        #expect(try scene.sandbox.contents(of: "Stores").paths == ["Data", "Data/a.sqlite"])
        try zip("Whole", from: ".", "Stores")
        try await scene.restore("Whole") {
            $0.makesSafetyBackup = false
            $0.stripsComponents = 2
        }
        #expect(try scene.sandbox.contents(of: "Stores").paths == ["a.sqlite"])
        try await scene.restore("Whole") {
            $0.makesSafetyBackup = false
            $0.stripsComponents = 0
        }
        #expect(scene.sandbox.exists("Stores/Stores/Data/a.sqlite"))
        let ours = try await scene.backUp().backup
        let error = await #expect(throws: RestoreError.self) {
            try await scene.restore(ours.name) { $0.stripsComponents = 1 }
        }
        #expect(error?.description.contains("says where everything belongs") == true)
    }

    @Test("reports missing files that rows refer to, in place too")
    func missingExternalData() async throws {
        let core = try Scene(withStore: false)
        // One of its three files is not there.
        try Fixtures.copy("stores/core-data", into: core.sandbox, as: "Stores")
        try Tool.check(
            "zip",
            ["-qr", core.remotePath.appending("Without Stores.zip").string, "."],
            directory: core.stores
        )
        let outcome = try await core.restore("Without")
        #expect(outcome.problems.map(\.kind) == [.missingExternalData])
        #expect(core.told.contains { $0.contains("it is not in the backup") })
    }

    @Test("asks before much is replaced by less, and says which stores have how much")
    func loss() async throws {
        let store = GroceryStore.fileName
        for name in try scene.itemNames() {
            _ = try GroceryStore(in: scene.stores).remove(name: name)
        }
        let empty = try await scene.backUp().backup
        try LocalFileSystem().remove(scene.stores)
        _ = try GroceryStore.create(in: scene.stores, withTestData: true)
        let asked = Questions()
        let declined = await #expect(throws: RestoreError.self) {
            try await scene.restore(empty.name) {
                $0.acceptsLoss = { text in
                    asked.add(text)
                    return false
                }
            }
        }
        guard case .declined = declined else {
            Issue.record("\(declined.debugDescription)")
            return
        }
        #expect(asked.all.count == 1)
        #expect(
            asked.all.first?.hasPrefix(
                "'\(empty.displayName)' has much less than what is there now: '\(store)' has "
            ) == true
        )
        #expect(try scene.itemNames().count > 12)
        #expect(try scene.leftovers() == [])
        // Nobody is asked the other way round.
        try await scene.restore(empty.name)
        let safety = try await scene.newestSafety(now: Scene.morning + 3600)
        try await scene.restore(safety.name) {
            $0.backup.date = Scene.morning + 7200
            $0.acceptsLoss = { _ in false }
        }
    }

    @Test("reports a store that a newer application made", arguments: [true, false])
    func newerVersion(isForeign: Bool) async throws {
        func setVersion(_ version: Int) throws {
            let path = scene.stores.appending(GroceryStore.fileName)
            try StoreApplication(on: path, "PRAGMA user_version = \(version)").end()
        }
        try setVersion(7)
        if isForeign { try zip("Newer", from: "Stores") } else { try await scene.backUp() }
        let name = isForeign ? "Newer" : "latest"
        try await scene.restore(name)
        #expect(!scene.told.contains { $0.contains("user_version") })
        try setVersion(5)
        try await scene.restore(name) { $0.backup.date = Scene.morning + 7200 }
        #expect(
            scene.told.contains {
                $0.contains("has version 7 (user_version) in the backup, and 5 now")
            }
        )
    }
}

/// The questions that were asked.
private final class Questions: Sendable {
    private let texts = Mutex<[String]>([])

    func add(_ text: String) { texts.withLock { $0.append(text) } }
    var all: [String] { texts.withLock(\.self) }
}
