@testable internal import Archives
internal import CLibzip
internal import Files
internal import Foundation
internal import SystemPackage
internal import TestSupport
internal import Testing

/// Checks that other programs read our archives; programs that are not installed are skipped.
@Suite("Archives in other programs")
struct ArchiveToolsTests {
    let sandbox: Sandbox
    let path: FilePath
    let samples: [Sample]

    init() throws {
        sandbox = try Sandbox()
        path = sandbox.path("a.zip")
        let text = Shape.text.bytes(Segment.size)
        let random = Shape.random.bytes(Segment.size)
        samples = [
            try Sample("folder", kind: .directory, mode: 0o750),
            try Sample("folder/empty"),
            try Sample("folder/short", Array("milk, eggs".utf8)),
            try Sample("folder/script", Array(text[..<3000]), mode: 0o755),
            try Sample("large, mixed", text + random + text),
            try Sample("large, random", random + Array(random.reversed())),
            try Sample("large, half", Shape.mixed.bytes(3 * Segment.size + 1)),
            try Sample("restless", Shape.text.bytes(9 * Segment.size)),
            try Sample("Überraschung 🥚", Array("oats".utf8)),
            try Sample("old", [1, 2, 3], modified: 86_400 * 1_000_000_000),
        ]
        let deferred = DeferredEntry(
            try Sample("deferred").attributes,
            compression: .default,
            in: sandbox.path
        )
        try deferred.append(text[..<70_000])
        try writeArchive(to: path) { writer in
            for sample in samples {
                if sample.attributes.path.description == "restless" {
                    // One file vanishes, and another changes while it is read and is written again.
                    try Self.giveUp(Sample("vanished", sample.bytes), in: writer)
                    try Self.giveUp(sample, in: writer)
                }
                #expect(try writer.add(sample))
            }
            try writer.add(deferred)
        }
    }

    /// Adds a file that vanishes when most of it has been read, so that some of it is in the archive.
    private static func giveUp(_ sample: Sample, in writer: ArchiveWriter) throws {
        var asked = 0
        let isAdded = try writer.add(sample) {
            asked += 1
            return asked < 9
        }
        #expect(!isAdded)
    }

    @Test(
        "unzip finds no fault in an archive and restores the same files",
        .enabled(if: Tool.isInstalled("unzip"))
    )
    func unzip() throws {
        try Tool.check("unzip", ["-tqq", path.string])
        try checkRestored { try Tool.check("unzip", ["-qq", path.string, "-d", $0.string]) }
    }

    @Test(
        "7z finds no fault in an archive and restores the same files",
        .enabled(if: Tool.isInstalled("7z"))
    )
    func sevenZip() throws {
        try Tool.check("7z", ["t", "-bd", path.string])
        try checkRestored { try Tool.check("7z", ["x", "-bd", "-o\($0.string)", path.string]) }
    }

    @Test("bsdtar restores the same files", .enabled(if: Tool.isInstalled("bsdtar")))
    func bsdtar() throws {
        try checkRestored { try Tool.check("bsdtar", ["-xf", path.string, "-C", $0.string]) }
    }

    /// Reads from a pipe, in which bsdtar sees no directory: neither modes, nor which entries were given up.
    @Test("bsdtar restores the same files from a pipe", .enabled(if: Tool.isInstalled("bsdtar")))
    func bsdtarStream() throws {
        try checkRestored(modes: false, seeking: false) {
            let command = "cat \"$0\" | bsdtar -xf - -C \"$1\""
            try Tool.check("/bin/sh", ["-c", command, path.string, $0.string])
        }
        // The part of an abandoned file that was written stays in the stream.
        let vanished = try sandbox.read("out/vanished")
        let text = Shape.text.bytes(9 * Segment.size)
        #expect(!vanished.isEmpty && vanished.count.isMultiple(of: Segment.size))
        let isBeginning = isSame(vanished, Array(text.prefix(vanished.count)))
        #expect(isBeginning)
    }

    @Test(
        "Python finds no fault in an archive and restores the same files",
        .enabled(if: Tool.isInstalled("python3"))
    )
    func python() throws {
        let program = """
            import sys, zipfile
            archive = zipfile.ZipFile(sys.argv[1])
            assert archive.testzip() is None
            archive.extractall(sys.argv[2])
            """
        try checkRestored(modes: false) {
            try Tool.check("python3", ["-c", program, path.string, $0.string])
        }
    }

    @Test("libzip accepts an archive when it checks for consistency")
    func libzip() throws {
        var code: CInt = 0
        let archive = path.withPlatformString { zip_open($0, ZIP_RDONLY | ZIP_CHECKCONS, &code) }
        try #require(archive != nil, "error \(code)")
        defer { zip_discard(archive) }
        #expect(zip_get_num_entries(archive, 0) == Int64(samples.count + 1))
        for (index, sample) in samples.enumerated() {
            var bytes = [UInt8](repeating: 0, count: sample.bytes.count + 1)
            let entry = try #require(zip_fopen_index(archive, UInt64(index), 0))
            defer { zip_fclose(entry) }
            // libzip checks the CRC-32 at the end.
            let count = zip_fread(entry, &bytes, UInt64(bytes.count))
            let isWhole = count >= 0 && isSame(Array(bytes.prefix(Int(count))), sample.bytes)
            #expect(isWhole, "\(sample.attributes.path)")
        }
    }

    /// Restores with a program, and compares bytes and modes.
    private func checkRestored(
        modes: Bool = true,
        seeking: Bool = true,
        _ restore: (FilePath) throws -> Void
    ) throws {
        try restore(try sandbox.directory("out"))
        let hasVanished = sandbox.exists("out/vanished")
        #expect(hasVanished == !seeking)
        for sample in samples where sample.attributes.kind == .file {
            let name = "out/\(sample.attributes.path)"
            let isWhole = isSame(try sandbox.read(name), sample.bytes)
            #expect(isWhole, "\(name)")
            let info = try FileInfo(of: sandbox.path(name))
            if modes { #expect(info.mode == sample.attributes.mode) }
        }
        let deferred = try sandbox.read("out/deferred")
        #expect(deferred.count == 70_000)
    }
}

@Suite("Archives beyond the limits of the old format")
struct Zip64Tests {
    let sandbox: Sandbox
    let path: FilePath

    init() throws {
        sandbox = try Sandbox()
        path = sandbox.path("a.zip")
    }

    @Test("All entries are there if they are more than the old format can count")
    func manyEntries() throws {
        let count = 65_535
        try writeArchive(to: path, compression: .none) { writer in
            for number in 0..<count {
                try writer.add(
                    EntryAttributes(
                        path: RelativePath(name: ("f" as FileName).appending(String(number))),
                        kind: .file,
                        mode: 0o600,
                        modified: 0
                    )
                )
            }
        }
        let reader = try ArchiveReader.openWithoutChecks(path)
        #expect(reader.count == count)
        #expect(try reader.entry(at: count - 1).attributes.path.description == "f\(count - 1)")
        let file = try File.open(path)
        let locator = try file.readExactly(count: 4, at: file.info().size - 22 - 20)
        #expect(locator.uint32(at: 0) == ZipRecords.zip64LocatorSignature)
        guard Tool.isInstalled("python3") else { return }
        let program = "import sys, zipfile; print(len(zipfile.ZipFile(sys.argv[1]).infolist()))"
        #expect(try Tool.check("python3", ["-c", program, path.string]) == "\(count)\n")
    }

    /// Whether slow tests may run: they take minutes without optimization, and 9 GB of space.
    private static let isSlowAllowed =
        ProcessInfo.processInfo.environment["GROCERYDUDE_SLOW_TESTS"] == "1"

    @Test(
        "A file of more than 4 GiB is restored",
        .enabled(if: isSlowAllowed),
        arguments: [
            Compression.fast, .none,
        ]
    )
    func largeFile(compression: Compression) throws {
        let size = Int64(UInt32.max) + 5
        let source = try File.create(sandbox.path("sparse"))
        try source.truncate(to: size)
        try Array("end".utf8).withUnsafeBytes { try source.write($0, at: size - 3) }
        let last = try Sample("last", Array("milk".utf8))
        let written = try writeArchive(to: path, compression: compression) { writer in
            let attributes = try Sample("large").attributes
            #expect(try writer.add(attributes, size: size) { try source.read(into: $0, at: $1) })
            #expect(try writer.add(last))
        }
        let reader = try ArchiveReader.open(path)
        #expect(try reader.entry(at: 0).size == size)
        try extract(reader, into: sandbox.directory("out"), written: written)
        let restored = try File.open(sandbox.path("out/large"))
        #expect(try restored.info().size == size)
        #expect(try restored.readExactly(count: 4, at: size - 4) == [0] + Array("end".utf8))
        #expect(try sandbox.read("out/last") == last.bytes)
        let python = """
            import sys, zipfile
            assert zipfile.ZipFile(sys.argv[1]).testzip() is None
            """
        for command in [
            ["unzip", "-tqq", path.string], ["7z", "t", "-bd", path.string],
            ["bsdtar", "-xOf", path.string, "last"], ["python3", "-c", python, path.string],
            ["sh", "-c", "cat \"$0\" | bsdtar -tf -", path.string],
        ] where Tool.isInstalled(command[0]) {
            let result = try Tool.run(
                command[0],
                Array(command.dropFirst()),
                timeout: .seconds(900)
            )
            #expect(result.status == 0, "\(command)")
        }
    }
}
