internal import Files
internal import Remotes
internal import Synchronization
internal import SystemPackage
internal import TestSupport
internal import Testing

/// Servers that do not answer, stop, refuse or are full.
@Suite("A broken remote", .serialized)
struct BrokenRemoteTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
    }

    private final class Events: Sendable {
        private let events = Mutex<[RemoteEvent]>([])
        func add(_ event: RemoteEvent) { events.withLock { $0.append(event) } }
        var all: [RemoteEvent] { events.withLock(\.self) }
    }

    private static func impatient(
        connecting: Duration = .seconds(2),
        idling: Duration = .seconds(3)
    ) -> Rclone {
        var rclone = Rclone()
        rclone.connectTimeout = connecting
        rclone.idleTimeout = idling
        rclone.machine = "this"
        return rclone
    }

    /// Runs something that must fail with an error of the kind.
    private func expectFailure(
        _ isMeant: (RemoteError) -> Bool,
        location: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async {
        do {
            try await body()
            Issue.record("it did not fail", sourceLocation: location)
        } catch let error as RemoteError {
            #expect(isMeant(error), "\(error)", sourceLocation: location)
        } catch {
            Issue.record("another error: \(error)", sourceLocation: location)
        }
    }

    private func big() throws -> FilePath {
        let path = try sandbox.write("", to: "staging/\(UInt64.random(in: 0 ... .max))")
        try sandbox.stretch(path, to: 40 << 20)
        return path
    }

    @Test(
        "A remote that does not listen is reported after enough attempts",
        arguments: Served.available
    )
    func unreachable(served: Served) async throws {
        let server = try served.start(in: sandbox)
        let folder = served.unmadeFolder(on: server, through: Self.impatient())
        server.end()
        await expectFailure(
            {
                if case .unreachable(folder.address, let reason) = $0 {
                    reason.contains("refused")
                } else {
                    false
                }
            }
        ) { _ = try await folder.list() }
    }

    @Test(
        "A remote that does not answer is reported after a message about the wait",
        arguments: [Served.webdav]
    )
    func silent(served: Served) async throws {
        let server = try served.start(in: sandbox)
        let events = Events()
        var rclone = Self.impatient(idling: .seconds(6))
        rclone.report = events.add
        let folder = try served.folder(on: server, through: rclone)
        server.stop()
        defer { server.goOn() }
        await expectFailure({ $0 == .stalled(folder.address, after: .seconds(6)) }) {
            _ = try await folder.list()
        }
        let waits = events.all.filter {
            if case .waiting(folder.address, _) = $0 { true } else { false }
        }
        #expect(waits.count == 1)
    }

    @Test(
        "A remote that stops in the middle of an upload lists no file",
        arguments: Served.some(.webdav, .sftp)
    )
    func stopsInUpload(served: Served) async throws {
        let server = try served.start(in: sandbox, isBehindProxy: true)
        let proxy = try #require(server.proxy)
        let events = Events()
        var rclone = Self.impatient()
        rclone.report = { event in
            events.add(event)
            if proxy.sent > 4 << 20 { server.stop() }
        }
        let folder = try served.folder(on: server, through: rclone)
        _ = try await folder.list()
        proxy.mode = .delay(.milliseconds(20))
        let file = try big()
        await expectFailure(
            {
                if case .stalled = $0 { true } else { false }
            }
        ) { try await folder.upload(file, as: "a.zip") }
        server.goOn()
        proxy.mode = .pass
        #expect(events.all.contains(.began(.upload, total: 40 << 20)))
        #expect(try FileInfo(of: file).size == 40 << 20)
        let after = served.unmadeFolder(on: server, through: Self.impatient(idling: .seconds(60)))
        #expect(try await after.list().allSatisfy { PartialName.matches($0.name) })
        // The next run of this machine removes what it left, at once, and nothing else.
        let others = ".grocerydude-0123456789ab-01234567-0123456789abcdef.partial"
        let remote = server.remote("Apps/Grocery Dude", isEncrypted: served == .crypt)
        try sandbox.write("x", to: "other")
        try server.rclone("copyto", sandbox.path("other").string, "\(remote)/\(others)")
        _ = try await after.list()
        _ = try await after.removeLeftovers()
        #expect(try await after.list().map(\.name) == [others])
        try await after.upload(file, as: "a.zip")
        #expect(try await Set(after.list().map(\.name)) == [others, "a.zip"])
    }

    @Test(
        "A remote whose connection is cut lists no file",
        arguments: Served.some(.webdav, .s3)
    )
    func cut(served: Served) async throws {
        let server = try served.start(in: sandbox, isBehindProxy: true)
        let proxy = try #require(server.proxy)
        let folder = try served.folder(on: server, through: Self.impatient())
        _ = try await folder.list()
        let file = try big()
        proxy.mode = .cut(after: 4 << 20)
        await expectFailure(\.isOfTransfer) {
            try await folder.upload(file, as: "a.zip")
        }
        proxy.mode = .pass
        #expect(try FileInfo(of: file).size == 40 << 20)
        let after = served.unmadeFolder(on: server, through: Self.impatient(idling: .seconds(60)))
        #expect(try await after.list().allSatisfy { PartialName.matches($0.name) })
    }

    @Test(
        "A download that is cut off leaves no file on this machine",
        arguments: Served.some(.sftp)
    )
    func cutDownload(served: Served) async throws {
        let server = try served.start(in: sandbox, isBehindProxy: true)
        let proxy = try #require(server.proxy)
        let folder = try served.folder(on: server, through: Self.impatient())
        try await folder.upload(big(), as: "a.zip")
        var rclone = Self.impatient()
        rclone.report = { if case .advanced(1...) = $0 { server.stop() } }
        let slow = served.unmadeFolder(on: server, through: rclone)
        _ = try await slow.list()
        proxy.mode = .delay(.milliseconds(50))
        await expectFailure({ if case .stalled = $0 { true } else { false } }) {
            try await slow.download("a.zip", to: sandbox.path("target"))
        }
        server.goOn()
        #expect(!sandbox.exists("target"))
    }

    @Test("A remote that stops during a rename leaves the result of the upload unknown")
    func stopsInRename() async throws {
        let served = Served.webdav
        let server = try served.start(in: sandbox, isBehindProxy: true)
        let folder = try served.folder(on: server, through: Self.impatient())
        _ = try await folder.list()
        server.proxy?.mode = .holdFrom("MOVE ")
        let file = try sandbox.write("x", to: "staging/x")
        await expectFailure {
            if case .unsure(folder.address, "a.zip", _) = $0 { true } else { false }
        } _: {
            try await folder.upload(file, as: "a.zip")
        }
        server.proxy?.mode = .pass
        #expect(try FileInfo.ifPresent(file) != nil)
    }

    @Test("A remote that renames a file has it even if its answer is lost")
    func lostAnswer() async throws {
        let served = Served.webdav
        let server = try served.start(in: sandbox, isBehindProxy: true)
        let folder = try served.folder(on: server, through: Self.impatient(idling: .seconds(60)))
        _ = try await folder.list()
        for name in ["a.zip", "b.zip"] {
            server.proxy?.mode = .loseAnswer(to: "MOVE ")
            try await folder.upload(sandbox.write(name, to: "staging/x"), as: name)
        }
        #expect(try await Set(folder.list().map(\.name)) == ["a.zip", "b.zip"])
        server.proxy?.mode = .loseAnswer(to: "MOVE ")
        try await folder.move("a.zip", to: folder.subfolder(".grocerydude-trash"), as: "1 a.zip")
        #expect(try await folder.list().map(\.name) == ["b.zip"])
    }

    @Test("A remote lists its other files if one subfolder cannot be read")
    func closedSubfolder() async throws {
        let served = Served.webdav
        let server = try served.start(in: sandbox, isBehindProxy: true)
        let folder = try served.folder(on: server, "Apps", through: Self.impatient())
        try sandbox.write("x", to: "served-webdav/Apps/a.zip")
        try sandbox.write("x", to: "served-webdav/Apps/.grocerydude-notes/x.json")
        server.proxy?.mode = .answer(
            to: "PROPFIND /Apps/.grocerydude-notes",
            with: "403 Forbidden"
        )
        #expect(try await folder.list().map(\.name) == ["a.zip"])
        await expectFailure {
            if case .unauthorized(_, _) = $0 { true } else { false }
        } _: {
            _ = try await folder.subfolder(".grocerydude-notes").list()
        }
    }

    @Test("A user who interrupts a transfer does not wait for the remote")
    func interrupted() async throws {
        let served = Served.webdav
        let server = try served.start(in: sandbox)
        let events = Events()
        let isOver = Mutex(false)
        var rclone = Rclone()
        rclone.report = events.add
        rclone.checkCancellation = { if isOver.withLock(\.self) { throw CancellationError() } }
        let folder = try served.folder(on: server, through: rclone)
        server.stop()
        defer { server.goOn() }
        let task = Task { try await folder.list() }
        try await Task.sleep(for: .milliseconds(500))
        isOver.withLock { $0 = true }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(
        "A remote that rejects the password is reported at once",
        arguments: Served.available.filter { $0 != .s3 }
    )
    func unauthorized(served: Served) async throws {
        let server = try served.start(in: sandbox)
        var rclone = Self.impatient()
        rclone.environment = server.client(password: "wrong")
        let folder = RcloneFolder(
            server.remote("", isEncrypted: served == .crypt),
            through: rclone
        )
        await expectFailure(
            {
                if case .unauthorized(folder.address, _) = $0 { true } else { false }
            }
        ) { _ = try await folder.list() }
    }

    @Test(
        "A read-only remote is reported, and nothing is changed",
        arguments: [Served.webdav, .sftp].filter(\.kind.isInstalled)
    )
    func readOnly(served: Served) async throws {
        try sandbox.write("milk", to: "served-\(served.rawValue)/Apps/a.zip")
        let server = try served.start(in: sandbox, options: ["--read-only"])
        let folder = served.unmadeFolder(on: server, "Apps", through: Self.impatient())
        #expect(try await folder.list().map(\.name) == ["a.zip"])
        let file = try sandbox.write("x", to: "staging/x")
        let isMeant: (RemoteError) -> Bool = {
            if case .readOnly(folder.address, _) = $0 { true } else { false }
        }
        await expectFailure(isMeant) { try await folder.upload(file, as: "b.zip") }
        await expectFailure(isMeant) { try await folder.delete("a.zip") }
        await expectFailure(isMeant) {
            try await folder.move(
                "a.zip",
                to: folder.subfolder(".grocerydude-trash"),
                as: "1 a.zip"
            )
        }
        #expect(try await folder.list().map(\.name) == ["a.zip"])
    }

    @Test("A remote that reports a used-up quota is reported as full")
    func quota() async throws {
        let served = Served.webdav
        let server = try served.start(in: sandbox, isBehindProxy: true)
        let folder = try served.folder(on: server, through: Self.impatient())
        _ = try await folder.list()
        server.proxy?.mode = .answer(to: "PUT ", with: "507 Insufficient Storage")
        let file = try sandbox.write("x", to: "staging/x")
        await expectFailure(
            {
                if case .noSpace(folder.address, _) = $0 { true } else { false }
            }
        ) { try await folder.upload(file, as: "b.zip") }
        server.proxy?.mode = .pass
        #expect(try await folder.list().isEmpty)
    }
}
