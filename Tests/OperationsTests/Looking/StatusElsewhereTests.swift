import Files
import Foundation
import History
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Backups left in a former folder")
struct StatusElsewhereTests {
    private let scene: Scene
    private let log: RunLog
    private let other: LocalFolder

    init() throws {
        scene = try Scene()
        log = RunLog(scene.sandbox.path("Cache/log.sqlite"))
        other = LocalFolder(try scene.sandbox.directory("Other"))
    }

    private func folder(_ address: String) -> BackupFolder {
        var folder = scene.folder(LocalFolder(FilePath(address)), log: log)
        folder.outbox = Outbox(
            scene.sandbox.path("Outboxes/\(FilePath(address).lastComponent?.string ?? "")"),
            limit: .init(),
            memory: folder.memory,
            timeZone: Scene.utc
        )
        return folder
    }

    private func record(to folder: LocalFolder, profile: String? = nil) throws {
        try log.record(
            RunLog.Entry(
                command: "backup",
                profile: profile,
                stores: printable(scene.stores),
                remote: folder.address,
                began: Scene.morning,
                duration: .seconds(1),
                exitCode: 0
            )
        )
    }

    private func behind(profile: String? = nil) async -> Status.Behind? {
        await status(profile: profile).behind
    }

    private func status(
        of stores: FilePath? = nil,
        profile: String? = nil,
        used: Set<String> = []
    ) async -> Status {
        var here = folder(other.address)
        here.origin = Origin(of: stores ?? scene.stores)
        let show = ShowStatus(of: scene.stores, in: here, now: Scene.morning + 3600)
        var status = await show.run()
        await show.lookElsewhere(&status, profile: profile, used: used, folder: folder)
        return status
    }

    @Test("The status reports backups in the former folder until they are copied or gone")
    func copied() async throws {
        #expect(await behind() == nil)
        try await scene.backUp()
        try await scene.backUp(at: Scene.morning + 60)
        try record(to: scene.remote)
        let told = await behind()
        #expect(told == .init(remote: scene.remote.address, backups: 2, waiting: 0))
        _ = try await CopyBackups(
            from: folder(scene.remote.address),
            to: folder(other.address),
            options: .init(date: Scene.morning),
            context: scene.context()
        ).run(["latest"])
        #expect(await behind()?.backups == 1)
        try LocalFileSystem().remove(scene.remotePath)
        #expect(await behind() == nil)
    }

    @Test("The status of a profile reports backups left behind after the profile's later runs too")
    func profile() async throws {
        try await scene.backUp()
        try record(to: scene.remote, profile: "photos")
        try record(to: other, profile: "photos")
        #expect(await behind() == nil)
        #expect(await behind(profile: "photos")?.backups == 1)
        #expect(await behind(profile: "others") == nil)
    }

    @Test("The status reports backups that wait for the former folder too")
    func waiting() async throws {
        try LocalFileSystem().remove(scene.remotePath)
        var options = scene.options()
        options.queues = true
        _ = try await CreateBackup(
            of: scene.stores,
            to: folder(scene.remote.address),
            options: options,
            context: scene.context()
        ).run()
        try record(to: scene.remote)
        let told = await behind()
        #expect(told == .init(remote: scene.remote.address, backups: 0, waiting: 1))
        #expect(await status().findings.isEmpty)
    }

    @Test(
        "The status names backups that wait for a folder that no run used since, and whose note is gone"
    )
    func waitingForLong() async throws {
        try LocalFileSystem().remove(scene.remotePath)
        var options = scene.options()
        options.queues = true
        let old = folder(scene.remote.address)
        let backup = try await CreateBackup(
            of: scene.stores,
            to: old,
            options: options,
            context: scene.context()
        ).run().backup
        try record(to: other)
        #expect(await behind() == nil)
        let finding = try #require(await status().findings.first)
        #expect(finding.what.contains("1 backup waits for '\(scene.remote.address)'"))
        let remedy = "grocerydude copy --all --remote \(scene.remote.address) --to \(other.address)"
        #expect(finding.remedy?.hasSuffix(remedy) == true, "\(finding.remedy ?? "")")
        _ = try await CopyBackups(
            from: old,
            to: folder(other.address),
            options: .init(date: Scene.morning),
            context: scene.context()
        ).run([backup.name])
        let copied = try #require(await status().findings.first?.remedy)
        #expect(
            copied.contains("grocerydude delete --remote \(scene.remote.address) '\(backup.name)'")
        )
        #expect(await status(used: [scene.remote.address]).findings.isEmpty)
        // Another application's backups are its own matter.
        #expect(await status(of: "/another/directory").findings.isEmpty)
        try LocalFileSystem().remove(try #require(old.outbox).path.appending("remote.txt"))
        let warnings = await status().warnings
        #expect(warnings.contains { $0.hasPrefix("what waits for upload to other folders") })
    }
}
