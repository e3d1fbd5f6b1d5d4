@testable internal import Files
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("Directory")
struct DirectoryTests {
    let sandbox: Sandbox
    let directory: Directory

    init() throws {
        sandbox = try Sandbox()
        directory = try Directory.open(sandbox.path)
    }

    @Test("a symbolic link is never followed, whatever it leads to")
    func followsNoLink() throws {
        try sandbox.write("secret", to: "real/file")
        try sandbox.link("toDirectory", to: "real")
        try sandbox.link("toFile", to: "real/file")
        let toDirectory = sandbox.path("toDirectory")
        let toFile = sandbox.path("toFile")
        #expect(throws: FileError.failed(.open, toDirectory, .notDirectory)) {
            try directory.directory("toDirectory")
        }
        #expect(throws: FileError.failed(.open, toFile, .tooManySymbolicLinkLevels)) {
            try directory.file("toFile")
        }
        #expect(throws: FileError.exists(toFile)) { try directory.createFile("toFile") }
        #expect(throws: FileError.exists(toFile)) { try directory.createDirectory("toFile") }
        #expect(throws: FileError.exists(toFile)) {
            try directory.createLink("toFile", target: [1])
        }
        #expect(try directory.info("toFile").kind == .link)
        #expect(try directory.linkTarget("toFile") == Array("real/file".utf8))
    }

    @Test("attributes of a link are its own and not those of its target")
    func linkAttributes() throws {
        try sandbox.write("a", to: "file")
        try sandbox.link("link", to: "file")
        let before = try directory.info("file")
        try directory.setAttributes(of: "link", isLink: true, mode: 0, modified: 12_345)
        #expect(try directory.info("link").modified == 12_345)
        #expect(try directory.info("file") == before)
    }

    @Test("attributes of files, of directories and of itself are set")
    func attributes() throws {
        try sandbox.write("a", to: "file")
        try sandbox.directory("child")
        try directory.setAttributes(of: "file", isLink: false, mode: 0o640, modified: -1)
        try directory.setAttributes(of: "child", isLink: false, mode: 0o711, modified: 7)
        try directory.setAttributes(mode: 0o750, modified: 9)
        #expect(try directory.info("file").mode == 0o640)
        #expect(try directory.info("file").modified == -1)
        #expect(try directory.info("child").mode == 0o711)
        #expect(try directory.info("child").modified == 7)
        #expect(try FileInfo(of: sandbox.path).mode == 0o750)
        #expect(try directory.info().modified == 9)
    }

    @Test("names are of any bytes and come sorted by them")
    func names() throws {
        let names: [[UInt8]] = [
            [0xFF, 0xFE], [0x0A], Array("é".utf8), Array("B".utf8), [0x61, 0x80],
        ]
        for name in names { _ = try directory.createFile(FileName(unchecked: name)) }
        try directory.createDirectory("a")
        try directory.createLink("z", target: [0xFF])
        #expect(
            try directory.names().map(\.bytes) == [
                [0x0A], [0x42], [0x61], [0x61, 0x80], [0x7A], [0xC3, 0xA9], [0xFF, 0xFE],
            ]
        )
        #expect(try directory.linkTarget("z") == [0xFF])
    }

    @Test("names can be read again and again")
    func namesTwice() throws {
        #expect(try directory.names().isEmpty)
        try sandbox.write("a", to: "a")
        #expect(try directory.names() == ["a"])
        #expect(try directory.names() == ["a"])
    }

    @Test("new files and directories are for their owner only, whatever the umask")
    func privateModes() throws {
        #expect(try directory.createFile("file").info().mode == 0o600)
        try directory.createDirectory("child")
        #expect(try directory.info("child").mode == 0o700)
    }

    @Test("a name of another kind is refused for what it is")
    func kinds() throws {
        try sandbox.write("a", to: "file")
        try sandbox.directory("child")
        try Tool.check("mkfifo", [sandbox.path("pipe").string])
        #expect(throws: FileError.notA(.file, sandbox.path("child"))) {
            try directory.file("child")
        }
        #expect(throws: FileError.notA(.file, sandbox.path("pipe"))) { try directory.file("pipe") }
        #expect(throws: FileError.notA(.directory, sandbox.path("file"))) {
            try Directory.open(sandbox.path("file"))
        }
        #expect(try directory.info("pipe").kind == .special("a named pipe"))
        #expect(directory.contains("pipe"))
        #expect(!directory.contains("nothing"))
    }

    @Test("an open directory is still itself after it was moved away")
    func staysItself() throws {
        try sandbox.write("mine", to: "child/file")
        let child = try directory.directory("child")
        try LocalFileSystem().move(sandbox.path("child"), to: sandbox.path("moved"))
        try sandbox.write("other", to: "child/file")
        #expect(try child.file("file").readExactly(count: 4, at: 0) == Array("mine".utf8))
        _ = try child.createFile("new")
        #expect(sandbox.exists("moved/new"))
        #expect(!sandbox.exists("child/new"))
    }

    @Test("a tree that is deeper than the longest path can be made, read and removed")
    func deepTree() throws {
        let name = FileName(unchecked: [UInt8](repeating: UInt8(ascii: "d"), count: 255))
        var deepest = directory
        for _ in 0..<16 {
            try deepest.createDirectory(name)
            deepest = try deepest.directory(name)
        }
        _ = try deepest.createFile("bottom")
        var count = 0
        try directory.walk(failed: { throw $1 }) { _ in
            count += 1
            return .descend
        }
        #expect(count == 17)
        try LocalFileSystem().remove(RelativePath(name: name).below(sandbox.path))
        #expect(try directory.names().isEmpty)
    }

    @Test("files and empty directories are removed, and others refuse")
    func removes() throws {
        try sandbox.write("a", to: "full/file")
        try sandbox.link("link", to: "full")
        #expect(throws: FileError.failed(.remove, sandbox.path("full"), .directoryNotEmpty)) {
            try directory.removeDirectory("full")
        }
        try directory.removeFile("link")
        try directory.directory("full").removeFile("file")
        try directory.removeDirectory("full")
        #expect(try directory.names().isEmpty)
    }

    @Test("a directory is synced, and its file system where that can be")
    func syncs() throws {
        try sandbox.write("a", to: "a")
        try directory.sync()
        if Directory.canSyncFileSystem { try directory.syncFileSystem() }
    }

    @Test("the space that is left is a number that makes sense")
    func space() throws {
        #expect(try directory.availableSpace() > 0)
    }
}
