@testable internal import Archives
@testable internal import Files
internal import Foundation
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("ArchiveWriter")
struct ArchiveWriterTests {
    let sandbox: Sandbox
    let path: FilePath

    init() throws {
        sandbox = try Sandbox()
        path = sandbox.path("a.zip")
    }

    private static let second: Int64 = 1_000_000_000

    private static let knownTimes: [(written: Int64, read: Int64)] = [
        (0, 0),
        (1, 0),
        (-1, -second),
        (-second, -second),
        (-second - 1, -2 * second),
        (1_700_000_000_999_999_999, 1_700_000_000 * second),
        (2_147_483_647_000_000_000, 2_147_483_647 * second),
        (-2_147_483_648 * second, -2_147_483_648 * second),
    ]

    @Test(
        "Reading returns what was written, byte for byte, in the same order",
        arguments: Compression.allCases
    )
    func roundTrip(compression: Compression) throws {
        var samples = [try Sample("empty"), try Sample("folder", kind: .directory, mode: 0o750)]
        for (number, size) in [1, 2, 100, 65_536, Segment.size, Segment.size + 1].enumerated() {
            for shape in Shape.allCases {
                samples.append(try Sample("folder/\(shape)-\(number)", shape.bytes(size)))
            }
        }
        samples.append(try Sample("folder/link", Array("../empty".utf8), kind: .link, mode: 0o777))
        let written = try writeArchive(
            to: path,
            compression: compression,
            threads: 3,
            samples
        )
        let reader = try ArchiveReader.open(path)
        #expect(try reader.samples() == samples)
        #expect(written.map(\.attributes) == samples.map(\.attributes))
        #expect(written.map(\.size) == samples.map { Int64($0.bytes.count) })
        for (index, entry) in written.enumerated() {
            #expect(entry.segments.reduce(0) { $0 + Int64($1.length) } == entry.compressedSize)
            #expect(try reader.entry(at: index).compressedSize == entry.compressedSize)
        }
    }

    @Test(
        "An archive never has two entries with one name",
        arguments: [EntryAttributes.Kind.file, .directory]
    )
    func twice(kind: EntryAttributes.Kind) throws {
        let samples = [
            try Sample("b", [1]), try Sample("folder/a", [2]), try Sample("b", kind: kind),
        ]
        #expect(throws: ArchiveError.addedTwice(entry: "b")) {
            try writeArchive(to: path, compression: .fast, threads: 2, samples)
        }
    }

    /// Writes data that shrinks to different sizes.
    ///
    /// Data that shrinks by half or less is written past the sink's buffer, and must follow the record that is
    /// still in it.
    @Test("Every ratio of compression keeps the order of bytes", arguments: [1, 3, 5, 7, 9])
    func ratios(tenths: Int) throws {
        var random = Pseudorandom(seed: 7)
        let bytes = (0..<3).flatMap { _ in
            random.bytes(Segment.size * tenths / 10)
                + [UInt8](repeating: 0, count: Segment.size - Segment.size * tenths / 10)
        }
        let samples = [
            try Sample("small", Array("eggs".utf8)), try Sample("large", bytes),
            try Sample("one", Array(bytes[..<Segment.size])), try Sample("last"),
        ]
        try writeArchive(to: path, samples)
        #expect(try ArchiveReader.open(path).samples() == samples)
    }

    @Test("The same entries make the same archive, whatever the number of threads")
    func reproducible() throws {
        let samples = try Shape.allCases.map { try Sample("\($0)", $0.bytes(3 << 20)) }
        try writeArchive(to: path, threads: 1, samples)
        try writeArchive(to: sandbox.path("b.zip"), threads: 4, samples)
        let isEqual = try isSame(sandbox.read("a.zip"), sandbox.read("b.zip"))
        #expect(isEqual)
    }

    @Test("Segment tables have the digest and the place of every segment")
    func segmentTables() throws {
        let bytes = Shape.text.bytes(2 * Segment.size + 5)
        let written = try writeArchive(to: path, [try Sample("a", bytes), try Sample("b")])
        let reader = try ArchiveReader.open(path)
        var offset = Int(try reader.dataOffset(try reader.entry(at: 0)))
        let archive = try sandbox.read("a.zip")
        try #require(written[0].segments.count == 3)
        for (index, segment) in written[0].segments.enumerated() {
            let part = bytes[(index * Segment.size)...].prefix(Segment.size)
            #expect(Array(part).withUnsafeBytes { Digest(of: $0) } == segment.digest)
            var out = [UInt8](repeating: 0, count: part.count)
            let isGood = out.withUnsafeMutableBytes { output in
                archive[offset..<(offset + segment.length)].withUnsafeBytes {
                    SegmentInflater().inflate($0, into: output, isLast: index == 2)
                }
            }
            let isWhole = isGood && isSame(out, Array(part))
            #expect(isWhole)
            offset += segment.length
        }
        #expect(written[1].segments.isEmpty)
    }

    @Test("An entry of one segment that does not shrink is stored, all others are deflated")
    func methods() throws {
        let random = Shape.random.bytes(Segment.size)
        let text = Shape.text.bytes(Segment.size)
        let samples = [
            try Sample("random", random), try Sample("random, large", random + random),
            try Sample("text", text), try Sample("random in the middle", text + random + text),
            try Sample("random first", random + text), try Sample("random last", text + random),
            try Sample("empty"), try Sample("one", [1]),
        ]
        let written = try writeArchive(to: path, samples)
        let reader = try ArchiveReader.open(path)
        let methods = try (0..<reader.count).map { try reader.entry(at: $0).record.method }
        #expect(methods == [0, 8, 8, 8, 8, 8, 0, 0])
        let flags = try (0..<reader.count).map { try reader.entry(at: $0).record.hasDescriptor }
        #expect(flags == [false, true, false, true, true, true, false, false])
        #expect(try reader.samples() == samples)
        // In a stream, there are 17 stored blocks.
        for (index, segment) in [(1, 0), (1, 1), (3, 1), (4, 0), (5, 1)] {
            #expect(written[index].segments[segment].length == Segment.size + 17 * 5)
        }
    }

    @Test(
        "Without compression all data is stored, in deflate's blocks if it has several segments"
    )
    func noCompression() throws {
        let samples = [
            try Sample("one", Shape.text.bytes(Segment.size)),
            try Sample("two", Shape.text.bytes(Segment.size + 1)),
        ]
        let written = try writeArchive(to: path, compression: .none, samples)
        #expect(written[0].compressedSize == 1_048_576)
        #expect(written[1].compressedSize == 1_048_576 + 17 * 5 + 1 + 5)
        #expect(try ArchiveReader.open(path).samples() == samples)
    }

    #if os(Linux)
    /// Writes to a file that is open for appending.
    ///
    /// In such a file every write goes to the end, whatever the offset (pwrite(2)), so bytes written twice or
    /// elsewhere would be there too.
    @Test("The writer writes only at the end of the file")
    func appendsOnly() throws {
        let deferred = try Sample("deferred", Shape.text.bytes(3 * Segment.size))
        let files = try ["a.zip", "b.zip"].map { try File.create(sandbox.path($0)) }
        let flags = fcntl(files[1].descriptor, F_GETFL)
        try #require(fcntl(files[1].descriptor, F_SETFL, flags | O_APPEND) == 0)
        for file in files {
            let writer = ArchiveWriter(to: file, compression: .fast, threads: 2) { _ in }
            defer { writer.close() }
            let entry = DeferredEntry(
                deferred.attributes,
                compression: .fast,
                in: sandbox.path
            )
            try entry.append(deferred.bytes)
            for shape in Shape.allCases {
                for size in [0, 100, Segment.size, 9 * Segment.size + 3] {
                    let sample = try Sample("\(shape)-\(size)", shape.bytes(size))
                    var asked = 0
                    let isAdded = try writer.add(sample) {
                        asked += 1
                        return asked < 9
                    }
                    #expect(isAdded == (size <= Segment.size))
                    if !isAdded { #expect(try writer.add(sample)) }
                }
            }
            try writer.add(entry)
            #expect(try writer.finish() == file.info().size)
        }
        let isEqual = try isSame(sandbox.read("a.zip"), sandbox.read("b.zip"))
        #expect(isEqual)
        #expect(try ArchiveReader.open(path).samples().last == deferred)
    }
    #endif

    @Test(
        "Permission bits are restored",
        arguments: [0o000, 0o600, 0o755, 0o777, 0o4755, 0o2755, 0o1777, 0o7777]
    )
    func modes(mode: UInt16) throws {
        let samples = [
            try Sample("file", [1], mode: mode),
            try Sample("folder", kind: .directory, mode: mode),
            try Sample("link", [1], kind: .link, mode: mode),
        ]
        try writeArchive(to: path, samples)
        #expect(try ArchiveReader.open(path).samples() == samples)
    }

    @Test(
        "Times from 1901 to 2038 are restored to the second, rounded down",
        arguments: knownTimes
    )
    func times(written: Int64, read: Int64) throws {
        try writeArchive(to: path, [try Sample("a", modified: written)])
        #expect(try ArchiveReader.open(path).entry(at: 0).attributes.modified == read)
    }

    @Test("A time after 2038 is restored to two seconds, and one out of range as the nearest")
    func farTimes() throws {
        // Midday in 2040: no time zone changes its clocks then.
        let future = 2_221_214_399 * Self.second
        try writeArchive(
            to: path,
            [
                try Sample("2040", modified: future), try Sample("2262", modified: .max),
                try Sample("1677", modified: .min),
            ]
        )
        let times = try ArchiveReader.open(path).samples().map(\.attributes.modified)
        #expect(times[0] == future - Self.second)
        // Dates in 2107 and 1980, in any time zone.
        #expect(abs(times[1] - 4_354_819_198 * Self.second) <= 86_400 * Self.second)
        #expect(abs(times[2] - 315_532_800 * Self.second) <= 86_400 * Self.second)
    }

    @Test("Names keep their bytes, and are marked as UTF-8 only if they are")
    func names() throws {
        let names: [[UInt8]] = [
            Array("Überraschung 🥚".utf8), [0x66, 0xFC, 0x72], Array("a\\b".utf8), [0x0A],
            [UInt8](repeating: 0x6E, count: 255), Array("deep/er/still".utf8),
        ]
        var samples: [Sample] = []
        for name in names {
            var sample = try Sample("x", name)
            sample.attributes.path = try RelativePath(validating: name)
            samples.append(sample)
        }
        try writeArchive(to: path, samples)
        let reader = try ArchiveReader.open(path)
        #expect(try reader.samples() == samples)
        let flags = try (0..<names.count).map { try reader.entry(at: $0).record.flags }
        #expect(flags == [0x800, 0, 0x800, 0x800, 0x800, 0x800])
    }

    @Test("An archive without entries is valid")
    func empty() throws {
        #expect(try writeArchive(to: path, []).isEmpty)
        #expect(try FileInfo(of: path).size == 22)
        #expect(try ArchiveReader.open(path).count == 0)
    }

    @Test("Draining returns all added entries, and the archive accepts more")
    func drains() throws {
        var written = 0
        let file = try File.create(path)
        let writer = ArchiveWriter(to: file, compression: .fast, threads: 1) { _ in written += 1 }
        defer { writer.close() }
        for name in ["a", "b"] {
            try writer.add(Sample(name).attributes, content: [1, 2, 3])
            #expect(written == 0)
        }
        try writer.drain()
        #expect(written == 2)
        try writer.add(Sample("c").attributes)
        _ = try writer.finish()
        #expect(try ArchiveReader.open(path).count == 3)
    }

    @Test("An error that `written` throws comes out of the writer")
    func writtenThrows() throws {
        struct Full: Error {}
        let writer = ArchiveWriter(to: try File.create(path), compression: .fast, threads: 1) { _ in
            throw Full()
        }
        defer { writer.close() }
        try writer.add(Sample("a").attributes, content: [1])
        #expect(throws: Full.self) { try writer.finish() }
    }
}
