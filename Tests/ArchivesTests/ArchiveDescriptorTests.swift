@testable internal import Archives
internal import Files
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("ArchiveReader: data descriptors and gaps in archives of ours")
struct ArchiveDescriptorTests {
    let sandbox: Sandbox
    let path: FilePath
    let mark: RelativePath
    let samples: [Sample]

    init() throws {
        sandbox = try Sandbox()
        path = sandbox.path("a.zip")
        mark = try RelativePath(".grocerydude/manifest.json")
        samples = [
            try Sample("a", Shape.zeros.bytes(Segment.size + 1)), try Sample("b", [1, 2, 3]),
            try Sample(mark.description, Array("{}".utf8)),
        ]
    }

    /// Replaces bytes of the archive, and reads all of it.
    private func read(_ archive: [UInt8]) throws -> [Sample] {
        try sandbox.write(archive, to: "changed.zip")
        let reader = try ArchiveReader.open(sandbox.path("changed.zip"), mark: .init(path: mark))
        #expect(reader.origin == .ours)
        return try reader.samples()
    }

    private func damaged(_ reason: String) -> ArchiveError {
        .damagedEntry(sandbox.path("changed.zip"), entry: "a", reason: reason)
    }

    @Test("Every flipped bit of a data descriptor is found")
    func flippedBits() throws {
        try writeArchive(to: path, samples)
        let archive = try sandbox.read("a.zip")
        #expect(try read(archive) == samples)
        let reader = try ArchiveReader.open(path, mark: .init(path: mark))
        let entry = try reader.entry(at: 0)
        #expect(entry.record.hasDescriptor)
        let start = Int(try reader.dataOffset(entry) + entry.compressedSize)
        for bit in 0..<(8 * DataDescriptor.length(isWide: false)) {
            var changed = archive
            changed[start + bit / 8] ^= 1 << (bit % 8)
            #expect(throws: damaged("its data descriptor contradicts the directory")) {
                try read(changed)
            }
        }
    }

    @Test("A record that denies the data descriptor is found if the other record has it")
    func flags() throws {
        try writeArchive(to: path, samples)
        let archive = try sandbox.read("a.zip")
        let end = archive.count - ZipRecords.endLength
        for flags in [6, Int(archive.uint32(at: end + 16)) + 8] {
            var changed = archive
            changed[flags] ^= UInt8(ZipRecords.descriptorFlag)
            #expect(throws: damaged("its local record contradicts the directory")) {
                try read(changed)
            }
        }
    }

    @Test(
        "A data descriptor that the directory or the next entry overlaps is found",
        arguments: [1, 4, 15, 16]
    )
    func cut(by count: Int) throws {
        // Whatever follows begins earlier: first the next entry, then the directory.
        for names in [["a", mark.description], [mark.description]] {
            let bytes = Shape.zeros.bytes(Segment.size + 1)
            let written = try names.map { try Sample($0, $0 == names[0] ? bytes : [1]) }
            try writeArchive(to: sandbox.path("\(names.count).zip"), written)
            let archive = try sandbox.read("\(names.count).zip")
            let reader = try ArchiveReader.open(
                sandbox.path("\(names.count).zip"),
                mark: .init(path: mark)
            )
            let entry = try reader.entry(at: 0)
            let end = Int(try reader.dataOffset(entry) + entry.compressedSize) + 16
            var changed = Array(archive[..<(end - count)] + archive[end...])
            let record = changed.count - ZipRecords.endLength
            let directory = Int(changed.uint32(at: record + 16)) - count
            changed.replaceSubrange(
                (record + 16)..<(record + 20),
                with: littleEndian(UInt32(directory))
            )
            if names.count == 2 {
                let place = directory + ZipRecords.centralLength + 1 + 9 + 42
                changed.replaceSubrange(
                    place..<(place + 4),
                    with: littleEndian(UInt32(end - count))
                )
            }
            try sandbox.write(changed, to: "changed.zip")
            #expect(throws: ArchiveError.self) {
                try ArchiveReader.open(sandbox.path("changed.zip"), mark: .init(path: mark))
                    .samples()
            }
        }
    }

    @Test("An archive with abandoned data is read as if that data were not there")
    func gaps() throws {
        let restless = try Sample("restless", Shape.mixed.bytes(9 * Segment.size))
        try writeArchive(to: path) { writer in
            #expect(try writer.add(samples[0]))
            var asked = 0
            let isAdded = try writer.add(restless) {
                asked += 1
                return asked < 9
            }
            #expect(!isAdded)
            for sample in samples[1...] { #expect(try writer.add(sample)) }
        }
        let archive = try sandbox.read("a.zip")
        #expect(try StreamedZip(archive).entries.count == 4)
        #expect(try read(archive) == samples)
    }

    @Test("An entry hidden in a gap is never read, under any name")
    func hidden() throws {
        let evil = CraftedZip([.init("e", "evil")]).bytes()
        let local = Array(evil[..<(ZipRecords.localLength + 1 + 4)])
        var zip = CraftedZip([.init("a", "milk"), .init(mark.description, "{}")])
        for index in zip.entries.indices {
            zip.entries[index].centralExtra = [0x55, 0x54, 5, 0, 1, 0, 0, 0, 0]
        }
        // After the first entry's data.
        zip.entries[0].descriptor = local
        let read = try read(zip.bytes())
        #expect(read.map(\.attributes.path.description) == ["a", mark.description])
        #expect(read[0].bytes == Array("milk".utf8))
        // The directory refers to it under another name.
        zip.entries[0].offset = UInt32(ZipRecords.localLength + 1 + 4)
        try sandbox.write(zip.bytes(), to: "changed.zip")
        let reader = try ArchiveReader.open(sandbox.path("changed.zip"), mark: .init(path: mark))
        #expect(throws: damaged("its local record has another name")) { try reader.samples() }
    }

    private func littleEndian(_ value: UInt32) -> [UInt8] {
        var record = RecordBuilder()
        record.append(value)
        return record.bytes
    }
}
