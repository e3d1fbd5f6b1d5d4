@testable internal import Files
internal import Foundation
internal import SystemPackage
internal import TestSupport
internal import Testing

/// A child process that has locked a directory with flock(2), until it is killed.
private struct Holder {
    /// Python, since flock(1) leaves the lock to its child when it is killed.
    static let isAvailable = Tool.isInstalled("python3")

    let tool: RunningTool

    init(locking path: FilePath) throws {
        let program = """
            import fcntl, os, sys
            fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX)
            print("locked", flush=True)
            sys.stdin.read()
            """
        tool = try RunningTool("python3", ["-c", program, path.string])
        #expect(try tool.readLine() == "locked")
    }
}

/// The second process of a test is Python, or flock(1).
@Suite("FileLock")
struct FileLockTests {
    let sandbox: Sandbox
    let path: FilePath

    init() throws {
        sandbox = try Sandbox()
        path = try sandbox.directory("Stores")
    }

    @Test("the lock leaves nothing in the directory")
    func writesNothing() async throws {
        let before = try sandbox.contents()
        let lock = try await FileLock.acquire(path)
        #expect(try sandbox.contents() == before)
        withExtendedLifetime(lock) {}
    }

    @Test("another process cannot take the lock before it is released", .enabled(if: hasFlock))
    func keepsOthersOut() async throws {
        do {
            let lock = try await FileLock.acquire(path)
            #expect(try isLocked(path))
            withExtendedLifetime(lock) {}
        }
        #expect(try !isLocked(path))
    }

    @Test("a scope holds the lock to its end, also when it throws", .enabled(if: hasFlock))
    func scope() async throws {
        let wasLocked = try await FileLock.withLock(on: path) { try isLocked(path) }
        #expect(wasLocked)
        #expect(try !isLocked(path))
        await #expect(throws: CancellationError.self) {
            try await FileLock.withLock(on: path) { throw CancellationError() }
        }
        #expect(try !isLocked(path))
        try await FileLock.withLock(on: path) {
            _ = await #expect(throws: FileError.self) {
                try await FileLock.withLock(on: path) { _ = Issue.record("the body ran") }
            }
        }
    }

    @Test("the lock is free when it is released, though a child that is being started has a copy")
    func releasedDespiteCopies() async throws {
        var lock: FileLock? = try await FileLock.acquire(path)
        let copy = dup(try #require(lock).directory.descriptor)
        defer { close(copy) }
        lock = nil
        withExtendedLifetime(try await FileLock.acquire(path)) {}
    }

    @Test("a second lock in the same process is refused, and names this process")
    func sameProcess() async throws {
        let lock = try await FileLock.acquire(path)
        await #expect(throws: FileError.self) { try await FileLock.acquire(path) }
        withExtendedLifetime(lock) {}
    }

    @Test("a lock that was released can be taken again")
    func takenAgain() async throws {
        for _ in 0..<3 { _ = try await FileLock.acquire(path) }
    }

    @Test("the holder is named", .enabled(if: Holder.isAvailable))
    func namesHolder() async throws {
        let holder = try Holder(locking: path)
        let error = await #expect(throws: FileError.self) { try await FileLock.acquire(path) }
        guard case .locked(path, let found) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #if os(Linux)
        #expect(found?.process == holder.tool.processIdentifier)
        #expect(found?.command?.contains("python") == true)
        #expect(error?.description.contains("process \(holder.tool.processIdentifier)") == true)
        #endif
        holder.tool.kill()
    }

    @Test("a run that is killed leaves no lock", .enabled(if: Holder.isAvailable))
    func killed() async throws {
        let holder = try Holder(locking: path)
        holder.tool.kill()
        _ = try await FileLock.acquire(path)
    }

    @Test("waiting ends once the lock is free", .enabled(if: Holder.isAvailable))
    func waits() async throws {
        let holder = try Holder(locking: path)
        var waited = 0
        _ = try await FileLock.acquire(path, wait: Self.patience) { _ in
            waited += 1
            holder.tool.kill()
        }
        #expect(waited >= 1)
    }

    @Test("what is thrown while waiting ends the waiting", .enabled(if: Holder.isAvailable))
    func interrupted() async throws {
        struct Interrupted: Error {}
        let holder = try Holder(locking: path)
        await #expect(throws: Interrupted.self) {
            try await FileLock.acquire(path, wait: Self.patience) { _ in throw Interrupted() }
        }
        holder.tool.kill()
    }

    @Test("the lock goes where its directory goes when names are exchanged", .enabled(if: hasFlock))
    func followsDirectory() async throws {
        let other = try sandbox.directory("Stores_New")
        let lock = try await FileLock.acquire(path)
        try #require(try LocalFileSystem().swap(path, other))
        #expect(try isLocked(other))
        #expect(try !isLocked(path))
        let current = try await FileLock.acquire(path)
        #expect(try isLocked(path))
        withExtendedLifetime((lock, current)) {}
    }

    @Test(
        "whoever waited for a directory that was exchanged gets the new one, and not the moved one",
        .enabled(if: hasFlock && Holder.isAvailable)
    )
    func waitsForCurrent() async throws {
        let other = try sandbox.directory("Stores_New")
        let holder = try Holder(locking: path)
        let lock = try await FileLock.acquire(path, wait: Self.patience) { _ in
            _ = try LocalFileSystem().swap(path, other)
        }
        #expect(try isLocked(path))
        holder.tool.kill()
        #expect(try !isLocked(other))
        withExtendedLifetime(lock) {}
    }

    @Test("a lock knows its directory by whatever path")
    func isHeld() async throws {
        let other = try sandbox.directory("Stores_New")
        try sandbox.link("link", to: "Stores")
        let lock = try await FileLock.acquire(path)
        #expect(try lock.isHeld(on: path))
        #expect(try lock.isHeld(on: sandbox.path("link")))
        #expect(try !lock.isHeld(on: other))
        #expect(throws: FileError.self) { try lock.isHeld(on: sandbox.path("missing")) }
    }

    @Test("a directory that is missing cannot be locked")
    func missing() async throws {
        let missing = sandbox.path("missing")
        await #expect(throws: FileError.failed(.open, missing, .noSuchFileOrDirectory)) {
            try await FileLock.acquire(missing)
        }
    }

    private static let hasFlock = Tool.isInstalled("flock")

    /// How long to wait for what is only a moment away: a task that sleeps wakes up behind all the
    /// tests that wait for a thread.
    private static let patience = Duration.seconds(600)

    /// Whether another process cannot get the lock.
    private func isLocked(_ path: FilePath) throws -> Bool {
        let outcome = try Tool.run("flock", ["--nonblock", path.string, "true"])
        guard outcome.status <= 1 else { throw Tool.Failure.failed("flock", outcome) }
        return outcome.status == 1
    }
}

@Suite("Record locks", .enabled(if: Tool.isInstalled("python3")))
struct RecordLockTests {
    let sandbox: Sandbox
    let path: FilePath

    init() throws {
        sandbox = try Sandbox()
        path = try sandbox.write(Array(repeating: 0, count: 16), to: "file")
    }

    @Test("another process that locks part of a file is found, and where it locks")
    func findsHolder() throws {
        let file = try File.open(path)
        #expect(try file.recordLockHolder(from: 0, length: 16) == nil)
        let tool = try start()
        let holder = try file.recordLockHolder(from: 0, length: 16)
        #expect(holder?.process == tool.processIdentifier)
        #expect(try file.recordLockHolder(from: 0, length: 4) == nil)
        #expect(try file.recordLockHolder(from: 4, length: 1) != nil)
        #expect(try !file.lockRecordShared(from: 0, length: 16))
        #expect(try file.lockRecordShared(from: 8, length: 8))
        tool.kill()
        #expect(try file.recordLockHolder(from: 0, length: 16) == nil)
    }

    @Test("another process that only has a file open is found")
    func findsUser() throws {
        let identity = try FileInfo(of: path).identity
        let tool = try start()
        #if os(Linux)
        #expect(
            LockHolder.processes(using: [identity]).map(\.holder.process) == [
                tool.processIdentifier
            ]
        )
        #endif
        tool.kill()
        #expect(LockHolder.processes(using: [identity]).isEmpty)
    }

    #if os(Linux)
    @Test("a child that is being started is no user of what it has copies of")
    func ignoresBirth() throws {
        let file = try File.open(path)
        let pipe = path.removingLastComponent().appending("pipe")
        #expect(mkfifo(pipe.string, 0o600) == 0)
        // It opens the pipe before it becomes another program, and that waits for the other end.
        let end = DispatchGroup()
        DispatchQueue(label: "spawning").async(group: end) {
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            posix_spawn_file_actions_addopen(&actions, 0, pipe.string, O_RDONLY, 0)
            var child: pid_t = 0
            var arguments = [strdup("true"), nil]
            if posix_spawnp(&child, "true", &actions, nil, &arguments, environ) == 0 {
                waitpid(child, nil, 0)
            }
            free(arguments[0])
            posix_spawn_file_actions_destroy(&actions)
        }
        defer {
            // To open it for both never waits; and once it is closed, nobody else has to.
            let other = open(pipe.string, O_RDWR)
            end.wait()
            close(other)
        }
        let child = try #require(try findUser())
        #expect(try LockHolder.processes(using: [file.info().identity]).isEmpty)
        #expect(try users().contains(child))
    }

    /// A process that keeps a descriptor of the file: the children that other tests start are seen only
    /// once.
    private func findUser() throws -> Int32? {
        var last: Set<Int32> = []
        for _ in 1...5000 {
            let now = try users()
            if let child = now.intersection(last).first { return child }
            last = now
            usleep(20_000)
        }
        return nil
    }

    /// The processes but this one that have a descriptor of the file.
    private func users() throws -> Set<Int32> {
        let manager = FileManager.default
        let processes = try manager.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }
        return Set(
            processes.filter { process in
                guard process != getpid() else { return false }
                let directory = "/proc/\(process)/fd"
                let names = (try? manager.contentsOfDirectory(atPath: directory)) ?? []
                return names.contains {
                    let target = try? manager.destinationOfSymbolicLink(
                        atPath: "\(directory)/\($0)"
                    )
                    return target == path.string
                }
            }
        )
    }
    #endif

    @Test("a holder whose process is not known is another process")
    func unknown() {
        #expect(LockHolder(process: 0).description == "another process")
    }

    /// A process that has locked bytes 4 to 7.
    private func start() throws -> RunningTool {
        let program = """
            import fcntl, sys
            file = open(sys.argv[1], "r+b")
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 4, 4)
            print("locked", flush=True)
            sys.stdin.read()
            """
        let tool = try RunningTool("python3", ["-c", program, path.string])
        #expect(try tool.readLine() == "locked")
        return tool
    }
}
