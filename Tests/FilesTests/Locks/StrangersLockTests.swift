@testable internal import Files
internal import Foundation
internal import SystemPackage
internal import TestSupport
internal import Testing

/// Locks of a user who may read a directory and not change it.
@Suite(
    "A stranger's lock",
    .enabled(
        if: geteuid() == 0 && Tool.isInstalled("setpriv") && Tool.isInstalled("flock"),
        "only root can be two users"
    )
)
struct StrangersLockTests {
    let sandbox: Sandbox
    let path: FilePath
    private var own: FilePath { sandbox.path("state/locks") }

    init() throws {
        sandbox = try Sandbox()
        path = try sandbox.directory("Stores")
        for directory in [sandbox.path, path] { try mode(0o755, directory) }
    }

    private func mode(_ mode: Int, _ path: FilePath) throws {
        let manager = FileManager.default
        try manager.setAttributes([.posixPermissions: mode], ofItemAtPath: path.string)
    }

    private static let stranger = ["--reuid=65534", "--regid=65534", "--clear-groups"]

    /// Starts a process of another user that has locked the directory, until it is killed.
    private func hold(
        _ kind: String = "--shared",
        as user: [String] = StrangersLockTests.stranger
    ) throws -> RunningTool {
        try run(["flock", kind, "--no-fork", path.string, "sh", "-c", wait], as: user)
    }

    private let wait = "echo locked; read line"

    private func run(
        _ command: [String],
        as user: [String] = StrangersLockTests.stranger
    ) throws -> RunningTool {
        let tool = try RunningTool("setpriv", user + command)
        #expect(try tool.readLine() == "locked")
        return tool
    }

    private func isRefused(own: FilePath?) async -> Bool {
        let lock = try? await FileLock.acquire(path, own: own)
        return withExtendedLifetime(lock) { lock == nil }
    }

    @Test("is passed over and named, whatever its kind", arguments: ["--shared", "--exclusive"])
    func passedOver(kind: String) async throws {
        let stranger = try hold(kind)
        let lock = try await FileLock.acquire(path, own: own)
        #expect(lock.strangers.map(\.process) == [stranger.processIdentifier])
        // It does not let a second run of ours in, and is not taken for that.
        let error = await #expect(throws: FileError.self) {
            try await FileLock.acquire(path, own: own)
        }
        #expect(error == .locked(path, holder: nil))
        stranger.kill()
        // Nor does it once it is gone.
        #expect(await isRefused(own: own))
        withExtendedLifetime(lock) {}
    }

    @Test("leaves the lock to be taken again, and the file of locks is for one user alone")
    func takenAgain() async throws {
        let stranger = try hold()
        for _ in 0..<2 { _ = try await FileLock.acquire(path, own: own) }
        let info = try FileInfo(of: own)
        #expect(info.mode == 0o600 && info.size == 0)
        #expect(try sandbox.contents(of: "Stores").items.isEmpty)
        // One that others may open is not used, and then nobody is passed over.
        try mode(0o644, own)
        #expect(await isRefused(own: own))
        stranger.kill()
    }

    @Test("does not keep a run from several directories, whose numbers are next to each other")
    func several() async throws {
        let stranger = try hold()
        var locks: [FileLock] = []
        locks.append(try await FileLock.acquire(path, own: own))
        for number in 1...20 {
            let other = try sandbox.directory("other-\(number)")
            locks.append(try await FileLock.acquire(other, own: own))
        }
        withExtendedLifetime(locks) {}
        stranger.kill()
    }

    @Test("counts if there is no file of locks")
    func withoutOwn() async throws {
        let stranger = try hold()
        #expect(await isRefused(own: nil))
        try sandbox.write("", to: "file")
        #expect(await isRefused(own: sandbox.path("file/locks")))
        stranger.kill()
    }

    @Test("is passed over if its process has ended and a child keeps it")
    func orphan() async throws {
        let script = "exec 9<\"$1\"; flock --shared 9; \(wait)"
        let stranger = try run(["sh", "-c", script, "sh", path.string])
        let lock = try await FileLock.acquire(path, own: own)
        #expect(!lock.strangers.isEmpty)
        stranger.kill()
    }

    @Test("is passed over if it runs a program of root's")
    func setUser() async throws {
        let stranger = try hold(as: ["--ruid=65534", "--clear-groups"])
        let lock = try await FileLock.acquire(path, own: own)
        #expect(!lock.strangers.isEmpty)
        stranger.kill()
    }

    @Test("is none of a user who may change the directory")
    func ofOurs() async throws {
        func expect(_ isRefused: Bool, as user: [String]) async throws {
            let holder = try hold(as: user)
            #expect(await self.isRefused(own: own) == isRefused, "\(user)")
            holder.kill()
        }
        try await expect(true, as: ["--clear-groups"])
        let group = ["--reuid=65534", "--regid=65534", "--groups=4711"]
        try Tool.check("chgrp", ["4711", path.string])
        try await expect(false, as: group)
        try mode(0o775, path)
        try await expect(true, as: group)
        try await expect(false, as: Self.stranger)
        try mode(0o757, path)
        try await expect(true, as: Self.stranger)
        try mode(0o755, path)
        try Tool.check("chown", ["65534", path.string])
        try await expect(true, as: Self.stranger)
    }
}
