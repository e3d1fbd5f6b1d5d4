import Files
import Foundation
import Remotes
import Stores
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Stores that come and go during a backup")
struct PassingStoresTests {
    @Test("A backup reports the stores in no cut if an application makes stores all the time")
    func newStores() async throws {
        let scene = try Scene()
        let bytes = try scene.closedStore()
        let count = Atomic(0)
        let context = OperationContext(
            report: { event in
                guard case .began(.reading, _) = event else { return }
                let number = count.add(1, ordering: .relaxed).newValue
                _ = try? scene.sandbox.write(bytes, to: "Stores/new \(number).db")
            },
            checkCancellation: {},
            threads: 2,
            lockWait: .zero,
            scratch: scene.sandbox.path("Scratch")
        )
        let outcome = try await scene.backUp(context: context)
        let tries = count.load(ordering: .relaxed)
        #expect(tries > 1)
        #expect(outcome.problems.map(\.kind) == [.neverStill])
        #expect(outcome.problems.map(\.path) == ["new \(tries).db"])
    }

    @Test(
        "A backup reports a torn store, which it finds at the latest as it reads it, and records that"
    )
    func torn() async throws {
        for (name, restarts) in [("torn", 1), ("torn.db", 0)] {
            let scene = try Scene()
            let bytes = try scene.closedStore()
            try scene.sandbox.write(Array(bytes.dropLast(100)), to: "Stores/\(name)")
            for minutes in [0.0, 1] {
                let outcome = try await scene.backUp(at: Scene.morning + minutes * 60)
                #expect(outcome.problems.map(\.kind) == [.damagedStore] && outcome.stores == 2)
                #expect(outcome.problems.first?.reason.contains("ends within page") == true)
                let told = scene.told.filter { $0.hasPrefix("'\(name)' turned out to be a store") }
                #expect(told.count == restarts)
            }
        }
    }

    @Test("A store that is away during one cut and comes back is in the next cut")
    func awayAtTheCut() async throws {
        let scene = try Scene()
        let bytes = try scene.closedStore()
        // The survey sees it before the other one.
        try scene.sandbox.write(bytes, to: "Stores/A.db")
        try scene.sandbox.write(bytes, to: "Stores/B.db")
        let steps = Atomic(0)
        let context = OperationContext(
            report: { event in
                guard case .began(.reading, _) = event,
                    (try? FileInfo(of: scene.sandbox.path("Stores/A.db"))) == nil
                else { return }
                _ = try? scene.sandbox.write(bytes, to: "Stores/A.db")
            },
            checkCancellation: {
                // Once for the cut, once for each name.
                guard steps.add(1, ordering: .relaxed).newValue == 3 else { return }
                try LocalFileSystem().remove(scene.sandbox.path("Stores/A.db"))
            },
            threads: 2,
            lockWait: .zero,
            scratch: scene.sandbox.path("Scratch")
        )
        let outcome = try await scene.backUp(context: context)
        #expect(outcome.problems.isEmpty)
        let archive = try #require(outcome.backup.file.location)
        let header = try #require(
            ArchivedBackup(archive, name: outcome.backup.name, keys: .none).header
        )
        #expect(header.stores.map(\.path).contains("A.db"))
    }
}
