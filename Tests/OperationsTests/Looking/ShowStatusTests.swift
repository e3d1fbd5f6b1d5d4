@testable import Backups
import Files
import Foundation
import Operations
import Remotes
import History
import SystemPackage
import TestSupport
import Testing

@Suite("ShowStatus")
struct ShowStatusTests {
    let scene: Scene
    let log: RunLog

    init() throws {
        scene = try Scene()
        log = RunLog(scene.sandbox.path("Cache/log.sqlite"))
    }

    private func status(
        after offset: TimeInterval = 3600,
        remote: (any RemoteFolder)? = nil
    ) async -> Status {
        await ShowStatus(
            of: scene.stores,
            in: scene.folder(remote, log: log),
            now: Scene.morning + offset
        ).run()
    }

    @Test("The status shows the newest backup and its age, and the number and size of all")
    func newest() async throws {
        let none = await status()
        #expect(none.newest == nil && none.age == nil && none.backups == 0)
        #expect(none.hasStores && !none.isFresh(within: .seconds(1 << 40)))
        let first = try await scene.backUp(at: Scene.morning - 86_400).backup
        let second = try await scene.backUp().backup
        let status = await status()
        #expect(status.newest?.name == second.name)
        #expect(status.age == .seconds(3600))
        #expect(status.isFresh(within: .seconds(3600)))
        #expect(!status.isFresh(within: .seconds(3599)))
        #expect(status.backups == 2 && status.size == first.size + second.size)
        #expect(status.findings == [] && status.warnings == [])
    }

    @Test("The status counts no damaged backup, and none in which a check found damage")
    func damaged() async throws {
        let oldest = try await scene.backUp(at: Scene.morning - 7200).backup
        let middle = try await scene.backUp(at: Scene.morning - 3600).backup
        let newest = try await scene.backUp().backup
        var check = RunLog.Check(
            id: middle.key.rawValue,
            address: scene.remote.address,
            name: middle.name,
            time: Scene.morning,
            depth: .data,
            damage: "segment 3"
        )
        try log.recordCheck(check)
        let bytes = try scene.sandbox.read("Remote/\(newest.name)")
        try scene.sandbox.write(bytes.dropLast(100), to: "Remote/\(newest.name)")
        let first = await status()
        #expect(first.newest?.name == oldest.name)
        #expect(first.age == .seconds(3 * 3600))
        #expect(first.warnings.count == 2)
        #expect(first.warnings.last == "'\(middle.displayName)' is damaged: segment 3")
        // It is good since.
        check.depth = .restore
        try log.recordCheck(check)
        #expect(await status().newest?.name == oldest.name)
        check.damage = nil
        try log.recordCheck(check)
        #expect(await status().newest?.name == middle.name)
    }

    @Test("The status warns of a backup from the future, and does not count it")
    func future() async throws {
        let past = try await scene.backUp(at: Scene.morning - 3600).backup
        try await scene.backUp(at: Scene.morning + 3600)
        let status = await status(after: 0)
        #expect(status.newest?.name == past.name)
        #expect(status.warnings.count == 1)
        #expect(status.warnings.first?.contains("from the future") == true)
        // Clocks never agree, that is no future.
        try await scene.backUp(at: Scene.morning + 100)
        #expect(await self.status(after: 0).age == .zero)
    }

    @Test("The status shows the last runs with these stores and this folder")
    func runs() async throws {
        func record(_ command: String, stores: FilePath, exitCode: Int32) throws {
            try log.record(
                RunLog.Entry(
                    command: command,
                    stores: stores.string,
                    remote: scene.remote.address,
                    began: Scene.morning,
                    duration: .seconds(1),
                    exitCode: exitCode
                )
            )
        }
        try record("backup", stores: scene.stores, exitCode: 3)
        try record("check", stores: scene.stores, exitCode: 20)
        try record("backup", stores: "/elsewhere", exitCode: 1)
        let status = await status()
        #expect(status.lastBackup?.exitCode == 3)
        #expect(status.lastRun?.exitCode == 20)
    }

    @Test("The status says why the folder cannot be listed, and shows all else")
    func unreachable() async throws {
        let status = await status(remote: LocalFolder(scene.sandbox.path("No")))
        #expect(status.remoteError as? RemoteError == .missing(scene.sandbox.path("No").string))
        #expect(status.hasStores)
    }

    @Test("The status finds an unfinished restore, says what finishes it, and leaves it as it is")
    func halfDone() async throws {
        try await scene.backUp()
        let broken = FaultyFileSystem(failing: .callOf(.swap, 1), effect: .done, staysBroken: true)
        await #expect(throws: (any Error).self) { try await scene.restore(fileSystem: broken) }
        try scene.sandbox.write("x", to: "Remote/.grocerydude-7.partial")
        let before = try scene.sandbox.contents()
        let status = await status()
        #expect(try scene.sandbox.contents() == before)
        #expect(status.findings.map(\.kind) == [.interrupted, .interrupted])
        #expect(status.findings[0].what.hasPrefix("a restore of '"))
        #expect(status.findings[0].remedy?.contains("finishes or undoes it") == true)
        #expect(status.findings[1].what.contains(".grocerydude-7.partial"))
        try await scene.recover()
        try await scene.backUp(at: Scene.morning + 60)
        #expect(await self.status().findings == [])
    }

    @Test("The status finds which run holds the lock")
    func running() async throws {
        try scene.sandbox.write("x", to: "Remote/.grocerydude-7.partial")
        let locks = [
            try await FileLock.acquire(scene.stores), try await FileLock.acquire(scene.remotePath),
        ]
        let status = await status()
        withExtendedLifetime(locks) {}
        #expect(status.findings.map(\.kind) == [.running, .running])
        let process = "process \(ProcessInfo.processInfo.processIdentifier)"
        #expect(status.findings.allSatisfy { $0.what.contains(process) })
    }

    @Test("The status finds what restores refused, and what they replaced and could not remove")
    func refused() async throws {
        try scene.sandbox.directory("Stores_FailedRestore")
        try scene.sandbox.directory("Stores_Old_2")
        let status = await status()
        #expect(status.findings.map(\.kind) == [.leftover, .leftover])
        #expect(status.findings.allSatisfy { $0.remedy?.contains("rm ") == false })
    }

    @Test("The status shows what it can of a damaged log, and of an unreadable one")
    func badLog() async throws {
        try scene.sandbox.write("no database", to: "Cache/log.sqlite")
        #expect(await status().warnings.first?.contains("log.sqlite.damaged") == true)
        try scene.sandbox.directory("Cache/other.sqlite")
        let status = await ShowStatus(
            of: scene.stores,
            in: scene.folder(log: RunLog(scene.sandbox.path("Cache/other.sqlite"))),
            now: Scene.morning
        ).run()
        #expect(status.warnings.first?.hasPrefix("the log cannot be read") == true)
    }
}
