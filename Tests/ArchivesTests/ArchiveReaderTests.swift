@testable internal import Archives
internal import Files
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("ArchiveReader: crafted archives")
struct ArchiveReaderTests {
    let sandbox: Sandbox
    let path: FilePath

    init() throws {
        sandbox = try Sandbox()
        path = sandbox.path("a.zip")
    }

    private func open(_ zip: CraftedZip) throws -> ArchiveReader {
        try sandbox.write(zip.bytes(), to: "a.zip")
        return try ArchiveReader.open(path)
    }

    private func open(_ entries: CraftedZip.Entry...) throws -> ArchiveReader {
        try open(CraftedZip(entries))
    }

    @Test("A plain archive is read, with its comment and the bytes between its records")
    func plain() throws {
        var zip = CraftedZip([
            .init("a", "milk"), .init(deflated: "b", Shape.text.bytes(5000)), .init("c/"),
        ])
        for comment in [[], Array("a comment".utf8), [UInt8](repeating: 0x50, count: 65_535)] {
            zip.comment = comment
            zip.gap = Array(comment.prefix(7))
            let reader = try open(zip)
            #expect(reader.count == 3)
            #expect(try reader.bytes(of: reader.entry(at: 0)) == Array("milk".utf8))
            #expect(try isSame(reader.bytes(of: reader.entry(at: 1)), Shape.text.bytes(5000)))
            #expect(try reader.entry(at: 2).attributes.kind == .directory)
            #expect(try reader.entry(at: 0).attributes.mode == 0o644)
        }
    }

    @Test("A digital signature after the records is skipped")
    func signature() throws {
        var zip = CraftedZip([.init("a", "milk")])
        zip.signature = [0x50, 0x4B, 0x05, 0x05, 0, 0]
        #expect(try open(zip).count == 1)
    }

    @Test(
        "A file that is not an archive is refused with a reason",
        arguments: [
            ([], "it is empty"),
            ([1, 2, 3], "it is only 3 bytes long"),
            ([UInt8](repeating: 0x20, count: 100), "it has no end record"),
            (
                Array(CraftedZip([.init("a", "milk")]).bytes().dropLast(22)),
                "its end is missing: it was cut off, or is still being copied"
            ),
        ] as [([UInt8], String)]
    )
    func notAnArchive(bytes: [UInt8], reason: String) throws {
        try sandbox.write(bytes, to: "a.zip")
        #expect(throws: ArchiveError.notAnArchive(path, reason: reason)) {
            try ArchiveReader.open(path)
        }
    }

    @Test("Bytes before or after the archive are refused, except zeros that fill up a block")
    func addedBytes() throws {
        let bytes = CraftedZip([.init("a", "milk")]).bytes()
        for damaged in [[0] + bytes, bytes + [1], bytes + [0, 0, 1], bytes + bytes.suffix(21)] {
            try sandbox.write(damaged, to: "a.zip")
            #expect(throws: ArchiveError.self) { try ArchiveReader.open(path) }
        }
        // bsdtar fills the last block with zeros when it writes to a pipe.
        try sandbox.write(bytes + [UInt8](repeating: 0, count: 9000), to: "a.zip")
        #expect(try ArchiveReader.open(path).count == 1)
    }

    @Test("End records with wrong values are refused")
    func wrongEnds() throws {
        let good = CraftedZip([.init("a", "milk"), .init("b", "eggs")])
        _ = try open(good)
        for change in [
            { $0.count = 1 }, { $0.count = 3 }, { $0.count = 0 }, { $0.count = 65_535 },
            { $0.directorySize = 0 }, { $0.directorySize = 93 }, { $0.directorySize = .max },
            { $0.directoryOffset = 0 }, { $0.directoryOffset = 69 }, { $0.directoryOffset = .max },
        ] as [(inout CraftedZip) -> Void] {
            var zip = good
            change(&zip)
            #expect(throws: ArchiveError.self) { try open(zip) }
        }
    }

    @Test(
        "A name that leads out of the target or is invalid for a file is refused",
        arguments: [
            "..", "../a", "a/../../b", "/etc/passwd", "/", "", "a//b", "a/./b", "a/.", "./../a",
            "a\0b",
            "..\\a", "\\a", "a\\..\\..\\b", "\\\\server\\share",
        ],
        [UInt16(0), 3]
    )
    func unsafeNames(name: String, host: UInt16) throws {
        var entry = CraftedZip.Entry(name, "milk")
        entry.host = host
        #expect {
            try open(CraftedZip([entry]))
        } throws: {
            guard case ArchiveError.unsafeEntry = $0 else { return false }
            return true
        }
    }

    @Test("The entry './' is skipped, and names lose a leading './'")
    func rootEntries() throws {
        let reader = try open(.init("./"), .init("./a", "milk"), .init("."), .init("././b", "eggs"))
        #expect(try reader.samples().map(\.attributes.path.description) == ["a", "b"])
        #expect(try reader.bytes(of: reader.entry(at: 1)) == Array("eggs".utf8))
    }

    @Test("A name that repeats './' many times is read quickly")
    func longRootName() throws {
        let name = [UInt8](Array(repeating: Array("./".utf8), count: 32_767).joined())
        #expect(try open(.init(name + [0x61])).entry(at: 0).attributes.path == RelativePath("a"))
    }

    @Test("A backslash is a separator in entries of DOS and a letter in entries of Unix")
    func backslashes() throws {
        var entry = CraftedZip.Entry("a\\b", "milk")
        for host in [3, 19] as [UInt16] {
            entry.host = host
            #expect(try open(entry).entry(at: 0).attributes.path == RelativePath("a\\b"))
        }
        for host in [0, 10, 14] as [UInt16] {
            entry.host = host
            #expect(try open(entry).entry(at: 0).attributes.path == RelativePath("a/b"))
        }
    }

    @Test("Names in an archive that ends with our mark are plain bytes")
    func mark() throws {
        let mark = try RelativePath(".grocerydude/manifest.json")
        let names = ["a\\..\\b", "\\a", "c\\d"]
        for (last, isOurs) in [(mark.description, true), ("other", false)] {
            var zip = CraftedZip((names + [last]).map { CraftedZip.Entry($0) })
            // Only an archive with the form of our writer's records counts as ours.
            zip.entries[0].centralExtra = [0x55, 0x54, 5, 0, 1, 0, 0, 0, 0]
            try sandbox.write(zip.bytes(), to: "a.zip")
            #expect(throws: ArchiveError.self) { try ArchiveReader.open(path) }
            guard isOurs else {
                #expect(throws: ArchiveError.self) {
                    try ArchiveReader.open(path, mark: .init(path: mark))
                }
                continue
            }
            let reader = try ArchiveReader.open(path, mark: .init(path: mark))
            #expect(reader.origin == .ours)
            #expect(
                try reader.samples().map {
                    String(decoding: $0.attributes.path.bytes, as: UTF8.self)
                }
                    == names + [last]
            )
        }
    }

    @Test("Our mark after another program's records means only that it repacked the files")
    func packedAgain() throws {
        let mark = try RelativePath(".grocerydude/manifest.json")
        let own: [UInt8] = [0x55, 0x54, 5, 0, 1, 0, 0, 0, 0]
        // The extra fields of Info-ZIP and 7-Zip besides the time, none as Python writes, and a longer time
        // field.
        let foreign: [[UInt8]] = [
            own + [0x75, 0x78, 0, 0], [0x0A, 0, 0, 0], [],
            [0x55, 0x54, 9, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0],
        ]
        for (extra, isOurs) in foreign.map({ ($0, false) }) + [(own, true)] {
            var zip = CraftedZip(["a", "b", mark.description].map { CraftedZip.Entry($0) })
            for index in zip.entries.indices { zip.entries[index].centralExtra = extra }
            try sandbox.write(zip.bytes(), to: "a.zip")
            let reader = try ArchiveReader.openWithoutChecks(path, mark: .init(path: mark))
            #expect(reader.origin == (isOurs ? .ours : .repacked), "\(extra)")
        }
        // In 2038 the seconds no longer fit, and the field is left out.
        var zip = CraftedZip([CraftedZip.Entry(mark.description)])
        zip.date = (2038 - 1980) << 9 | 0x21
        try sandbox.write(zip.bytes(), to: "a.zip")
        #expect(try ArchiveReader.open(path, mark: .init(path: mark)).origin == .ours)
    }

    @Test("Case differences are found even between names that only directories on the way have")
    func caseOfDirectories() throws {
        for names in [["A/x", "a/y"], ["d/A/x", "d/a/y"], ["A", "a/y"], ["A/b/c", "a/"]] {
            let reader = try open(CraftedZip(names.map { CraftedZip.Entry($0) }))
            #expect(throws: ArchiveError.self, "\(names)") { try reader.checkNamesIgnoringCase() }
        }
        for names in [["A/x", "A/y", "B/x", "A/z"], ["A/x", "A/", "A/b/x"], ["A/", "A/x"]] {
            try open(CraftedZip(names.map { CraftedZip.Entry($0) })).checkNamesIgnoringCase()
        }
    }

    @Test("A directory with another name in its local record is refused, one with content is not")
    func directories() throws {
        #expect(try open(.init("d/", "x")).entry(at: 0).attributes.kind == .directory)
        var entry = CraftedZip.Entry("d/")
        entry.localName = Array("e/".utf8)
        #expect(throws: ArchiveError.self) { try open(entry) }
    }

    @Test("A tail full of end records followed by zeros is refused")
    func manyEnds() throws {
        // Each of them claims to be the end, and the last byte contradicts all of them.
        var end = RecordBuilder()
        end.append(ZipRecords.endSignature)
        end.append([UInt8](repeating: 0, count: 18))
        let tail = (0..<1_400).flatMap { _ in end.bytes } + [UInt8](repeating: 0, count: 33_000)
        try sandbox.write(tail + [1], to: "a.zip")
        #expect(throws: ArchiveError.self) { try ArchiveReader.open(path) }
    }

    @Test("Sizes whose sum is too large are refused")
    func hugeSum() throws {
        let entries = ["a", "b", "c"].map { name in
            var entry = CraftedZip.Entry(name, "milk")
            entry.size = .max
            entry.centralExtra = wideExtra(UInt64(Int64.max) / 2)
            return entry
        }
        _ = try open(CraftedZip(Array(entries[..<2])))
        #expect(
            throws: ArchiveError.beyondLimit(path, reason: "its sizes are beyond all bounds")
        ) {
            try open(CraftedZip(entries))
        }
    }

    @Test("An entry of a system without modes gets private permissions")
    func foreignModes() throws {
        var file = CraftedZip.Entry("file")
        var folder = CraftedZip.Entry("folder/")
        file.host = 0
        folder.host = 0
        file.mode = 0o120777
        let reader = try open(file, folder)
        #expect(try reader.entry(at: 0).attributes.mode == 0o600)
        #expect(try reader.entry(at: 0).attributes.kind == .file)
        #expect(try reader.entry(at: 1).attributes.mode == 0o700)
    }

    @Test("Two entries with the same name are refused, for files and for directories")
    func duplicates() throws {
        for (first, second) in [("a", "a"), ("a", "a/"), ("a/", "a/"), ("b/c", "b/c")] {
            let name = second.hasSuffix("/") ? String(second.dropLast()) : second
            #expect(throws: ArchiveError.duplicateEntry(path, entry: name, other: name)) {
                try open(.init(first), .init("x"), .init(second))
            }
        }
    }

    @Test("Names that differ only in case are different, unless case is to be ignored")
    func caseDifference() throws {
        let reader = try open(.init("Milk"), .init("milk"), .init("Éggs"))
        #expect(throws: ArchiveError.duplicateEntry(path, entry: "milk", other: "Milk")) {
            try reader.checkNamesIgnoringCase()
        }
        try open(.init("Milk"), .init("eggs")).checkNamesIgnoringCase()
    }

    @Test("Entries whose data overlaps are refused")
    func overlaps() throws {
        var second = CraftedZip.Entry("b", "eggs")
        second.offset = 0
        #expect(throws: ArchiveError.damaged(path, reason: "the data of two entries overlaps")) {
            try open(.init("a", "milk"), second)
        }
        var long = CraftedZip.Entry("a", "milk")
        long.compressedSize = 6
        #expect(throws: ArchiveError.damaged(path, reason: "the data of two entries overlaps")) {
            try open(long, .init("b", "eggs"))
        }
    }

    @Test("Data outside the file is refused, even at the largest offsets")
    func outside() throws {
        for offset in [31, 40, 1 << 20, UInt32.max - 1, .max] as [UInt32] {
            var entry = CraftedZip.Entry("a", "milk")
            entry.offset = offset
            #expect(throws: ArchiveError.self) { try open(entry) }
        }
        for values in [
            wideExtra(4, .max, 0), wideExtra(4, 1 << 63, 0), wideExtra(4, 4, .max),
            wideExtra(.max, 4, 0), wideExtra(4, (1 << 63) - 1, (1 << 63) - 1),
        ] {
            var entry = CraftedZip.Entry("a", "milk")
            (entry.size, entry.compressedSize, entry.offset) = (.max, .max, .max)
            entry.centralExtra = values
            #expect(throws: ArchiveError.self) { try open(entry) }
        }
    }

    @Test("An archive opened only for looking refuses impossible sizes when it reads")
    func outsideWithoutChecks() throws {
        for (size, compressed, offset) in [
            (4, UInt64(Int64.max), 0), (4, UInt64(Int64.max) - 31, 0), (4, 4, UInt64(Int64.max)),
            (4, 4, UInt64(Int64.max) - 30), (UInt64(Int64.max), 4, 0), (4, 1 << 40, 0),
        ] as [(UInt64, UInt64, UInt64)] {
            var entry = CraftedZip.Entry("a", "milk")
            (entry.size, entry.compressedSize, entry.offset) = (.max, .max, .max)
            entry.centralExtra = wideExtra(size, compressed, offset)
            try sandbox.write(CraftedZip([entry]).bytes(), to: "a.zip")
            let reader = try ArchiveReader.openWithoutChecks(path)
            #expect(throws: (any Error).self) { try reader.bytes(of: reader.entry(at: 0)) }
        }
    }

    @Test("Extra fields that contradict their record are refused")
    func extraFields() throws {
        var entry = CraftedZip.Entry("a", "milk")
        entry.centralExtra = [1, 0, 9, 0, 1]
        #expect(throws: ArchiveError.self) { try open(entry) }
        entry.size = .max
        entry.centralExtra = [1, 0, 4, 0, 1, 2, 3, 4]
        #expect(throws: ArchiveError.self) { try open(entry) }
        entry.size = 4
        entry.centralExtra = [0x55, 0x54, 5, 0, 1, 9, 0, 0, 0, 0, 0]
        #expect(try open(entry).entry(at: 0).attributes.modified == 9_000_000_000)
        entry.centralExtra = [0x55, 0x54, 1, 0, 1]
        #expect(try open(entry).entry(at: 0).attributes.modified > 9_000_000_000)
    }
}
