internal import Files
internal import Foundation
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("LocalFileSystem")
struct LocalFileSystemTests {
    let sandbox: Sandbox
    let fileSystem = LocalFileSystem()

    init() throws {
        sandbox = try Sandbox()
    }

    @Test("a directory is made once, with mode 0700")
    func createsDirectory() throws {
        let path = sandbox.path("d")
        try fileSystem.createDirectory(path)
        #expect(try FileInfo(of: path).mode == 0o700)
        #expect(throws: FileError.exists(path)) { try fileSystem.createDirectory(path) }
        let orphan = sandbox.path("missing/d")
        #expect(throws: FileError.failed(.create, orphan, .noSuchFileOrDirectory)) {
            try fileSystem.createDirectory(orphan)
        }
    }

    @Test("files, directories and links are moved")
    func moves() throws {
        try sandbox.write("a", to: "file")
        try sandbox.write("b", to: "directory/b")
        try sandbox.link("link", to: "nowhere")
        for name in ["file", "directory", "link"] {
            try fileSystem.move(sandbox.path(name), to: sandbox.path("new-\(name)"))
        }
        #expect(
            try sandbox.contents().paths == [
                "new-directory", "new-directory/b", "new-file", "new-link",
            ]
        )
    }

    @Test(
        "a move never replaces anything",
        arguments: ["file", "directory"],
        ["other-file", "empty", "dangling"]
    )
    func moveReplacesNothing(name: String, newName: String) throws {
        try sandbox.write("a", to: "file")
        try sandbox.write("b", to: "directory/b")
        try sandbox.write("c", to: "other-file")
        try sandbox.directory("empty")
        try sandbox.link("dangling", to: "nowhere")
        let before = try sandbox.contents()
        #expect(throws: FileError.exists(sandbox.path(newName))) {
            try fileSystem.move(sandbox.path(name), to: sandbox.path(newName))
        }
        #expect(try sandbox.contents() == before)
    }

    @Test("moving what is missing names it")
    func moveMissing() throws {
        let missing = sandbox.path("missing")
        #expect(throws: FileError.failed(.move, missing, .noSuchFileOrDirectory)) {
            try fileSystem.move(missing, to: sandbox.path("b"))
        }
    }

    @Test("a swap exchanges two full directories, which stay themselves")
    func swaps() throws {
        try sandbox.write("1", to: "a/one")
        try sandbox.write("2", to: "b/two")
        let first = try FileInfo(of: sandbox.path("a")).identity
        let second = try FileInfo(of: sandbox.path("b")).identity
        try #require(try fileSystem.swap(sandbox.path("a"), sandbox.path("b")))
        #expect(try sandbox.contents().paths == ["a", "a/two", "b", "b/one"])
        #expect(try FileInfo(of: sandbox.path("a")).identity == second)
        #expect(try FileInfo(of: sandbox.path("b")).identity == first)
    }

    @Test("a swap with what is missing changes nothing")
    func swapMissing() throws {
        try sandbox.write("1", to: "a/one")
        let before = try sandbox.contents()
        #expect(
            throws: FileError.failed(.exchange, sandbox.path("a"), .noSuchFileOrDirectory)
        ) {
            _ = try fileSystem.swap(sandbox.path("a"), sandbox.path("missing"))
        }
        #expect(try sandbox.contents() == before)
    }

    @Test("a whole tree is removed, and what its links lead to is not")
    func removesTree() throws {
        try sandbox.write("kept", to: "kept/file")
        try sandbox.write("1", to: "tree/a/b/c")
        try sandbox.link("tree/a/out", to: "../../kept")
        try sandbox.link("tree/dangling", to: "nowhere")
        try Tool.check("mkfifo", [sandbox.path("tree/pipe").string])
        try fileSystem.remove(sandbox.path("tree"))
        #expect(try sandbox.contents().paths == ["kept", "kept/file"])
    }

    @Test("a link to a directory is removed, and not the directory")
    func removesLink() throws {
        try sandbox.write("kept", to: "kept/file")
        try sandbox.link("link", to: "kept")
        try fileSystem.remove(sandbox.path("link"))
        #expect(try sandbox.contents().paths == ["kept", "kept/file"])
    }

    @Test("removing what is missing is no error")
    func removesMissing() throws {
        try fileSystem.remove(sandbox.path("missing"))
    }

    @Test(
        "a tree with directories that may not be listed is removed",
        arguments: ["tree", "tree/a"]
    )
    func removesUnlistable(locked: String) throws {
        try sandbox.write("1", to: "tree/a/b/c")
        try Directory.open(sandbox.path(locked)).setAttributes(mode: 0, modified: 0)
        try fileSystem.remove(sandbox.path("tree"))
        #expect(try sandbox.contents().paths.isEmpty)
    }

    @Test("a written file is whole, private and alone")
    func writes() throws {
        let path = sandbox.path("journal")
        try fileSystem.write(Array("first".utf8), to: path)
        #expect(try FileInfo(of: path).mode == 0o600)
        try fileSystem.write([], to: path)
        #expect(try sandbox.read("journal").isEmpty)
        try fileSystem.write(Array("third".utf8), to: path)
        #expect(try sandbox.read("journal") == Array("third".utf8))
        #expect(try sandbox.contents().paths == ["journal"])
    }

    @Test("a write replaces the name and not the file that has it")
    func writeIsAtomic() throws {
        let path = try sandbox.write("first", to: "journal")
        let reader = try File.open(path)
        try fileSystem.write(Array("other".utf8), to: path)
        #expect(try reader.readExactly(count: 5, at: 0) == Array("first".utf8))
    }

    @Test("a write that a crash cut off does not block the next")
    func writeAfterCrash() throws {
        try sandbox.write("half", to: ".journal.draft")
        try fileSystem.write(Array("whole".utf8), to: sandbox.path("journal"))
        #expect(try sandbox.contents().paths == ["journal"])
    }

    @Test("a write that fails leaves nothing of its own")
    func writeFails() throws {
        try sandbox.directory("journal")
        let before = try sandbox.contents().paths
        #expect(throws: FileError.self) {
            try fileSystem.write(Array("new".utf8), to: sandbox.path("journal"))
        }
        #expect(try sandbox.contents().paths == before)
        #expect(throws: FileError.self) {
            try fileSystem.write(Array("new".utf8), to: sandbox.path("missing/journal"))
        }
    }

    @Test("files and directories are synced, and what is missing is an error")
    func syncs() throws {
        try sandbox.write("a", to: "d/a")
        try fileSystem.sync(sandbox.path("d/a"))
        try fileSystem.sync(sandbox.path("d"))
        #expect(throws: FileError.self) { try fileSystem.sync(sandbox.path("missing")) }
    }

    @Test("a path is resolved of all its links")
    func resolves() throws {
        try sandbox.write("a", to: "real/a")
        try sandbox.link("link", to: "real")
        #expect(try sandbox.path("link/../link/a").resolved() == sandbox.path("real/a"))
        #expect(throws: FileError.self) { try sandbox.path("missing").resolved() }
    }

    @Test("what is not there is distinguished from what cannot be seen")
    func ifPresent() throws {
        try sandbox.write("a", to: "a")
        #expect(try FileInfo.ifPresent(sandbox.path("a"))?.kind == .file)
        #expect(try FileInfo.ifPresent(sandbox.path("b")) == nil)
        #expect(try FileInfo.ifPresent(sandbox.path("a/b")) == nil)
        let long = sandbox.path(String(repeating: "n", count: 300))
        // No file can have such a name.
        #expect(try FileInfo.ifPresent(long) == nil)
    }
}

@Suite("FaultyFileSystem")
struct FaultyFileSystemTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
    }

    @Test("it fails the call that was planned, and no other")
    func failsOne() throws {
        let fileSystem = FaultyFileSystem(failing: .callOf(.remove, 2), with: .noSpace)
        try fileSystem.createDirectory(sandbox.path("a"))
        try fileSystem.remove(sandbox.path("missing"))
        #expect(throws: FaultyFileSystem.FaultNotMet.self) { try fileSystem.assertFaultWasMet() }
        #expect(throws: FileError.failed(.remove, sandbox.path("a"), .noSpace)) {
            try fileSystem.remove(sandbox.path("a"))
        }
        #expect(sandbox.exists("a"))
        try fileSystem.assertFaultWasMet()
        try fileSystem.remove(sandbox.path("a"))
        #expect(!sandbox.exists("a"))
        #expect(fileSystem.count(.remove) == 3)
        #expect(fileSystem.calls.first == .init(.createDirectory, sandbox.path("a")))
    }

    @Test("a fault may come after the deed, and all calls after it may fail")
    func staysBroken() throws {
        let fileSystem = FaultyFileSystem(failing: .call(1), effect: .done, staysBroken: true)
        #expect(throws: FileError.self) { try fileSystem.createDirectory(sandbox.path("a")) }
        #expect(sandbox.exists("a"))
        #expect(throws: FileError.self) { try fileSystem.remove(sandbox.path("a")) }
        #expect(sandbox.exists("a"))
    }

    @Test("it can be a file system that cannot exchange names")
    func noSwap() throws {
        try sandbox.directory("a")
        try sandbox.directory("b")
        let fileSystem = FaultyFileSystem(isSwapSupported: false)
        #expect(try !fileSystem.swap(sandbox.path("a"), sandbox.path("b")))
    }
}

extension LocalFileSystemTests {
    @Test("makes the directories that are missing on a way, and syncs each into its parent")
    func directories() throws {
        let sandbox = try Sandbox()
        let fileSystem = FaultyFileSystem()
        try fileSystem.createDirectories(sandbox.path("a/b/c"))
        #expect(try FileInfo(of: sandbox.path("a/b")).mode == 0o700)
        #expect(
            fileSystem.calls.map(\.description) == [
                "createDirectory \(sandbox.path("a"))", "sync \(sandbox.path)",
                "createDirectory \(sandbox.path("a/b"))", "sync \(sandbox.path("a"))",
                "createDirectory \(sandbox.path("a/b/c"))", "sync \(sandbox.path("a/b"))",
            ]
        )
        try fileSystem.createDirectories(sandbox.path("a/b/c"))
        #expect(fileSystem.calls.count == 6)
        try sandbox.write("no directory", to: "file")
        #expect(throws: FileError.notA(.directory, sandbox.path("file"))) {
            try fileSystem.createDirectories(sandbox.path("file"))
        }
    }
}
