@testable internal import Archives
internal import Files
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("ArchiveWriter: files that do not hold still")
struct ArchiveWriterTakeBackTests {
    let sandbox: Sandbox
    let path: FilePath

    init() throws {
        sandbox = try Sandbox()
        path = sandbox.path("a.zip")
    }

    private struct ReadFailed: Error {}

    /// The sizes of the file that is taken back; the largest is more than is ever in flight.
    static let sizes = [100, Segment.size, Segment.size + 1, 9 * Segment.size + 7]

    @Test("a file that changed while it was read is taken back without a trace", arguments: sizes)
    func notStill(size: Int) throws {
        try check { writer, before in
            let sample = try Sample("taken back", Shape.mixed.bytes(size))
            #expect(try !writer.add(sample) { false })
        }
    }

    @Test(
        "a file that shrinks while it is read is taken back without a trace",
        arguments: sizes,
        [0, 1, 2]
    )
    func shrinks(size: Int, segments: Int) throws {
        try check { writer, _ in
            let bytes = Shape.mixed.bytes(size)
            let end = min(size - 1, segments * Segment.size)
            let isAdded = try writer.add(Sample("gone").attributes, size: Int64(size)) {
                buffer,
                offset in
                let part = bytes[..<end].dropFirst(Int(offset)).prefix(buffer.count)
                buffer.copyBytes(from: part)
                return part.count
            }
            #expect(!isAdded)
        }
    }

    @Test("a file that cannot be read is taken back without a trace", arguments: sizes, [0, 8])
    func fails(size: Int, segment: Int) throws {
        try check { writer, _ in
            let failing = Int64(min(segment, (size - 1) / Segment.size) * Segment.size)
            #expect(throws: ReadFailed.self) {
                _ = try writer.add(Sample("failed").attributes, size: Int64(size)) {
                    buffer,
                    offset in
                    if offset == failing { throw ReadFailed() }
                    return buffer.count
                }
            }
        }
    }

    @Test("a question that cannot be answered takes the file back", arguments: sizes)
    func stillThrows(size: Int) throws {
        try check { writer, _ in
            let sample = try Sample("failed", Shape.mixed.bytes(size))
            #expect(throws: ReadFailed.self) { try writer.add(sample) { throw ReadFailed() } }
        }
    }

    /// Takes an entry back between others, and compares with an archive that never had it.
    private func check(_ takeBack: (ArchiveWriter, Int) throws -> Void) throws {
        let before = [
            try Sample("a", Shape.text.bytes(300)), try Sample("b", Shape.mixed.bytes(1 << 20 | 9)),
            try Sample("c", Shape.random.bytes(10)),
        ]
        let after = [try Sample("d", Shape.mixed.bytes(1 << 20 | 1)), try Sample("e", [1, 2])]
        let written = try writeArchive(to: path) { writer in
            for sample in before { #expect(try writer.add(sample)) }
            try takeBack(writer, before.count)
            for sample in after { #expect(try writer.add(sample)) }
        }
        #expect(written.count == before.count + after.count)
        try writeArchive(to: sandbox.path("expected.zip"), before + after)
        #expect(try ArchiveReader.open(path).samples() == before + after)
        let isEqual = try isSame(sandbox.read("a.zip"), sandbox.read("expected.zip"))
        #expect(isEqual)
    }
}
