import Backups
import Sample
import Files
import Foundation
import Stores
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Operations

/// A restore around which an application is stopped and started, and asked whether it is well.
@Suite("RestoreBackup with an application")
struct RestoreApplicationTests {
    let scene: Scene

    /// A backup of twelve items, and one item less since.
    init() async throws {
        scene = try Scene()
        try await scene.backUp()
        _ = try GroceryStore(in: scene.stores).remove(name: "Apples")
    }

    private var diary: FilePath { scene.sandbox.path("Scratch/diary") }

    private func entries() throws -> [String] {
        guard scene.sandbox.exists("Scratch/diary") else { return [] }
        return String(decoding: try scene.sandbox.read("Scratch/diary"), as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    /// Commands that write down that they ran and what was there then, and fail if they should.
    private func commands(failing events: Set<String> = []) -> ApplicationCommands {
        func line(_ event: String) -> String {
            let store = #""$GROCERYDUDE_STORES/\#(GroceryStore.fileName)""#
            return "echo \"\(event) $(test -e \(store) && echo store)\" >>'\(diary)'"
                + (events.contains(event) ? "; exit 9" : "")
        }
        return ApplicationCommands(
            stop: [line("stop")],
            start: [line("start")],
            verify: [line("verify")]
        )
    }

    /// Nothing is left that should not be, and the stores are as they were.
    private func expectUntouched(_ comment: Comment? = nil) throws {
        #expect(try scene.itemNames().count == 11, comment)
        #expect(try scene.leftovers().filter { $0 != "diary" } == [], comment)
    }

    @Test("stops it before its data is saved and replaced, and asks it once it has started")
    func success() async throws {
        let outcome = try await scene.restore { $0.application = commands() }
        #expect(try entries() == ["stop store", "start store", "verify store"])
        #expect(outcome.isApplicationStarted && outcome.safetyBackup != nil)
        #expect(try scene.itemNames().count == 12)
        #expect(try scene.leftovers() == ["diary"])
    }

    @Test("gives its commands the run that they belong to")
    func environment() async throws {
        let names = ["COMMAND", "PROFILE", "EVENT", "REMOTE", "BACKUP"]
        let values = names.map { "$GROCERYDUDE_\($0)" }.joined(separator: "|")
        let name = try await scene.folder().find("latest").name
        try await scene.restore {
            $0.application.stop = ["echo \"\(values)\" >'\(diary)'"]
            $0.application.profile = "photos"
        }
        #expect(try entries() == ["restore|photos|stop|\(scene.remotePath)|\(name)"])
    }

    @Test("rolls back where the application is not well, and starts it again on what was there")
    func unwell() async throws {
        let error = await #expect(throws: RestoreError.self) {
            try await scene.restore { $0.application = commands(failing: ["verify"]) }
        }
        guard case .rolledBack(_, let refused) = error else {
            Issue.record("not rolled back: \(error?.description ?? "")")
            return
        }
        #expect(error?.description.contains("the 'verify' command") == true)
        #expect(
            try entries().map { $0.prefix(6) } == [
                "stop s", "start ", "verify", "stop s", "start ",
            ]
        )
        #expect(try GroceryStore(in: refused).items().count == 12)
        try LocalFileSystem().remove(refused)
        try expectUntouched()
    }

    @Test("asks with the restored data in place, and with the old data gone from there")
    func asksInPlace() async throws {
        var application = commands()
        let stores = scene.stores.appending(GroceryStore.fileName)
        application.verify = ["sqlite3 '\(stores)' 'SELECT count(*) FROM item' >>'\(diary)'"]
        try await scene.restore { $0.application = application }
        #expect(try entries().last == "12")
    }

    @Test("does nothing where the application cannot be stopped, and starts it all the same")
    func cannotStop() async throws {
        let error = await #expect(throws: RestoreError.self) {
            try await scene.restore { $0.application = commands(failing: ["stop"]) }
        }
        #expect(
            error?.description.hasPrefix(
                "restore failed, your data is as it was: the 'stop' command"
            ) == true
        )
        #expect(try entries() == ["stop store", "start store"])
        try expectUntouched()
    }

    @Test("is done where the application does not start, and says so")
    func doesNotStart() async throws {
        let outcome = try await scene.restore { $0.application = commands(failing: ["start"]) }
        #expect(!outcome.isApplicationStarted)
        #expect(scene.told.contains { $0.hasPrefix("warning: the 'start' command") })
        #expect(try scene.itemNames().count == 12)
    }

    @Test("puts all back when the user stops a verify command that hangs")
    func interruptedVerify() async throws {
        var application = commands()
        application.verify = ["echo asking; sleep 6000"]
        let context = scene.context(meanwhile: { [scene] in
            if scene.said.contains("verify: asking") { throw CancellationError() }
        })
        let restore = scene.restoring(context: context) { $0.application = application }
        let backup = try await scene.folder().find("latest")
        let error = await #expect(throws: RestoreError.self) {
            try await restore.run(backup, to: scene.stores)
        }
        guard case .rolledBack(let cause, let refused) = error else {
            Issue.record("not rolled back: \(error?.description ?? "")")
            return
        }
        #expect(cause is CancellationError)
        #expect(try entries().last == "start store")
        try LocalFileSystem().remove(refused)
        try expectUntouched()
    }

    @Test("starts the application again when the user stops the restore while it is stopped")
    func interruptedStop() async throws {
        var application = commands()
        application.stop.append("echo stopping; sleep 6000")
        let context = scene.context(meanwhile: { [scene] in
            if scene.said.contains("stop: stopping") { throw CancellationError() }
        })
        let restore = scene.restoring(context: context) { $0.application = application }
        let backup = try await scene.folder().find("latest")
        await #expect(throws: CancellationError.self) {
            try await restore.run(backup, to: scene.stores)
        }
        #expect(try entries() == ["stop store", "start store"])
        try expectUntouched()
    }

    @Test("takes an application that has a store open, if the stop command ends it")
    func inUse() async throws {
        let path = scene.stores.appending(GroceryStore.fileName)
        let writer = try StoreApplication(on: path, "SELECT * FROM item")
        var application = commands()
        // One that does not: it is found once more, after it.
        let error = await #expect(throws: RestoreError.self) {
            try await scene.restore { $0.application = application }
        }
        guard case .storesInUse = error else {
            Issue.record("not refused: \(error?.description ?? "")")
            return
        }
        #expect(try entries() == ["stop store", "start store"])
        // It is a child of this process, and gone once that has waited for it.
        let pid = writer.processIdentifier
        application.stop = ["kill -9 \(pid); while test -e /proc/\(pid)/fd/0; do sleep 0.01; done"]
        try await scene.restore { $0.application = application }
        #expect(try scene.itemNames().count == 12)
    }

    @Test("starts it after a roll back whose journal could not say so any more")
    func notSettled() async throws {
        let calls = FaultyFileSystem()
        await #expect(throws: RestoreError.self) {
            try await scene.restore(fileSystem: calls) {
                $0.application = commands(failing: ["verify"])
                $0.makesSafetyBackup = false
            }
        }
        let writes = calls.calls.count { $0.verb == .write }
        try LocalFileSystem().remove(diary)
        let faulty = FaultyFileSystem(failing: .callOf(.write, writes), staysBroken: true)
        let error = await #expect(throws: RestoreError.self) {
            try await scene.restore(fileSystem: faulty) {
                $0.application = commands(failing: ["verify"])
                $0.makesSafetyBackup = false
            }
        }
        try faulty.assertFaultWasMet()
        guard case .rolledBack = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(try entries().last == "start store")
        #expect(try scene.itemNames().count == 11)
        // The next run does not know that it was started.
        try await scene.recover()
        #expect(scene.told.last?.contains("the application was stopped") == true)
        #expect(try scene.leftovers().allSatisfy { $0 == "diary" || $0.contains("FailedRestore") })
    }

    @Test("keeps it stopped while another way is tried, and a restore journal says so all the time")
    func otherWay() async throws {
        let looks = Mutex(0)
        let watched = WatchedFileSystem(base: LocalFileSystem()) { [scene] in
            let entries = try self.entries().map { $0.prefix(5) }
            guard entries.last == "stop " else { return }
            looks.withLock { $0 += 1 }
            let journals = try RestorePaths.Layout.allCases.map {
                try RestoreJournal.read(RestorePaths(live: scene.stores, $0).journal)
            }
            #expect(journals.contains { $0?.isApplicationStopped == true })
        }
        let outcome = try await scene.restore(
            fileSystem: MountedFileSystem(watched, live: scene.stores)
        ) { $0.application = commands() }
        #expect(try entries() == ["stop store", "start store", "verify store"])
        #expect(looks.withLock { $0 } > 10)
        #expect(outcome.isApplicationStarted && outcome.safetyBackup != nil)
        #expect(scene.told.contains { $0.contains("its content is replaced") })
        #expect(try scene.itemNames().count == 12)
        #expect(try scene.leftovers() == ["diary"])
    }

    @Test("does not start it on data that could not be put back, and the next command says so")
    func notPutBack() async throws {
        let faulty = FaultyFileSystem(failing: .callOf(.swap, 2), staysBroken: true)
        let error = await #expect(throws: RestoreError.self) {
            try await scene.restore(fileSystem: faulty) {
                $0.application = commands(failing: ["verify"])
            }
        }
        try faulty.assertFaultWasMet()
        guard case .rollbackFailed = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(
            try entries() == ["stop store", "start store", "verify store", "stop store"]
        )
        #expect(scene.told.contains { $0.contains("the application was not started") })
        #expect(!scene.told.contains { $0.contains("start it") })
        try await scene.recover()
        #expect(scene.told.last?.hasSuffix("which was interrupted: start it") == true)
        #expect(try scene.itemNames().count == 11)
    }

    @Test(
        "starts the application after a failure of every step of the disk, and never on a gap",
        arguments: [false, true]
    )
    func faults(isMounted: Bool) async throws {
        func fileSystem(_ base: FaultyFileSystem, _ scene: Scene) -> any FileSystem {
            isMounted ? MountedFileSystem(base, live: scene.stores) : base
        }
        let calls = FaultyFileSystem()
        try await scene.restore(fileSystem: fileSystem(calls, scene)) {
            $0.application = commands()
        }
        let count = calls.calls.count
        #expect(count > 5)
        for number in 1...count {
            let scene = try Scene()
            try await scene.backUp()
            _ = try GroceryStore(in: scene.stores).remove(name: "Apples")
            try LocalFileSystem().remove(diary)
            let faulty = FaultyFileSystem(failing: .call(number))
            var error: (any Error)?
            do {
                try await scene.restore(fileSystem: fileSystem(faulty, scene)) {
                    $0.application = commands()
                    $0.makesSafetyBackup = false
                }
            } catch let failure {
                error = failure
            }
            let entries = try entries()
            // As often as it was stopped, and where it was, with a store to run on.
            #expect(
                entries.count { $0 == "stop store" } == entries.count { $0 == "start store" },
                "\(number): \(entries), \(error.map { "\($0)" } ?? "done")"
            )
            #expect(
                try scene.itemNames().count == (error == nil ? 12 : 11),
                "\(number): \(error.map { "\($0)" } ?? "done")"
            )
            try await scene.recover()
            #expect(try scene.itemNames().count == (error == nil ? 12 : 11), "\(number)")
        }
    }
}
