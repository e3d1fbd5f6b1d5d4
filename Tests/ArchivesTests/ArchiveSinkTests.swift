@testable internal import Archives
internal import Files
internal import Testing
internal import TestSupport

@Suite("Archive sink")
struct ArchiveSinkTests {
    private let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
    }

    @Test("what is appended stands in the file in its order, whatever the sizes")
    func order() throws {
        // Around half of the buffer and all of it, each after all kinds of fill.
        let sizes = [1, 400_000, 524_287, 524_288, 600_000, 1_048_576, 1_500_000]
        let file = try File.create(sandbox.path("archive"))
        let sink = ArchiveSink(file)
        var expected: [UInt8] = []
        for first in sizes {
            for second in sizes {
                for size in [first, second] {
                    let part = [UInt8](repeating: UInt8(expected.count % 251), count: size)
                    #expect(sink.position == Int64(expected.count))
                    try sink.append(part)
                    expected += part
                }
            }
        }
        try sink.flush()
        #expect(try sandbox.read("archive") == expected)
    }

    @Test("bytes are patched where they are, in the buffer and in the file")
    func patch() throws {
        let file = try File.create(sandbox.path("archive"))
        let sink = ArchiveSink(file)
        try sink.append([1, 2, 3, 4])
        try sink.patch([20, 30], at: 1)
        try sink.append([UInt8](repeating: 5, count: 600_000))
        try sink.append([6, 7])
        try sink.patch([40], at: 3)
        try sink.patch([70], at: 600_005)
        try sink.flush()
        #expect(
            try sandbox.read("archive")
                == [1, 20, 30, 40] + [UInt8](repeating: 5, count: 600_000) + [6, 70]
        )
    }

    @Test("what is taken back is followed by what comes next")
    func truncate() throws {
        let file = try File.create(sandbox.path("archive"))
        let sink = ArchiveSink(file)
        try sink.append([UInt8](repeating: 1, count: 700_000))
        try sink.append([2, 3])
        try sink.truncate(to: 10)
        try sink.append([4])
        try sink.flush()
        #expect(try sandbox.read("archive") == [UInt8](repeating: 1, count: 10) + [4])
    }
}
