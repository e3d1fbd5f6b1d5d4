@testable internal import Archives
internal import Files
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("ArchiveWriter: files that do not hold still")
struct ArchiveWriterGiveUpTests {
    let sandbox: Sandbox
    let path: FilePath

    init() throws {
        sandbox = try Sandbox()
        path = sandbox.path("a.zip")
    }

    private struct ReadFailed: Error {}

    /// The sizes of the file that is given up; the largest is more than the writer ever holds in flight.
    static let sizes = [100, Segment.size, Segment.size + 1, 9 * Segment.size + 7]

    @Test("A file that changed before its first segment was read leaves no trace", arguments: sizes)
    func changedAtOnce(size: Int) throws {
        try check { writer in
            let sample = try Sample("given up", Shape.mixed.bytes(size))
            #expect(try !writer.add(sample) { false })
        }
    }

    @Test(
        "A file that changes while it is read is given up at the segment that changed",
        arguments: [1, 2, 6, 7, 9]
    )
    func changes(segments: Int) throws {
        let bytes = Shape.mixed.bytes(9 * Segment.size + 7)
        var asked = 0
        try check(bytes) { writer in
            let isAdded = try writer.add(Sample("given up", bytes)) {
                asked += 1
                return asked <= segments
            }
            #expect(!isAdded)
        }
        #expect(asked == segments + 1)
    }

    @Test("A file that shrinks while it is read is given up", arguments: sizes, [0, 1, 2, 8])
    func shrinks(size: Int, segments: Int) throws {
        let bytes = Shape.mixed.bytes(size)
        try check(bytes) { writer in
            let end = min(size - 1, segments * Segment.size)
            let isAdded = try writer.add(Sample("given up").attributes, size: Int64(size)) {
                buffer,
                offset in
                let part = bytes[..<end].dropFirst(Int(offset)).prefix(buffer.count)
                buffer.copyBytes(from: part)
                return part.count
            }
            #expect(!isAdded)
        }
    }

    @Test("A file that cannot be read is given up", arguments: sizes, [0, 8])
    func fails(size: Int, segment: Int) throws {
        let bytes = Shape.mixed.bytes(size)
        try check(bytes) { writer in
            let failing = Int64(min(segment, (size - 1) / Segment.size) * Segment.size)
            #expect(throws: ReadFailed.self) {
                _ = try writer.add(Sample("given up").attributes, size: Int64(size)) {
                    buffer,
                    offset in
                    if offset == failing { throw ReadFailed() }
                    buffer.copyBytes(from: bytes[Int(offset)...].prefix(buffer.count))
                    return buffer.count
                }
            }
        }
    }

    @Test("A file is given up if it cannot be checked for changes", arguments: sizes)
    func stillThrows(size: Int) throws {
        try check { writer in
            let sample = try Sample("given up", Shape.mixed.bytes(size))
            #expect(throws: ReadFailed.self) { try writer.add(sample) { throw ReadFailed() } }
        }
    }

    @Test("A file that is given up and written again is in the directory once, and whole")
    func writtenAgain() throws {
        let sample = try Sample("restless", Shape.mixed.bytes(9 * Segment.size + 7))
        let written = try writeArchive(to: path) { writer in
            for limit in [8, 9] {
                var asked = 0
                let isAdded = try writer.add(sample) {
                    asked += 1
                    return asked < limit
                }
                #expect(!isAdded)
            }
            #expect(try writer.add(sample))
        }
        #expect(written.count == 1)
        #expect(try ArchiveReader.open(path).samples() == [sample])
        // In a stream, the complete copy comes last.
        let stream = try StreamedZip(sandbox.read("a.zip")).entries
        #expect(stream.map(\.name) == ["restless", "restless", "restless"])
        let isWhole = isSame(stream.last?.content, sample.bytes)
        #expect(isWhole)
    }

    /// Gives an entry up between others, and compares with an archive that never had it.
    ///
    /// In a stream, the archives differ only by the beginning of the abandoned file.
    private func check(
        _ content: [UInt8] = [],
        _ giveUp: (ArchiveWriter) throws -> Void
    ) throws {
        let before = [
            try Sample("a", Shape.text.bytes(300)), try Sample("b", Shape.mixed.bytes(1 << 20 | 9)),
            try Sample("c", Shape.random.bytes(10)),
        ]
        let after = [try Sample("d", Shape.mixed.bytes(1 << 20 | 1)), try Sample("e", [1, 2])]
        let written = try writeArchive(to: path) { writer in
            for sample in before { #expect(try writer.add(sample)) }
            try giveUp(writer)
            for sample in after { #expect(try writer.add(sample)) }
        }
        #expect(written.map(\.attributes) == (before + after).map(\.attributes))
        try writeArchive(to: sandbox.path("expected.zip"), before + after)
        #expect(try ArchiveReader.open(path).samples() == before + after)
        var stream = try StreamedZip(sandbox.read("a.zip")).entries
        if let index = stream.firstIndex(where: { $0.name == "given up" }) {
            let given = stream.remove(at: index).content
            // With two threads, five segments are in flight when the next one is read: they are dropped.
            #expect(!given.isEmpty && given.count.isMultiple(of: Segment.size))
            #expect(given.count <= content.count - 5 * Segment.size)
            let isBeginning = isSame(given, Array(content.prefix(given.count)))
            #expect(isBeginning)
            #expect(try stream == StreamedZip(sandbox.read("expected.zip")).entries)
        } else {
            let isEqual = try isSame(sandbox.read("a.zip"), sandbox.read("expected.zip"))
            #expect(isEqual)
        }
    }
}
