import Sample
@testable import Backups
import Files
import Foundation
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Operations

@Suite("Recovering a restore")
struct RecoverRestoreTests {
    /// A restore of twelve items over eleven that was killed when what it restored was in place, but
    /// had not been opened there.
    private func killed(_ layout: RestorePaths.Layout) async throws -> (Scene, RestorePaths) {
        let scene = try Scene()
        try await scene.backUp()
        _ = try GroceryStore(in: scene.stores).remove(name: "Apples")
        if layout == .inside {
            try scene.sandbox.write("x", to: "Stores/\(StoresDirectory.restoreArea)/kept")
        }
        // The exchange and then `Stores_New`; or the old store and then the new one.
        let faulty = FaultyFileSystem(
            failing: .callOf(.move, layout == .inside ? 2 : 1),
            effect: .done,
            staysBroken: true
        )
        await #expect(throws: RestoreError.self) {
            try await scene.restore(fileSystem: faulty) { $0.makesSafetyBackup = false }
        }
        try faulty.assertFaultWasMet()
        #expect(try scene.itemNames().count == 12)
        return (scene, RestorePaths(live: scene.stores, layout))
    }

    /// Of no bytes, it is no store that could fail to open.
    private func loseStore(_ scene: Scene) throws {
        try scene.sandbox.write("", to: "Stores/\(GroceryStore.fileName)")
    }

    @Test("finishes it where all that was staged is there", arguments: RestorePaths.Layout.allCases)
    func finishes(layout: RestorePaths.Layout) async throws {
        let (scene, paths) = try await killed(layout)
        #expect(try RestoreJournal.read(paths.journal)?.stores == 1)
        try await scene.recover()
        #expect(try scene.itemNames().count == 12)
        #expect(try !paths.hasTraces())
    }

    @Test("is done by the next restore too, once, which then has what is in place locked")
    func beforeRestore() async throws {
        for layout in RestorePaths.Layout.allCases {
            let (scene, paths) = try await killed(layout)
            try await expectLockedRestore(scene)
            #expect(scene.told.count { $0.contains("finished the restore") } == 1)
            #expect(try !paths.hasTraces())
        }
        // The directory is away, and there is nothing there yet to be locked.
        let scene = try Scene()
        try await scene.backUp()
        let faulty = FaultyFileSystem(
            failing: .callOf(.move, 1),
            effect: .done,
            staysBroken: true,
            isSwapSupported: false
        )
        await #expect(throws: RestoreError.self) {
            try await scene.restore(fileSystem: faulty) { $0.makesSafetyBackup = false }
        }
        #expect(try FileInfo.ifPresent(scene.stores) == nil)
        try await expectLockedRestore(scene)
        #expect(scene.told.count { $0.contains("undid the restore") } == 1)
    }

    @Test("is done in both places where a restore went from one to the other")
    func bothPlaces() async throws {
        let (scene, inside) = try await killed(.inside)
        let beside = RestorePaths(live: scene.stores, .beside)
        var journal = RestoreJournal(phase: .settled, backup: "the first")
        journal.isApplicationStopped = true
        try journal.write(to: beside.journal, with: LocalFileSystem())
        try await expectLockedRestore(scene)
        #expect(scene.told.contains { $0.contains("for the restore of 'the first'") })
        #expect(scene.told.count { $0.contains("finished the restore") } == 1)
        #expect(try !beside.hasTraces() && !inside.hasTraces())
    }

    /// Restores, and expects the stores directory to be locked whenever something changes but what a
    /// recovery does first.
    private func expectLockedRestore(_ scene: Scene) async throws {
        let watched = WatchedFileSystem(base: LocalFileSystem()) {
            guard try scene.phases().contains(.staging) else { return }
            // While other locks go, the system's list of them may pass over one.
            var holder: LockHolder?
            for _ in 1...10 where holder == nil { holder = try LockHolder.of(scene.stores) }
            #expect(holder?.process == getpid())
        }
        try await scene.restore(fileSystem: watched) { $0.makesSafetyBackup = false }
        #expect(try scene.itemNames().count == 12)
        #expect(try scene.leftovers() == [])
    }

    @Test("is done through a link that leads nowhere while the directory is away")
    func link() async throws {
        let scene = try Scene()
        try await scene.backUp()
        let sandbox = scene.sandbox
        let real = try sandbox.directory("Cache/Real").appending("Stores")
        try LocalFileSystem().move(scene.stores, to: real)
        try sandbox.link("Cache/link", to: "Real/Stores")
        try sandbox.link("Stores", to: "Cache/link")
        let faulty = FaultyFileSystem(
            failing: .callOf(.move, 1),
            effect: .done,
            staysBroken: true,
            isSwapSupported: false
        )
        await #expect(throws: RestoreError.self) {
            try await scene.restore(fileSystem: faulty) { $0.makesSafetyBackup = false }
        }
        #expect(try FileInfo.ifPresent(real) == nil)
        try await scene.recover()
        #expect(try FileInfo.ifPresent(real)?.kind == .directory)
        #expect(scene.told.last?.contains("undid the restore") == true)
        #expect(try scene.itemNames().count == 12)
    }

    @Test("leaves what somebody else has put where its own directories were")
    func namesTaken() async throws {
        // Before the exchange, and when what was there is about to be removed.
        for call in [FaultyFileSystem.Fault.callOf(.swap, 1), .callOf(.remove, 1)] {
            let scene = try Scene()
            try await scene.backUp()
            let faulty = FaultyFileSystem(failing: call, staysBroken: true)
            do {
                try await scene.restore(fileSystem: faulty) { $0.makesSafetyBackup = false }
            } catch {
                #expect(call == .callOf(.swap, 1), "\(error)")
            }
            try faulty.assertFaultWasMet()
            let name = call == .callOf(.swap, 1) ? "Stores_New" : "Stores_Old"
            let own = scene.sandbox.path(name)
            try LocalFileSystem().move(own, to: scene.sandbox.path("Cache/own"))
            try scene.sandbox.write("mine", to: "\(name)/mine")
            try await scene.recover()
            #expect(try scene.sandbox.read("\(name)/mine") == Array("mine".utf8))
            #expect(try scene.itemNames().count == 12)
            let journal = RestorePaths(live: scene.stores, .beside).journal
            #expect(try RestoreJournal.read(journal) == nil)
            // The next one says what is in its way.
            let error = await #expect(throws: RestoreError.self) { try await scene.restore() }
            #expect(error?.hint?.contains("move it away: mv \(own) ") == true)
        }
    }

    @Test("undoes it where a store was lost since it was staged, and keeps what is left")
    func storesLost() async throws {
        for layout in RestorePaths.Layout.allCases {
            let (scene, paths) = try await killed(layout)
            try loseStore(scene)
            try await scene.recover()
            #expect(try scene.itemNames().count == 11)
            #expect(try !paths.hasTraces())
            let name = layout == .inside ? "FailedRestore" : "Stores_FailedRestore"
            let refused = paths.area.appending(name).appending(GroceryStore.fileName)
            #expect(try FileInfo(of: refused).size == 0)
            let told = try #require(scene.told.last)
            #expect(told.contains("undid the restore") && told.contains("/\(name)'"))
            #expect(told.contains("1 store was restored, and 0 are in"), "\(told)")
        }
    }

    /// A journal that cannot be obeyed: nothing moves, in any order of asking.
    private func refuses(
        _ scene: Scene,
        _ paths: RestorePaths,
        _ reason: String?,
        hashing: Bool = true
    ) async throws {
        let before = try scene.sandbox.contents(hashing: hashing)
        let error = await #expect(throws: RestoreError.self) { try await scene.recover() }
        switch error {
        case .cannotRecover(paths.journal, reason: let found): #expect(found == reason)
        case .newerJournal(paths.journal): #expect(reason == nil)
        default: Issue.record("\(error as Any)")
        }
        await #expect(throws: RestoreError.self) { try await scene.restore() }
        #expect(try scene.sandbox.contents(hashing: hashing) == before)
    }

    @Test("does nothing where a newer version wrote the journal")
    func newerJournal() async throws {
        for layout in RestorePaths.Layout.allCases {
            let (scene, paths) = try await killed(layout)
            let journal = try #require(try RestoreJournal.read(paths.journal))
            for version in [2, 99, Int.max] {
                var newer = journal
                newer.version = version
                try newer.write(to: paths.journal, with: LocalFileSystem())
                try await refuses(scene, paths, nil)
            }
            // One with steps that are not known here.
            try LocalFileSystem().write(
                Array(#"{"version":2,"phase":"dancing","backup":5}"#.utf8),
                to: paths.journal
            )
            try await refuses(scene, paths, nil)
            for version in [0, -1] {
                var older = journal
                older.version = version
                try older.write(to: paths.journal, with: LocalFileSystem())
                try await refuses(scene, paths, "it cannot be read")
            }
            try journal.write(to: paths.journal, with: LocalFileSystem())
            try await scene.recover()
            #expect(try scene.itemNames().count == 12)
        }
    }

    @Test("does nothing where the journal is larger than any can be")
    func hugeJournal() async throws {
        for layout in RestorePaths.Layout.allCases {
            let (scene, paths) = try await killed(layout)
            for size: Int64 in [2 << 20, 3 << 40] {
                try scene.sandbox.stretch(paths.journal, to: size)
                try await refuses(scene, paths, "it cannot be read", hashing: false)
            }
        }
    }

    /// As a crash leaves it between link(2) and unlink(2), if nothing better moves files.
    @Test("finishes the move of a file that is still in both directories")
    func halfMoved() async throws {
        let (scene, paths) = try await killed(.inside)
        try FileManager.default.linkItem(
            atPath: scene.stores.appending(GroceryStore.fileName).string,
            toPath: paths.new.appending(GroceryStore.fileName).string
        )
        try await scene.recover()
        #expect(try scene.itemNames().count == 12)
        #expect(try !paths.hasTraces())
        #expect(scene.told.contains { $0.contains("finished the restore") })
    }
}

extension Scene {
    /// The text of restore journals.
    fileprivate func phases() throws -> [RestoreJournal.Phase] {
        try RestorePaths.Layout.allCases.compactMap {
            try RestoreJournal.read(RestorePaths(live: stores, $0).journal)?.phase
        }
    }
}
