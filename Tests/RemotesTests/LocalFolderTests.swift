internal import Files
internal import Remotes
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("LocalFolder")
struct LocalFolderTests {
    let sandbox: Sandbox
    let remote: FilePath

    init() throws {
        sandbox = try Sandbox()
        remote = try sandbox.directory("remote")
    }

    @Test("A local folder's path is its address")
    func address() {
        #expect(LocalFolder(remote).address == remote.string)
    }

    /// Whether it is said that all was done, and may not be on the disk.
    private func isNotSynced(_ error: (any Error)?) -> Bool {
        if case RemoteError.notSynced? = error as? RemoteError { true } else { false }
    }

    @Test(
        "A move that fails leaves the file in one of the two places",
        arguments: [Errno.noSpace, .ioError]
    )
    func failingMoves(errno: Errno) async throws {
        let steps = FaultyFileSystem()
        try sandbox.write("milk", to: "remote/a.zip")
        func move(_ fileSystem: FaultyFileSystem) async throws {
            let folder = LocalFolder(remote, fileSystem: fileSystem)
            try await folder.move("a.zip", to: folder.subfolder(".trash"), as: "a.zip")
        }
        try await move(steps)
        for step in 1...steps.calls.count {
            try LocalFileSystem().remove(sandbox.path("remote"))
            try sandbox.write("milk", to: "remote/a.zip")
            let fileSystem = FaultyFileSystem(failing: .call(step), with: errno)
            let error = await #expect(throws: (any Error).self) {
                try await move(fileSystem)
            }
            try fileSystem.assertFaultWasMet()
            #expect(isNotSynced(error) == sandbox.exists("remote/.trash/a.zip"))
            let places = ["remote/a.zip", "remote/.trash/a.zip"].filter { sandbox.exists($0) }
            #expect(places.count == 1, "step \(step): \(steps.calls[step - 1])")
        }
    }

    @Test("A file that was made in the folder is renamed and not copied")
    func renames() async throws {
        let draft = try sandbox.write("milk", to: "remote/draft")
        let identity = try FileInfo(of: draft).identity
        let fileSystem = FaultyFileSystem()
        try await LocalFolder(remote, fileSystem: fileSystem).upload(draft, as: "a.zip")
        #expect(try FileInfo(of: sandbox.path("remote/a.zip")).identity == identity)
        #expect(fileSystem.calls == [.init(.move, draft), .init(.sync, remote)])
    }

    @Test(
        "An upload that fails shows no incomplete file and loses none",
        arguments: ["remote/draft", "elsewhere"],
        [Errno.noSpace, .ioError]
    )
    func failingUploads(source: String, errno: Errno) async throws {
        let steps = FaultyFileSystem()
        let draft = try sandbox.write("milk", to: source)
        try await LocalFolder(remote, fileSystem: steps).upload(draft, as: "a.zip")
        for step in 1...steps.calls.count {
            try LocalFileSystem().remove(sandbox.path("remote/a.zip"))
            let draft = try sandbox.write("milk", to: source)
            let fileSystem = FaultyFileSystem(failing: .call(step), with: errno)
            let error = await #expect(throws: (any Error).self) {
                try await LocalFolder(remote, fileSystem: fileSystem).upload(draft, as: "a.zip")
            }
            try fileSystem.assertFaultWasMet()
            #expect(isNotSynced(error) == (steps.calls[step - 1].verb == .sync))
            let isVisible = sandbox.exists("remote/a.zip")
            // The rename comes first: what fails after it cannot take it back.
            #expect(isVisible == (step > 1), "step \(step): \(steps.calls[step - 1])")
            if isVisible { #expect(try sandbox.read("remote/a.zip") == Array("milk".utf8)) }
            if !isVisible { #expect(try sandbox.read(source) == Array("milk".utf8)) }
            let others = try Directory.open(remote).names().map(\.description)
            #expect(others.allSatisfy { $0 == "a.zip" || "remote/\($0)" == source })
        }
    }

    @Test("A deletion that fails reports an error")
    func failingDeletes() async throws {
        try sandbox.write("milk", to: "remote/a.zip")
        for verb in [FaultyFileSystem.Verb.remove, .sync] {
            let fileSystem = FaultyFileSystem(failing: .callOf(verb, 1))
            let error = await #expect(throws: (any Error).self) {
                try await LocalFolder(remote, fileSystem: fileSystem).delete("a.zip")
            }
            try fileSystem.assertFaultWasMet()
            #expect(isNotSynced(error) == (verb == .sync))
        }
    }

    @Test("A file is not accepted as a folder")
    func notAFolder() async throws {
        let path = try sandbox.write("x", to: "file")
        await #expect(throws: RemoteError.notAFolder(path.string)) {
            try await LocalFolder(path).list()
        }
        await #expect(throws: RemoteError.notAFolder(path.string)) {
            try await LocalFolder(path).delete("a")
        }
    }

    /// Everything that reaches into a subfolder.
    private static let reaches: [@Sendable (LocalFolder) async throws -> Void] = [
        { _ = try await $0.subfolder(".trash").list() },
        { _ = try await $0.subfolder(".trash").subfolder("below").list() },
        { try await $0.subfolder(".trash").upload($0.path.appending("draft"), as: "b.zip") },
        { try await $0.move("draft", to: $0.subfolder(".trash"), as: "b.zip") },
        { try await $0.subfolder(".trash").move("a.zip", to: $0, as: "b.zip") },
        { try await $0.subfolder(".trash").download("a.zip", to: $0.path.appending("b.zip")) },
        { try await $0.subfolder(".trash").delete("a.zip") },
    ]

    @Test("A subfolder that is a link or a file is refused, and nothing behind it changes")
    func linkedSubfolder() async throws {
        try sandbox.write("milk", to: "outside/a.zip")
        try sandbox.write("eggs", to: "remote/draft")
        for target in ["../outside", sandbox.path("outside").string, "missing", nil] {
            try LocalFileSystem().remove(sandbox.path("remote/.trash"))
            if let target {
                try sandbox.link("remote/.trash", to: target)
            } else {
                try sandbox.write("x", to: "remote/.trash")
            }
            let before = try sandbox.contents()
            for (number, reach) in Self.reaches.enumerated() {
                let folder = LocalFolder(remote)
                await #expect(
                    throws: RemoteError.notASubfolder(folder.address, name: ".trash"),
                    "\(number), \(target ?? "a file")"
                ) { try await reach(folder) }
                #expect(try sandbox.contents() == before, "\(number), \(target ?? "a file")")
            }
        }
    }

    @Test("A folder does not list links and pipes, and escapes names that are not UTF-8")
    func listsFilesOnly() async throws {
        try sandbox.write("x", to: "remote/a.zip")
        try sandbox.link("remote/link.zip", to: "a.zip")
        try Tool.check("mkfifo", [sandbox.path("remote/pipe.zip").string])
        let name = try RelativePath(validating: [0xFF]).name
        _ = try Directory.open(remote).createFile(name)
        let listed = try await LocalFolder(remote).list()
        #expect(listed.map(\.name).sorted() == ["\\xFF", "a.zip"])
        for file in listed {
            let location = try #require(file.location)
            #expect(try FileInfo(of: location).size == file.size)
        }
    }
}

@Suite("RcloneFolder", .enabled(if: Tool.isInstalled("rclone")))
struct RcloneFolderTests {
    @Test("An rclone folder's address is the text that `--remote` takes")
    func address() {
        #expect(RcloneFolder("box:Apps").address == "rclone:box:Apps")
        #expect(RcloneFolder("box:").subfolder("a").address == "rclone:box:a")
    }

    @Test("An error names a remote that rclone does not know")
    func unknownRemote() async throws {
        let folder = RcloneFolder("no-such-remote-\(UInt64.random(in: 0 ... .max)):")
        await #expect(throws: RemoteError.noRemote(folder.address)) { try await folder.list() }
    }

    @Test("A cleanup removes only what killed uploads left a day ago")
    func oldPartials() async throws {
        let sandbox = try Sandbox()
        let remote = try sandbox.directory("Remote")
        let folder = RcloneFolder(remote.string)
        let old = PartialName.make()
        let recent = PartialName.make()
        let others = [recent, "below/\(old)", "\(old).zip", "My Stores.zip"]
        for name in [old] + others {
            try sandbox.write("x", to: "Remote/\(name)")
            guard name != recent else { continue }
            let file = try File.open(remote.pushing(FilePath(name)))
            try file.setModified(file.info().modified - 25 * 3600 * 1_000_000_000)
        }
        #expect(try await folder.removeLeftovers().isEmpty)
        #expect(!sandbox.exists("Remote/\(old)"))
        for name in others { #expect(sandbox.exists("Remote/\(name)"), "\(name)") }
    }
}
