@testable internal import Archives
internal import Files
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("ArchiveWriter: files that other threads open")
struct WaitingFileTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        try sandbox.directory("files")
    }

    private func walked() throws -> [WalkedFile] {
        var files: [WalkedFile] = []
        try Directory.open(sandbox.path("files")).walk(failed: { throw $1 }) {
            files.append($0)
            return .descend
        }
        return files
    }

    /// Writes an archive of files in the order of a walk, and returns the entries in it and the refused files.
    private func write(
        _ files: [WalkedFile],
        accepts: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool = { _ in true }
    ) throws -> (samples: [Sample], refused: [String]) {
        let path = sandbox.path("a.zip")
        var told: [EntryAttributes] = []
        let writer = try ArchiveWriter(to: File.create(path), compression: .default, threads: 3) {
            told.append($0.attributes)
        }
        defer { writer.close() }
        for file in files {
            let attributes = EntryAttributes(
                path: file.path,
                kind: file.info.kind == .directory ? .directory : .file,
                mode: 0o600,
                modified: 1_700_000_000_000_000_000
            )
            if attributes.kind == .directory {
                try writer.add(attributes)
            } else {
                try writer.add(attributes, opening: file, accepts: accepts)
            }
        }
        try writer.drain()
        let refused = writer.takeRefused().map(\.path.description)
        #expect(writer.takeRefused().isEmpty)
        _ = try writer.finish()
        let samples = try ArchiveReader.open(path).samples()
        #expect(told == samples.map(\.attributes))
        return (samples, refused)
    }

    @Test("Waiting files are added unchanged, in order, up to the size of a segment")
    func all() throws {
        for number in 0..<600 {
            let bytes = Shape.allCases[number % 4].bytes(number * 31 % 5_000)
            try sandbox.directory("files/\(number % 40)")
            try sandbox.write(bytes, to: "files/\(number % 40)/\(number)")
        }
        try sandbox.write(Shape.mixed.bytes(Segment.size), to: "files/segment")
        let files = try walked()
        let (samples, refused) = try write(files)
        #expect(refused == [])
        #expect(samples.map(\.attributes.path) == files.map(\.path))
        for sample in samples where sample.attributes.kind == .file {
            let bytes = try sandbox.read("files/\(sample.attributes.path)")
            #expect(isSame(sample.bytes, bytes), "\(sample.attributes.path)")
        }
    }

    @Test("Waiting files are given back if they changed, vanished, or are not wanted")
    func refused() throws {
        let bad = ["a-other", "c-longer", "d-shorter", "e-gone", "f-link", "g-unwanted"]
        for name in bad + ["b", "h"] {
            try sandbox.write(Array("1234567890".utf8), to: "files/\(name)")
        }
        try sandbox.write(Array("X234567890".utf8), to: "files/g-unwanted")
        let files = try walked()
        let directory = try Directory.open(sandbox.path("files"))
        // Another file with the same size and times.
        let time = try directory.info("a-other").modified
        try sandbox.write(Array("1234567891".utf8), to: "files/other")
        try directory.setAttributes(of: "other", isLink: false, mode: 0o644, modified: time)
        try directory.removeFile("a-other")
        try LocalFileSystem().move(sandbox.path("files/other"), to: sandbox.path("files/a-other"))
        try sandbox.write(Array("1234567890+".utf8), to: "files/c-longer")
        try sandbox.write(Array("123456789".utf8), to: "files/d-shorter")
        for name: FileName in ["e-gone", "f-link"] { try directory.removeFile(name) }
        try directory.createLink("f-link", target: Array("b".utf8))
        let (samples, refused) = try write(files) { $0.first != UInt8(ascii: "X") }
        #expect(samples.map(\.attributes.path.description) == ["b", "h"])
        #expect(refused == bad)
    }
}
