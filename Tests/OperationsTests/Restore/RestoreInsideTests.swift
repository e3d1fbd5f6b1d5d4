import Sample
import Files
import Foundation
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

/// Restoring a stores directory that cannot change places with another, as a mount point cannot.
@Suite("Restoring inside the stores directory")
struct RestoreInsideTests {
    /// How the restore comes to stage inside.
    enum Place: CaseIterable {
        /// The exchange of the directory fails, as it does for a mount point that was not known.
        case foundOut
        /// The directory keeps what an earlier restore there refused.
        case known
    }

    /// A stores directory of several names, all of them other ones than in its backup.
    private struct Stage {
        let scene: Scene
        let place: Place
        let old: Contents
        let new: Contents
        static let kept = "\(StoresDirectory.restoreArea)/FailedRestore/kept"

        /// A stage with a directory of some permissions, in the backup and in place.
        init(_ place: Place, mode: UInt16 = 0o755) async throws {
            scene = try Scene()
            self.place = place
            let sandbox = scene.sandbox
            for name in ["a file", "gone since", "photos/1", "log", "log-wal"] {
                try sandbox.write("new \(name)", to: "Stores/\(name)")
            }
            try sandbox.link("Stores/link", to: "a file")
            let photos = sandbox.path("Stores/photos")
            try LocalFileSystem().setMode(mode, of: photos)
            try await scene.backUp()
            let restore = scene.restoring()
            let target = sandbox.path("Cache/reference")
            _ = try await restore.extract(try await scene.folder().find("latest"), to: target)
            new = try sandbox.contents(of: "Cache/reference")
            _ = try GroceryStore(in: scene.stores).remove(name: "Apples")
            try LocalFileSystem().remove(sandbox.path("Stores/gone since"))
            try LocalFileSystem().setMode(0o755, of: photos)
            for name in ["a file", "made since", "photos/2", "log", "log-wal"] {
                try sandbox.write("old \(name)", to: "Stores/\(name)")
            }
            try LocalFileSystem().setMode(mode, of: photos)
            old = try sandbox.contents(of: "Stores")
            #expect(old != new)
            if place == .known { try sandbox.write("kept", to: "Stores/\(Self.kept)") }
            try copy("Stores", to: "Cache/Stores")
        }

        /// Makes the stores directory the old one again.
        func reset() throws {
            try LocalFileSystem().remove(scene.stores)
            try copy("Cache/Stores", to: "Stores")
        }

        private func copy(_ source: String, to target: String) throws {
            let paths = [source, target].map { scene.sandbox.path($0).string }
            try Tool.check("cp", ["-a"] + paths)
        }

        /// The real file system or one that fails, on which the directory cannot be renamed.
        func fileSystem(_ base: any FileSystem = LocalFileSystem()) -> any FileSystem {
            place == .foundOut ? MountedFileSystem(base, live: scene.stores) : base
        }

        func restore(_ base: any FileSystem = LocalFileSystem()) async throws {
            try await scene.restore(fileSystem: fileSystem(base)) {
                $0.makesSafetyBackup = false
                // To look through the open files of all processes takes most of the time.
                $0.force = true
            }
        }

        /// The content of the directory without the restore area.
        func contents() throws -> Contents {
            var contents = try scene.sandbox.contents(of: "Stores")
            contents.items.removeAll {
                $0.path.components.first == StoresDirectory.restoreArea
            }
            return contents
        }

        /// Expects the old stores or the new ones, wholly, and nothing else but what may be left.
        ///
        /// - Returns: whether it is the new ones.
        @discardableResult
        func expectWhole(_ what: String, leaving: Set<String> = []) throws -> Bool {
            let now = try contents()
            #expect(now == old || now == new, "\(what): \(now)")
            #expect(try scene.leftovers() == [], "\(what)")
            let area = RelativePath(name: StoresDirectory.restoreArea).below(scene.stores)
            let inside = try FileInfo.ifPresent(area).map { _ in try Directory.open(area).names() }
            var names = Set((inside ?? []).map(\.description))
            if place == .known {
                #expect(try scene.sandbox.read("Stores/\(Self.kept)") == Array("kept".utf8))
                names.remove("FailedRestore")
            } else {
                #expect(inside != [], "\(what): the area is empty and still there")
            }
            #expect(names.isSubset(of: leaving), "\(what)")
            return now == new
        }
    }

    @Test("replaces what is in it, and keeps the directory itself", arguments: Place.allCases)
    func replaces(place: Place) async throws {
        let stage = try await Stage(place)
        let before = try FileInfo(of: stage.scene.stores)
        let outcome = try await stage.scene.restore(fileSystem: stage.fileSystem())
        #expect(try stage.expectWhole("restored"))
        let after = try FileInfo(of: stage.scene.stores)
        #expect(after.identity == before.identity && after.mode == before.mode)
        // The safety backup has what was replaced, once, and nothing of the restore's own.
        #expect(try await stage.scene.list().count == 2)
        let safety = try #require(outcome.safetyBackup)
        try await stage.scene.restore(safety.displayName, fileSystem: stage.fileSystem()) {
            $0.makesSafetyBackup = false
        }
        #expect(try !stage.expectWhole("restored what was there"))
    }

    @Test("that fails at any step leaves the old stores or the new", arguments: Place.allCases)
    func everyFault(place: Place) async throws {
        for effect in [FaultyFileSystem.Effect.notDone, .done] {
            let stage = try await Stage(place)
            var ends: Set<Bool> = []
            for number in 1... {
                try stage.reset()
                let faulty = FaultyFileSystem(failing: .call(number), effect: effect)
                do {
                    try await stage.restore(faulty)
                } catch let error as RestoreError {
                    #expect(ExpectedStates.saysWhere(error), "\(error)")
                }
                try await stage.scene.recover()
                let what = "step \(number), \(effect): \(faulty.calls)"
                // Data that cannot be moved in is kept, and so is data that cannot be removed.
                ends.insert(
                    try stage.expectWhole(
                        what,
                        leaving: ["Old_2", "FailedRestore", "FailedRestore_2"]
                    )
                )
                if !faulty.faultWasMet {
                    #expect(number > 30)
                    break
                }
            }
            #expect(ends.count == 2)
        }
    }

    @Test(
        "that is killed at any step is finished or undone by the next command",
        arguments: Place.allCases
    )
    func everyCrash(place: Place) async throws {
        // To be killed before a step is to be killed after the one before it.
        let stage = try await Stage(place)
        var ends: Set<Bool> = []
        for number in 1... {
            try stage.reset()
            let faulty = FaultyFileSystem(
                failing: .call(number),
                effect: .done,
                staysBroken: true
            )
            do { try await stage.restore(faulty) } catch is RestoreError {}
            let what = "step \(number): \(faulty.calls)"
            // SQLite would delete a log that an application finds without its database.
            let sandbox = stage.scene.sandbox
            #expect(
                !sandbox.exists("Stores/log-wal") || sandbox.exists("Stores/log"),
                "\(what)"
            )
            try await stage.scene.recover()
            ends.insert(try stage.expectWhole(what))
            if !faulty.faultWasMet { break }
        }
        #expect(ends.count == 2)
    }

    /// A file system on which a directory without write permission gets no other parent, as for any user but root.
    private struct StrictFileSystem: DivertingFileSystem {
        let base: any FileSystem

        func move(_ path: FilePath, to newPath: FilePath) throws {
            let info = try FileInfo(of: path)
            let isElsewhere = path.removingLastComponent() != newPath.removingLastComponent()
            if info.kind == .directory, info.mode & 0o200 == 0, isElsewhere {
                throw FileError.failed(.move, path, .permissionDenied)
            }
            try base.move(path, to: newPath)
        }
    }

    @Test(
        "moves a directory that its owner may not change, which keeps its permissions at any step"
    )
    func readOnlyDirectory() async throws {
        let stage = try await Stage(.known, mode: 0o555)
        for staysBroken in [true, false] {
            var ends: Set<Bool> = []
            for number in 1... {
                try stage.reset()
                let faulty = FaultyFileSystem(
                    failing: .call(number),
                    effect: .done,
                    staysBroken: staysBroken
                )
                do {
                    try await stage.restore(StrictFileSystem(base: faulty))
                } catch is RestoreError {}
                try await stage.scene.recover()
                ends.insert(
                    try stage.expectWhole(
                        "step \(number): \(faulty.calls)",
                        leaving: ["Old_2", "FailedRestore_2"]
                    )
                )
                if !faulty.faultWasMet {
                    #expect(faulty.count(.setMode) == 4)
                    break
                }
            }
            #expect(ends.count == 2)
        }
    }

    @Test("whose recovery is killed at any step too is finished or undone by the one after")
    func everyCrashOfRecovery() async throws {
        let stage = try await Stage(.known)
        // The steps of one phase are much alike: every fourth.
        for first in stride(from: 6, to: 60, by: 4) {
            for second in 1... {
                try stage.reset()
                let faulty = FaultyFileSystem(
                    failing: .call(first),
                    effect: .done,
                    staysBroken: true
                )
                do { try await stage.restore(faulty) } catch is RestoreError {}
                guard faulty.faultWasMet else { return }
                let again = FaultyFileSystem(
                    failing: .call(second),
                    effect: .done,
                    staysBroken: true
                )
                let recovery = RecoverRestore(
                    of: stage.scene.stores,
                    context: stage.scene.context(),
                    fileSystem: again
                )
                do { try await recovery.run() } catch is FileError {
                } catch is RestoreError {}
                try await stage.scene.recover()
                try stage.expectWhole("steps \(first) and \(second): \(again.calls)")
                if !again.faultWasMet { break }
            }
        }
    }

    @Test("of what does not open in its place puts back what was there, and keeps what was refused")
    func rollBack() async throws {
        for place in Place.allCases {
            let stage = try await Stage(place)
            let damaging = DamagingMoves(LocalFileSystem(), live: stage.scene.stores)
            let error = await #expect(throws: RestoreError.self) {
                try await stage.restore(damaging)
            }
            guard case .rolledBack(_, let refused) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            let name = place == .known ? "FailedRestore_2" : "FailedRestore"
            #expect(try !stage.expectWhole("rolled back", leaving: [name]))
            #expect(refused.lastComponent?.string == name)
            #expect(
                try Contents(of: refused).paths == stage.new.paths,
                "what was refused is kept wholly"
            )
            // It stays when the next restore succeeds, and is in no backup.
            try await stage.restore()
            #expect(try stage.expectWhole("restored", leaving: [name]))
            let backup = try await stage.scene.backUp(at: Scene.morning + 600)
            #expect(backup.entries == stage.new.items.count)
        }
    }

    @Test("that rolls back and is killed at any step of that puts back what was there")
    func everyCrashOfRollBack() async throws {
        let stage = try await Stage(.known)
        for number in 1... {
            try stage.reset()
            let faulty = FaultyFileSystem(
                failing: .call(number),
                effect: .done,
                staysBroken: true
            )
            let damaging = DamagingMoves(faulty, live: stage.scene.stores)
            await #expect(throws: RestoreError.self) { try await stage.restore(damaging) }
            try await stage.scene.recover()
            let what = "step \(number): \(faulty.calls)"
            let isNew = try stage.expectWhole(what, leaving: ["FailedRestore_2"])
            // Killed before the damage, it was finished: nothing was wrong with it.
            #expect(!isNew || !damaging.didDamage, "\(what)")
            if !faulty.faultWasMet {
                #expect(number > 30)
                break
            }
        }
    }

    @Test(
        "loses nothing when an application makes a file of the same name in the middle of it",
        arguments: [RestoreJournal.Phase.settingAside, .puttingIn]
    )
    func madeMeanwhile(phase: RestoreJournal.Phase) async throws {
        let stage = try await Stage(.known)
        let moves = phase == .puttingIn ? stage.old.topLevelCount + 1 : stage.old.topLevelCount
        let faulty = FaultyFileSystem(failing: .callOf(.move, moves), staysBroken: true)
        await #expect(throws: RestoreError.self) { try await stage.restore(faulty) }
        try faulty.assertFaultWasMet()
        let journal = RestorePaths(live: stage.scene.stores, .inside).journal
        #expect(try RestoreJournal.read(journal)?.phase == phase)
        #expect(!stage.scene.sandbox.exists("Stores/a file"))
        try stage.scene.sandbox.write("somebody's", to: "Stores/a file")
        for _ in 1...2 {
            let error = await #expect(throws: RestoreError.self) {
                try await stage.scene.recover()
            }
            #expect(error?.description.contains("a file' was made meanwhile") == true)
            #expect(try stage.scene.sandbox.read("Stores/a file") == Array("somebody's".utf8))
        }
        try LocalFileSystem().remove(stage.scene.sandbox.path("Stores/a file"))
        try await stage.scene.recover()
        // Nothing is wrong with what was to be put in.
        #expect(try stage.expectWhole("recovered") == (phase == .puttingIn))
    }

    @Test("refuses to begin where a name that it needs is taken by something else")
    func inTheWay() async throws {
        let area = StoresDirectory.restoreArea
        for name in ["\(area)", "\(area)/New", "\(area)/Old"] {
            let scene = try Scene()
            try await scene.backUp()
            try scene.sandbox.write("mine", to: "Stores/\(name)")
            let error = await #expect(throws: RestoreError.self) {
                try await scene.restore { $0.makesSafetyBackup = false }
            }
            guard case .inTheWay(let leftover) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(leftover.path == scene.stores.appending(FilePath(name).components))
            #expect(try scene.sandbox.read("Stores/\(name)") == Array("mine".utf8))
        }
    }

    @Test("does not follow a link to a journal that somebody planted")
    func plantedLink() async throws {
        let scene = try Scene()
        try scene.sandbox.write("precious", to: "Remote/Old/file")
        let journal = RestoreJournal(phase: .settingAside, backup: "x")
        try journal.write(to: scene.sandbox.path("Remote/journal.json"), with: LocalFileSystem())
        try scene.sandbox.link("Stores/\(StoresDirectory.restoreArea)", to: "../Remote")
        try await scene.recover()
        #expect(scene.sandbox.exists("Remote/Old/file"))
        #expect(!scene.sandbox.exists("Stores/file"))
    }

    @Test("does not restore a journal out of an archive, which the next command would obey")
    func plantedEntry() async throws {
        let area = "\(StoresDirectory.restoreArea)"
        for area in [area, area.uppercased()] {
            let scene = try Scene()
            try scene.sandbox.write("data", to: "Cache/in/file")
            try scene.sandbox.write("{}", to: "Cache/in/\(area)/journal.json")
            try Tool.check(
                "zip",
                ["-qr", scene.remotePath.appending("Planted Stores.zip").string, "."],
                directory: scene.sandbox.path("Cache/in")
            )
            try await scene.restore {
                $0.makesSafetyBackup = false
                $0.allowsNoStores = true
            }
            #expect(try scene.sandbox.contents(of: "Stores").paths == ["file"])
            #expect(scene.told.contains { $0.contains("is never followed") })
            try await scene.recover()
        }
    }

    @Test("beside it is settled also when devices have other numbers after a new start")
    func otherDevice() async throws {
        let stage = try await Stage(.known)
        try LocalFileSystem().remove(
            RelativePath(name: StoresDirectory.restoreArea).below(stage.scene.stores)
        )
        // In the middle: what is new is in place, what was old is beside it.
        let faulty = FaultyFileSystem(failing: .callOf(.move, 1), staysBroken: true)
        await #expect(throws: RestoreError.self) { try await stage.restore(faulty) }
        let path = RestorePaths(live: stage.scene.stores, .beside).journal
        var journal = try #require(try RestoreJournal.read(path))
        #expect(journal.phase == .settingAside)
        func moved(_ identity: FileInfo.Identity?) -> FileInfo.Identity? {
            identity.map { FileInfo.Identity(device: $0.device + 1, inode: $0.inode) }
        }
        journal.old = moved(journal.old)
        journal.new = moved(journal.new)
        try journal.write(to: path, with: LocalFileSystem())
        try await stage.scene.recover()
        #expect(try stage.contents() == stage.new)
        #expect(try stage.scene.leftovers() == [])
    }
}

extension Contents {
    /// How many names there are at the top.
    fileprivate var topLevelCount: Int { items.count { $0.path.parent == nil } }
}
