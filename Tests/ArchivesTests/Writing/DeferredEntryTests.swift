@testable internal import Archives
internal import Files
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("DeferredEntry")
struct DeferredEntryTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
    }

    @Test(
        "Content that is made in pieces is read back whole",
        arguments: Compression.allCases,
        [0, 1, 1000, Segment.size / 4, Segment.size / 2, Segment.size + 3]
    )
    func roundTrip(compression: Compression, size: Int) throws {
        let path = sandbox.path("a.zip")
        var expected: [Sample] = []
        try writeArchive(to: path, compression: compression) { writer in
            for shape in Shape.allCases {
                let sample = try Sample("\(shape)", shape.bytes(size))
                let deferred = DeferredEntry(
                    sample.attributes,
                    compression: compression,
                    in: sandbox.path
                )
                for start in stride(from: 0, to: size, by: 10_007) {
                    try deferred.append(sample.bytes[start..<min(size, start + 10_007)])
                }
                let other = try Sample("before \(shape)", Array("eggs".utf8))
                #expect(try writer.add(other))
                try writer.add(deferred)
                expected += [other, sample]
            }
            let last = try Sample("last", Array("milk".utf8))
            #expect(try writer.add(last))
            expected.append(last)
        }
        #expect(try ArchiveReader.open(path).samples() == expected)
    }
}
