@testable internal import Archives
internal import Files
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("ArchiveExtractor")
struct ArchiveExtractorTests {
    let sandbox: Sandbox
    let path: FilePath

    init() throws {
        sandbox = try Sandbox()
        path = sandbox.path("a.zip")
        try sandbox.directory("out")
    }

    @Test(
        "Extraction restores bytes, modes, times and links, with a manifest and without",
        arguments: [false, true],
        [Compression.default, .none]
    )
    func restores(hasTables: Bool, compression: Compression) throws {
        let nano: Int64 = hasTables ? 123_456_789 : 0
        let time = 1_600_000_000_000_000_000 + nano
        let samples = [
            try Sample("d", kind: .directory, mode: 0o555, modified: time),
            try Sample("d/e", kind: .directory, mode: 0o711, modified: time + 2_000_000_000),
            try Sample("d/e/large", Shape.mixed.bytes(3 << 20 | 5), mode: 0o400, modified: time),
            try Sample("d/link", Array("e/large".utf8), kind: .link, mode: 0o777, modified: time),
            try Sample("d/small", Shape.text.bytes(900), mode: 0o4755, modified: time),
            try Sample("dangling", [0xFF, 0x2F], kind: .link, mode: 0o777, modified: time),
            try Sample("empty", mode: 0o600, modified: time),
            try Sample("random", Shape.random.bytes(2 << 20), mode: 0o640, modified: -nano),
            try Sample("without/a/directory", [1], modified: time),
        ]
        let written = try writeArchive(to: path, compression: compression, samples)
        var progress: Int64 = 0
        try extract(
            ArchiveReader.open(path),
            into: sandbox.path("out"),
            written: hasTables ? written : [],
            syncing: compression == .none ? .each : .never
        ) { progress += $0 }
        for sample in samples {
            let info = try FileInfo(of: sample.attributes.path.below(sandbox.path("out")))
            #expect(info.modified == sample.attributes.modified, "\(sample.attributes.path)")
            if sample.attributes.kind != .link {
                #expect(info.mode == sample.attributes.mode, "\(sample.attributes.path)")
            }
            if sample.attributes.kind == .file {
                let isWhole = isSame(
                    try sandbox.read("out/\(sample.attributes.path)"),
                    sample.bytes
                )
                #expect(isWhole, "\(sample.attributes.path)")
            }
        }
        let directory = try Directory.open(sandbox.path("out"))
        #expect(try directory.linkTarget("dangling") == [0xFF, 0x2F])
        let files = samples.filter { $0.attributes.kind == .file }
        #expect(progress == files.reduce(0) { $0 + Int64($1.bytes.count) })
    }

    /// Checks the mode of a directory that may not be entered; root may enter every directory, so only other
    /// users can see a failure.
    @Test("A directory that may not be entered gets its mode after its content")
    func unenterable() throws {
        let time: Int64 = 1_600_000_000_000_000_000
        let samples = [
            try Sample("a", kind: .directory, mode: 0, modified: time),
            try Sample("a/b", kind: .directory, mode: 0, modified: time),
            try Sample("a/b/c", [1], mode: 0, modified: time),
        ]
        try writeArchive(to: path, samples)
        try extract(ArchiveReader.open(path), into: sandbox.path("out"))
        for sample in samples {
            let path = sample.attributes.path.below(sandbox.path("out"))
            let info = try FileInfo(of: path)
            #expect(info.mode == 0)
            #expect(info.modified == time)
            try Tool.check("chmod", ["700", path.string])
        }
    }

    @Test("Many small files are restored, each of them once")
    func manyFiles() throws {
        let samples = try (0..<700).map { number in
            try Sample("\(number % 7)/\(number)", Array("\(number)".utf8))
        }
        let written = try writeArchive(to: path, samples)
        try extract(ArchiveReader.open(path), into: sandbox.path("out"), written: written)
        for sample in samples {
            #expect(try sandbox.read("out/\(sample.attributes.path)") == sample.bytes)
        }
        #expect(try sandbox.contents(of: "out").items.count == 707)
    }

    @Test("Verifying writes nothing and finds damage")
    func verifies() throws {
        let samples = [
            try Sample("d", kind: .directory), try Sample("d/small", Shape.text.bytes(900)),
            try Sample("large", Shape.random.bytes(2 << 20)),
            try Sample("link", [0x61], kind: .link),
        ]
        let written = try writeArchive(to: path, samples)
        let before = try sandbox.contents()
        for tables in [written, []] {
            try extract(ArchiveReader.open(path), into: nil, written: tables)
        }
        #expect(try sandbox.contents() == before)
        let reader = try ArchiveReader.open(path)
        for index in 1..<reader.count {
            let entry = try reader.entry(at: index)
            var archive = try sandbox.read("a.zip")
            // The header of a stored block has unused bits; this segment is not a stored block.
            archive[Int(try reader.dataOffset(entry) + entry.compressedSize * 2 / 3)] ^= 0x40
            try sandbox.write(archive, to: "damaged.zip")
            for tables in [written, []] {
                #expect(throws: ArchiveError.self, "\(entry.attributes.path)") {
                    try extract(
                        ArchiveReader.open(sandbox.path("damaged.zip")),
                        into: nil,
                        written: tables
                    )
                }
            }
        }
    }

    @Test(
        "A wrong table of segments is refused",
        arguments: ["large", "small", "empty", "stored"]
    )
    func lyingTables(name: String) throws {
        let samples = [
            try Sample("large", Shape.mixed.bytes(3 << 20)),
            try Sample("small", Shape.text.bytes(900)), try Sample("empty"),
            try Sample("stored", Shape.random.bytes(2 << 20 | 1)),
        ]
        let written = try writeArchive(to: path, samples)
        let reader = try ArchiveReader.open(path)
        try extract(reader, into: nil, written: written)
        let other = SegmentRecord(digest: [9].withUnsafeBytes { Digest(of: $0) }, length: 9)
        // Each of these edits is tried if it changes the table.
        for (label, change) in [
            ("one more", { $0.append(other) }),
            ("one more of nothing", { $0.append(SegmentRecord(digest: other.digest, length: 0)) }),
            ("one less", { _ = $0.popLast() }),
            ("other digest", { $0.changeFirst { $0.digest = other.digest } }),
            ("other last digest", { $0.changeLast { $0.digest = other.digest } }),
            ("longer", { $0.changeFirst { $0.length += 1 } }),
            ("shorter", { $0.changeFirst { $0.length -= 1 } }),
            ("negative", { $0.changeFirst { $0.length = -1 } }),
            ("huge", { $0.changeFirst { $0.length = .max } }),
            (
                "moved border",
                {
                    guard $0.count > 1 else { return }
                    $0.changeFirst { $0.length += 1 }
                    $0.changeLast { $0.length -= 1 }
                }
            ),
            ("other order", { $0.reverse() }),
        ] as [(String, (inout [SegmentRecord]) -> Void)] {
            var lie = written
            guard let index = lie.firstIndex(where: { $0.attributes.path.description == name })
            else { continue }
            change(&lie[index].segments)
            guard lie[index].segments != written[index].segments else { continue }
            for target in [nil, try sandbox.directory("out-\(label)")] {
                #expect(throws: ArchiveError.self, "\(label)") {
                    try extract(reader, into: target, written: lie)
                }
            }
        }
    }

    @Test("A table for an entry of an impossible size is refused")
    func impossibleSize() throws {
        var entry = CraftedZip.Entry("a", "milk")
        entry.size = .max
        entry.centralExtra = wideExtra(UInt64(Int64.max))
        try sandbox.write(CraftedZip([entry]).bytes(), to: "a.zip")
        let reader = try ArchiveReader.open(path)
        let item = try ArchiveItem(
            entry: reader.entry(at: 0),
            attributes: reader.entry(at: 0).attributes,
            segments: [
                SegmentRecord(digest: [9].withUnsafeBytes { Digest(of: $0) }, length: 4)
            ]
        )
        let extractor = ArchiveExtractor(into: nil, syncing: .never, threads: 1) { _ in }
        defer { extractor.close() }
        #expect(throws: ArchiveError.self) { try extractor.extract(item) }
    }

    @Test("An error that `progressed` throws ends the restore")
    func cancels() throws {
        struct Cancelled: Error {}
        let samples = try (0..<20).map { try Sample("\($0)", Shape.random.bytes(2 << 20)) }
        let written = try writeArchive(to: path, compression: .none, samples)
        var count = 0
        #expect(throws: Cancelled.self) {
            try extract(
                ArchiveReader.open(path),
                into: sandbox.path("out"),
                written: written,
                threads: 1
            ) { _ in
                count += 1
                if count == 3 { throw Cancelled() }
            }
        }
        #expect(count == 3)
        #expect(try sandbox.contents(of: "out", hashing: false).items.count < 20)
    }
}

extension [SegmentRecord] {
    fileprivate mutating func changeFirst(_ change: (inout SegmentRecord) -> Void) {
        if !isEmpty { change(&self[0]) }
    }

    fileprivate mutating func changeLast(_ change: (inout SegmentRecord) -> Void) {
        if let last = indices.last { change(&self[last]) }
    }
}
