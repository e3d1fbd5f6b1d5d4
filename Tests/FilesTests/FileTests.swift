internal import Files
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("File")
struct FileTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
    }

    @Test("what is written at an offset is read there, and the gap is zeros")
    func writesAndReads() throws {
        let file = try File.create(sandbox.path("a"))
        try write("milk", to: file, at: 6)
        try write("eggs", to: file, at: 0)
        #expect(try file.readExactly(count: 10, at: 0) == Array("eggs\0\0milk".utf8))
        #expect(try sandbox.read("a") == Array("eggs\0\0milk".utf8))
    }

    @Test("a read at the end of the file is short, and behind it is empty")
    func shortReads() throws {
        let file = try File.open(sandbox.write("eggs", to: "a"))
        var buffer = [UInt8](repeating: 0xEE, count: 6)
        #expect(try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: 1) } == 3)
        #expect(buffer == Array("ggs".utf8) + [0xEE, 0xEE, 0xEE])
        #expect(try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: 4) } == 0)
        #expect(try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: 1 << 40) } == 0)
    }

    @Test("an exact read of more than there is names the file")
    func exactReads() throws {
        let path = try sandbox.write("eggs", to: "a")
        let file = try File.open(path)
        #expect(try file.readExactly(count: 4, at: 0) == Array("eggs".utf8))
        #expect(try file.readExactly(count: 0, at: 9).isEmpty)
        #expect(throws: FileError.endedEarly(path)) { try file.readExactly(count: 4, at: 1) }
    }

    @Test("a whole file is read where it has no more bytes than it may, however many it claims")
    func contents() throws {
        let path = try sandbox.write("eggs", to: "a")
        #expect(try File.contents(of: path, limit: 4) == Array("eggs".utf8))
        #expect(throws: FileError.tooLong(path, limit: 3)) {
            try File.contents(of: path, limit: 3)
        }
        try sandbox.stretch(path, to: 3 << 40)
        #expect(throws: FileError.tooLong(path, limit: 1 << 20)) {
            try File.contents(of: path, limit: 1 << 20)
        }
        #expect(try File.contents(of: sandbox.write("", to: "b"), limit: 0) == [])
    }

    @Test("a new file has mode 0600 and never replaces what is there")
    func creates() throws {
        let path = sandbox.path("a")
        #expect(try File.create(path).info().mode == 0o600)
        #expect(throws: FileError.exists(path)) { try File.create(path) }
        try sandbox.link("dangling", to: "nowhere")
        #expect(throws: FileError.exists(sandbox.path("dangling"))) {
            try File.create(sandbox.path("dangling"))
        }
        #expect(!sandbox.exists("nowhere"))
    }

    @Test("only a regular file opens, and a named pipe does not block")
    func opensFilesOnly() throws {
        let directory = try sandbox.directory("d")
        let pipe = sandbox.path("pipe")
        try Tool.check("mkfifo", [pipe.string])
        #expect(throws: FileError.notA(.file, directory)) { try File.open(directory) }
        #expect(throws: FileError.notA(.file, pipe)) { try File.open(pipe) }
        let missing = sandbox.path("missing")
        #expect(throws: FileError.failed(.open, missing, .noSuchFileOrDirectory)) {
            try File.open(missing)
        }
    }

    @Test("a file that is open for reading refuses to be written, naming itself")
    func readOnly() throws {
        let path = try sandbox.write("eggs", to: "a")
        let file = try File.open(path)
        #expect(throws: FileError.failed(.write, path, .badFileDescriptor)) {
            try write("milk", to: file, at: 0)
        }
        #expect(throws: FileError.failed(.write, path, .invalidArgument)) {
            try file.truncate(to: 0)
        }
        #expect(try sandbox.read("a") == Array("eggs".utf8))
    }

    @Test("a file is cut and extended")
    func truncates() throws {
        let file = try File.create(sandbox.path("a"))
        try write("eggs", to: file, at: 0)
        try file.truncate(to: 2)
        try file.truncate(to: 3)
        #expect(try sandbox.read("a") == [0x65, 0x67, 0])
        try file.sync()
        file.beginWriteback(from: 0, length: 3)
    }

    @Test(
        "times keep their nanoseconds, before 1970 too",
        arguments: [0, 1, -1, 1_700_000_000_123_456_789, -1_500_000_000, 4_400_000_000_000_000_001]
    )
    func times(nanoseconds: Int64) throws {
        let file = try File.create(sandbox.path("a"))
        try file.setModified(nanoseconds)
        #expect(try file.info().modified == nanoseconds)
    }

    @Test("permission bits are set as they are given", arguments: [0o777, 0o000, 0o4711, 0o644])
    func modes(mode: UInt16) throws {
        let file = try File.create(sandbox.path("a"))
        try file.setMode(mode)
        #expect(try file.info().mode == mode)
    }

    @Test(
        "a copy has the same bytes, and never replaces what is there",
        arguments: [0, 1, 1 << 20, (1 << 20) + 1]
    )
    func copies(size: Int) throws {
        var random = Pseudorandom(seed: 1)
        let bytes = random.bytes(size)
        let file = try File.open(sandbox.write(bytes, to: "a"))
        try file.copy(to: sandbox.path("b"), syncing: size == 1)
        #expect(try sandbox.read("b") == bytes)
        #expect(throws: FileError.exists(sandbox.path("b"))) {
            try file.copy(to: sandbox.path("b"), syncing: false)
        }
    }

    @Test("a file's identity stays when it is renamed, and is another for another file")
    func identity() throws {
        let file = try File.open(sandbox.write("a", to: "a"))
        let other = try File.open(sandbox.write("a", to: "b"))
        try LocalFileSystem().move(sandbox.path("a"), to: sandbox.path("c"))
        #expect(try FileInfo(of: sandbox.path("c")).identity == file.info().identity)
        #expect(try file.info().identity != other.info().identity)
    }

    private func write(_ text: String, to file: File, at offset: Int64) throws {
        try Array(text.utf8).withUnsafeBytes { try file.write($0, at: offset) }
    }
}
