@testable internal import Archives
internal import Files
internal import SystemPackage
internal import Testing
internal import TestSupport

/// Each on a file that goes round the page cache, where the sandbox's file system lets it, and on
/// one that does not: /dev/shm is in memory.
@Suite("Archive sink")
struct ArchiveSinkTests {
    private static let places = [FilePath?.none, "/dev/shm"].filter {
        $0.map { (try? Directory.open($0)) != nil } ?? true
    }

    private let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
    }

    /// A new file without a name for others, in the sandbox or in another place.
    private func makeFile(in place: FilePath?) throws -> File {
        guard let place else { return try File.create(sandbox.path("archive")) }
        let path = place.appending("grocerydude-test-\(UInt64.random(in: 0 ... .max))")
        defer { try? LocalFileSystem().remove(path) }
        return try File.create(path)
    }

    private func content(of file: File) throws -> [UInt8] {
        try file.readExactly(count: Int(file.info().size), at: 0)
    }

    @Test("what is appended stands in the file in its order, whatever the sizes", arguments: places)
    func order(_ place: FilePath?) throws {
        // Around a block, half of the buffer and all of it, each after all kinds of fill.
        let sizes = [1, 4095, 4096, 1_048_576, 1_500_000, 2_097_151, 2_097_152, 2_500_000]
        let file = try makeFile(in: place)
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
        #expect(try content(of: file) == expected)
    }

    @Test(
        "bytes are patched where they are: in the file, in the buffer, in both",
        arguments: places
    )
    func patch(_ place: FilePath?) throws {
        let file = try makeFile(in: place)
        let sink = ArchiveSink(file)
        var expected = [UInt8](repeating: 5, count: 2_100_000)
        try sink.append(expected)
        for (offset, bytes) in [
            (1, [20, 30]), (2_097_150, [1, 2, 3, 4]), (2_099_999, [7]), (2_097_152, [8]),
        ] as [(Int, [UInt8])] {
            try sink.patch(bytes, at: Int64(offset))
            expected.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
        }
        try sink.flush()
        try sink.patch([99], at: 2_099_998)
        expected[2_099_998] = 99
        try sink.append([6])
        try sink.flush()
        #expect(try content(of: file) == expected + [6])
    }

    @Test(
        "what is taken back, from the buffer or the file, is followed by what comes next",
        arguments: places,
        [10, 4096, 2_097_152, 2_097_153, 2_100_000]
    )
    func truncate(_ place: FilePath?, _ offset: Int) throws {
        let file = try makeFile(in: place)
        let sink = ArchiveSink(file)
        let start = (0..<2_100_000).map { UInt8(truncatingIfNeeded: $0 / 1000) }
        try sink.append(start)
        try sink.append([2, 3])
        try sink.truncate(to: Int64(offset))
        #expect(sink.position == Int64(offset))
        try sink.append([4])
        try sink.flush()
        #expect(try content(of: file) == start[..<offset] + [4])
    }
}
