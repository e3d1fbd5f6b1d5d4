@testable import Backups
import Files
import Foundation
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Operations

@Suite("External data")
struct ExternalDataTests {
    private static let directory = "Stores/.Model_SUPPORT/_EXTERNAL_DATA"

    /// A store of Core Data whose three files are all there.
    private func scene() throws -> (Scene, files: [String]) {
        let scene = try Scene(withStore: false)
        try Fixtures.copy("stores/core-data", into: scene.sandbox, as: "Stores")
        let missing = "\(Self.directory)/5F2C1E4A-0B7D-4E7A-8C55-6D1B7A3F9E03"
        try scene.sandbox.write("the third", to: missing)
        let names = try Directory.open(scene.sandbox.path(Self.directory)).names()
        return (scene, names.map { "\(Self.directory)/\($0)" })
    }

    @Test(
        "External data that vanishes during a backup is in it, or counts as missing after another cut"
    )
    func vanishing() async throws {
        var cutsAgain = 0
        var wasSaved = 0
        for moment in 1... {
            let (scene, files) = try scene()
            let victim = try #require(files.first)
            let calls = Mutex(0)
            let context = scene.context {
                let isNow = calls.withLock { calls in
                    calls += 1
                    return calls == moment
                }
                if isNow { try LocalFileSystem().remove(scene.sandbox.path(victim)) }
            }
            let outcome = try await scene.backUp(context: context)
            let didAgain = scene.told.contains { $0.contains("starting again") }
            let missed = outcome.problems.filter { $0.kind == .missingExternalData }
            try await scene.restore { $0.makesSafetyBackup = false }
            // A file that the backup did not miss is there after a restore.
            #expect(scene.sandbox.exists(victim) == missed.isEmpty, "moment \(moment)")
            #expect(didAgain || missed.isEmpty, "moment \(moment)")
            cutsAgain += didAgain ? 1 : 0
            wasSaved += missed.isEmpty ? 1 : 0
            if calls.withLock({ $0 }) < moment { break }
        }
        #expect(cutsAgain > 0 && wasSaved > 0)
    }

    @Test("External data that is being written when the backup begins is in the backup")
    func onItsWay() async throws {
        let (scene, files) = try scene()
        let late = try #require(files.last)
        let bytes = try scene.sandbox.read(late)
        try LocalFileSystem().remove(scene.sandbox.path(late))
        let sandbox = scene.sandbox
        let calls = Mutex(0)
        // Comes once it was missed for the first time.
        let context = scene.context {
            let isMissed = scene.told.contains { $0.contains("starting again") }
            guard isMissed,
                calls.withLock({ calls in
                    calls += 1; return calls == 1
                })
            else { return }
            try sandbox.write(bytes, to: late)
        }
        let outcome = try await scene.backUp(context: context)
        #expect(outcome.problems == [])
        #expect(calls.withLock { $0 } > 0)
    }

    @Test("External data that is itself a database is in the backup, and nothing is missing")
    func database() async throws {
        let (scene, files) = try scene()
        try scene.sandbox.write(try scene.closedStore(), to: try #require(files.first))
        let outcome = try await scene.backUp()
        #expect(outcome.problems == [])
        #expect(!scene.told.contains { $0.contains("starting again") })
    }

    @Test("External data that is a link, or is behind one, counts as missing at once")
    func link() async throws {
        let (scene, files) = try scene()
        let victim = try #require(files.first)
        let sandbox = scene.sandbox
        try LocalFileSystem().move(sandbox.path(victim), to: sandbox.path("Cache.photo"))
        try sandbox.link(victim, to: sandbox.path("Cache.photo").string)
        let outcome = try await scene.backUp()
        #expect(outcome.problems.map(\.kind) == [.missingExternalData])
        #expect(outcome.problems.first?.reason.contains("behind a link") == true)
        #expect(!scene.told.contains { $0.contains("starting again") })
    }
}
