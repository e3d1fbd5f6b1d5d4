import Files
import Foundation
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

/// A folder that breaks one promise.
private struct Faithless: RemoteFolder {
    enum Fault: CaseIterable {
        case changesBytes, hidesNew, keepsDeleted, refusesUploads, refusesReads, refusesRenames
        case refusesDeletes
    }

    let folder: any RemoteFolder
    var fault: Fault?
    /// Added to the times of files, in seconds.
    var clock: TimeInterval = 0
    let description = "faithless"
    private let log = Kept()

    private final class Kept: @unchecked Sendable {
        var deleted: [RemoteFile] = []
    }

    init(_ folder: any RemoteFolder, _ fault: Fault? = nil, clock: TimeInterval = 0) {
        self.folder = folder
        self.fault = fault
        self.clock = clock
    }

    private var refusal: FileError { .failed(.write, "there", .permissionDenied) }

    func list() async throws -> [RemoteFile] {
        if fault == .hidesNew { return [] }
        return try await folder.list().map {
            var file = $0
            file.modified = file.modified.map { $0 + clock }
            return file
        } + log.deleted
    }
    func upload(_ file: FilePath, as name: String) async throws -> RemoteFile {
        if fault == .refusesUploads { throw refusal }
        return try await folder.upload(file, as: name)
    }
    func download(_ name: String, range: Range<Int64>) async throws -> [UInt8] {
        try await folder.download(name, range: range)
    }
    func download(_ name: String, to path: FilePath) async throws {
        if fault == .refusesReads { throw refusal }
        try await folder.download(name, to: path)
        guard fault == .changesBytes else { return }
        try Tool.check("truncate", ["-s", "255", path.string])
    }
    func move(_ name: String, to folder: any RemoteFolder, as newName: String) async throws {
        if fault == .refusesRenames { throw refusal }
        let target = try #require(folder as? Faithless)
        try await self.folder.move(name, to: target.folder, as: newName)
    }
    func delete(_ name: String) async throws {
        if fault == .refusesDeletes { throw refusal }
        if fault == .keepsDeleted { log.deleted.append(RemoteFile(name: name, size: 1)) }
        try await folder.delete(name)
    }
    func subfolder(_ name: String) -> any RemoteFolder { folder.subfolder(name) }
}

@Suite("The probe of a folder")
struct ProbeFolderTests {
    private func probe(
        _ scene: Scene,
        _ remote: (any RemoteFolder)? = nil,
        now: Date = Date()
    ) -> ProbeFolder {
        ProbeFolder(scene.folder(remote), now: now, context: scene.context())
    }

    @Test("The probe of a good folder finds nothing wrong and leaves nothing")
    func good() async throws {
        let scene = try Scene()
        try await scene.backUp()
        let before = try scene.sandbox.contents(of: "Remote").paths
        let outcome = try await probe(scene).run()
        #expect(outcome.error == nil)
        #expect(outcome.findings.map(\.step) == [.folder, .writable, .clock, .space])
        #expect(outcome.findings.allSatisfy { !$0.isDoubtful }, "\(outcome.findings.map(\.what))")
        #expect(outcome.findings[0].what == "1 backup is in it")
        #expect(outcome.facts.space?.free ?? 0 > 0)
        #expect(try scene.sandbox.contents(of: "Remote").paths == before)
    }

    @Test("The probe reports each way in which a folder can fail, and stops there")
    func faults() async throws {
        let words: [Faithless.Fault: String] = [
            .changesBytes: "read back from 'faithless' has other content",
            .hidesNew: "lists its content wrongly after a file was written",
            .keepsDeleted: "lists its content wrongly after a file was deleted",
            .refusesUploads: "cannot write a file into 'faithless'",
            .refusesReads: "cannot read a file from 'faithless'",
            .refusesRenames: "cannot rename a file in 'faithless'",
            .refusesDeletes: "cannot delete a file in 'faithless'",
        ]
        for fault in Faithless.Fault.allCases {
            let scene = try Scene(withStore: false)
            let outcome = try await probe(scene, Faithless(scene.remote, fault)).run()
            #expect(outcome.findings.map(\.step) == [.folder, .writable], "\(fault)")
            let what = try #require(outcome.findings.last?.what)
            #expect(what.contains(try #require(words[fault])), "\(what)")
            #expect(outcome.error is LinkError)
            guard fault != .refusesDeletes else { continue }
            #expect(try scene.sandbox.contents(of: "Remote").paths.isEmpty, "\(fault)")
        }
    }

    @Test("The probe reports a wrong clock, and by how much it is wrong")
    func clock() async throws {
        let scene = try Scene(withStore: false)
        let ahead = try await probe(scene, Faithless(scene.remote, clock: 600)).run()
        let finding = try #require(ahead.findings.first { $0.step == .clock })
        #expect(finding.isDoubtful && finding.what.hasSuffix("ahead of this machine's"))
        let behind = try await probe(scene, now: Date() + 7200).run()
        let other = try #require(behind.findings.first { $0.step == .clock })
        #expect(other.isDoubtful && other.what.contains("behind this machine's"))
        #expect(behind.error == nil)
    }

    @Test("The probe reports too little space for the largest backup")
    func space() async throws {
        let scene = try Scene(withStore: false)
        let path = try scene.sandbox.write("PK", to: "Remote/Huge Stores.zip")
        try scene.sandbox.stretch(path, to: 8 << 40)
        let outcome = try await probe(scene).run()
        let finding = try #require(outcome.findings.last)
        #expect(finding.step == .space && finding.isDoubtful)
        #expect(finding.what.contains("less than the largest backup"))
    }

    @Test("The probe reports a missing folder, and makes it if it may")
    func missing() async throws {
        let scene = try Scene(withStore: false)
        let remote = LocalFolder(scene.sandbox.path("a/b/c"))
        let outcome = try await probe(scene, remote).run()
        #expect(outcome.findings.map(\.step) == [.folder])
        #expect(outcome.error as? RemoteError == .missing(remote.address))
        try await probe(scene, remote).make()
        #expect(try await probe(scene, remote).run().error == nil)
        try scene.sandbox.write("a file", to: "file")
        await #expect(throws: LinkError.self) {
            try await probe(scene, LocalFolder(scene.sandbox.path("file/below"))).make()
        }
    }

    @Test("The probe waits for another run as all writing commands do")
    func locked() async throws {
        let scene = try Scene(withStore: false)
        let lock = try await FileLock.acquire(scene.remotePath)
        await #expect(throws: FileError.self) { try await probe(scene).run() }
        withExtendedLifetime(lock) {}
    }

    @Test(
        "The probe through rclone finds nothing wrong, or which part is wrong",
        .enabled(if: Tool.isInstalled("rclone"), "rclone is not installed")
    )
    func rclone() async throws {
        let scene = try Scene(withStore: false)
        let staging = try scene.sandbox.directory("Staging")
        func probe(_ place: String) -> ProbeFolder {
            let memory = BackupMemory(catalog: scene.catalog)
            let folder = BackupFolder(
                RcloneFolder(place),
                staging: staging,
                memory: memory,
                timeZone: Scene.utc
            )
            return ProbeFolder(folder, now: Date(), context: scene.context())
        }
        let place = ":local:\(scene.sandbox.path("made/below").string)"
        try await probe(place).make()
        let outcome = try await probe(place).run()
        #expect(outcome.findings.map(\.step) == ProbeFolder.Step.allCases)
        #expect(outcome.error == nil && outcome.facts.space?.total ?? 0 > 0)
        // It keeps the times of files, so that its own is not known.
        #expect(outcome.findings[4].what == "the server reports no time")
        #expect(try scene.sandbox.contents(of: "made/below").paths.isEmpty)
        #expect(try scene.sandbox.contents(of: "Staging").paths.isEmpty)
        let absent = try await probe(":local:\(scene.sandbox.path("absent").string)").run()
        #expect(absent.findings.map(\.step) == [.rclone, .remote, .folder])
        let unknown = try await probe("nothing-like-this:x").run()
        #expect(unknown.findings.map(\.step) == [.rclone, .remote])
        #expect(unknown.findings.last?.what == "rclone has no remote 'nothing-like-this'")
    }
}
