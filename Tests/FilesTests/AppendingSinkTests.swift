internal import Files
internal import SystemPackage
internal import Testing
internal import TestSupport

/// Each on a file that goes round the page cache, where the sandbox's file system lets it, and on
/// one that does not: /dev/shm is in memory.
@Suite("AppendingSink")
struct AppendingSinkTests {
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

    @Test("what is appended is in the file in its order, whatever the sizes", arguments: places)
    func order(_ place: FilePath?) throws {
        // Around a block, half of the buffer and all of it, each after all kinds of fill.
        let sizes = [1, 4095, 4096, 1_048_576, 1_500_000, 2_097_151, 2_097_152, 2_500_000]
        let file = try makeFile(in: place)
        let sink = AppendingSink(file)
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
        try sink.finish()
        #expect(try content(of: file) == expected)
        #expect(sink.position == Int64(expected.count))
    }
}
