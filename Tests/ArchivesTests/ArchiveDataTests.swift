@testable internal import Archives
internal import Files
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("ArchiveReader: data")
struct ArchiveDataTests {
    let sandbox: Sandbox
    let path: FilePath

    init() throws {
        sandbox = try Sandbox()
        path = sandbox.path("a.zip")
    }

    private func open(_ entries: CraftedZip.Entry...) throws -> ArchiveReader {
        try sandbox.write(CraftedZip(entries).bytes(), to: "a.zip")
        return try ArchiveReader.open(path)
    }

    @Test("Wrong sizes and checksums are found when the data is read, stored or deflated")
    func lies() throws {
        let bytes = Shape.text.bytes(3000)
        for good in [CraftedZip.Entry(Array("a".utf8), bytes), .init(deflated: "a", bytes)] {
            #expect(try isSame(read(good), bytes))
            for change in [
                { $0.size += 1 }, { $0.size -= 1 }, { $0.size = 0 }, { $0.size = .max },
                { $0.compressedSize -= 1 }, { $0.compressedSize = 0 },
                { $0.checksum ^= 1 }, { $0.method = 8 - $0.method }, { $0.localName = [0x62] },
                { $0.localName = [0x61, 0x61] },
            ] as [(inout CraftedZip.Entry) -> Void] {
                var entry = good
                change(&entry)
                #expect(throws: ArchiveError.self) { try read(entry) }
            }
        }
    }

    @Test("Bytes after the end of deflated data are refused", arguments: [1, 8, 9, 300_000])
    func trailingBytes(count: Int) throws {
        var entry = CraftedZip.Entry(deflated: "a", Shape.text.bytes(3000))
        entry.data += [UInt8](repeating: 0, count: count)
        entry.compressedSize = UInt32(entry.data.count)
        #expect(throws: ArchiveError.self) { try read(entry) }
    }

    @Test("Sizes after the data, as written by a program that cannot seek, are accepted")
    func dataDescriptors() throws {
        var first = CraftedZip.Entry(deflated: "a", Shape.text.bytes(3000))
        first.flags = 1 << 3
        first.descriptor = [0x50, 0x4B, 7, 8] + [UInt8](repeating: 0, count: 12)
        let reader = try open(first, .init("b", "eggs"))
        #expect(try isSame(reader.bytes(of: reader.entry(at: 0)), Shape.text.bytes(3000)))
        #expect(try reader.bytes(of: reader.entry(at: 1)) == Array("eggs".utf8))
    }

    @Test("An encrypted entry is reported as encrypted")
    func encrypted() throws {
        var entry = CraftedZip.Entry("secret", "milk")
        entry.flags = 1
        let reader = try open(entry)
        #expect(throws: ArchiveError.encrypted(path, entry: "secret")) {
            try reader.bytes(of: reader.entry(at: 0))
        }
    }

    @Test("An unknown compression method is named in the error")
    func unknownMethod() throws {
        var entry = CraftedZip.Entry("a", "milk")
        entry.method = 97
        let reader = try open(entry)
        #expect {
            try reader.bytes(of: reader.entry(at: 0))
        } throws: {
            guard case ArchiveError.unsupported(_, "a", _) = $0 else { return false }
            return true
        }
    }

    @Test(
        "Data that another program compressed with bzip2 is read",
        .enabled(if: Tool.isInstalled("python3"))
    )
    func bzip2() throws {
        let program = """
            import sys, zipfile
            with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_BZIP2) as archive:
                archive.writestr("first", "milk " * 100_000)
                archive.writestr("second", "")
            """
        try Tool.check("python3", ["-c", program, path.string])
        let reader = try ArchiveReader.open(path)
        let expected = [UInt8]("milk ".utf8)
        let bytes = try reader.bytes(of: reader.entry(at: 0))
        #expect(bytes.count == 500_000)
        #expect(bytes[..<5].elementsEqual(expected) && bytes[499_995...].elementsEqual(expected))
        #expect(try reader.bytes(of: reader.entry(at: 1)).isEmpty)
        var damaged = try sandbox.read("a.zip")
        // A byte in the checksum of the first block.
        damaged[46] ^= 0x10
        try sandbox.write(damaged, to: "a.zip")
        #expect(throws: ArchiveError.self) {
            try ArchiveReader.open(path).samples()
        }
    }

    @Test("Reading ends as soon as the caller has enough, and then nothing is verified")
    func endsEarly() throws {
        var entry = CraftedZip.Entry(Array("a".utf8), Shape.random.bytes(1 << 20))
        entry.checksum ^= 1
        let reader = try open(entry)
        var parts = 0
        try reader.read(reader.entry(at: 0)) { _ in
            parts += 1
            return false
        }
        #expect(parts == 1)
    }

    private func read(_ entry: CraftedZip.Entry) throws -> [UInt8] {
        let reader = try open(entry)
        return try reader.bytes(of: reader.entry(at: 0))
    }
}
