@testable internal import Archives
internal import Files
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("ArchiveReader: entries of other programs")
struct ForeignEntryTests {
    let sandbox: Sandbox
    let path: FilePath
    private static let mark = ".grocerydude/manifest.json"

    init() throws {
        sandbox = try Sandbox()
        path = sandbox.path("a.zip")
        try sandbox.directory("out")
    }

    /// Opens an archive with these entries; it counts as ours if it ends with our mark.
    private func open(_ entries: CraftedZip.Entry..., marked: Bool = false) throws -> ArchiveReader
    {
        var entries = entries
        if marked {
            entries.append(CraftedZip.Entry(Self.mark))
            for index in entries.indices {
                entries[index].centralExtra = [0x55, 0x54, 5, 0, 1, 0, 0, 0, 0]
            }
        }
        try sandbox.write(CraftedZip(entries).bytes(), to: "a.zip")
        return try ArchiveReader.open(path, mark: .init(path: RelativePath(Self.mark)))
    }

    private func entry(
        _ name: String,
        _ data: String = "",
        mode: UInt32 = 0o100644,
        host: UInt16 = 3
    ) -> CraftedZip.Entry {
        var entry = CraftedZip.Entry(name, data)
        entry.mode = mode
        entry.host = host
        return entry
    }

    // MARK: - Names

    @Test("Names that only Unicode takes as equal are two if they are two to the system")
    func normalization() throws {
        // The letter é as one scalar, and as two.
        for (first, other) in [("\u{E9}", "e\u{301}"), ("\u{E9}/x", "e\u{301}/y")] {
            let reader = try open(entry(first, "milk"), entry(other, "eggs"))
            #if canImport(Darwin)
            #expect(throws: ArchiveError.self) { try reader.checkNamesIgnoringCase() }
            #else
            try reader.checkNamesIgnoringCase()
            try LocalFileSystem().remove(sandbox.path("out"))
            try sandbox.directory("out")
            try extract(reader, into: sandbox.path("out"))
            let files = try sandbox.contents(of: "out").items.filter { $0.kind == .file }
            #expect(Set(files.map(\.detail)).count == 2)
            #endif
        }
        for (first, other) in [("\u{E9}", "\u{C9}"), ("e\u{301}", "E\u{301}")] {
            let reader = try open(entry(first), entry(other))
            #expect(throws: ArchiveError.self) { try reader.checkNamesIgnoringCase() }
        }
    }

    @Test("A trailing backslash makes a DOS entry a directory, and is a letter on Unix")
    func directoriesOfDOS() throws {
        for host in [0, 10, 14] as [UInt16] {
            let reader = try open(
                entry("d\\", host: host),
                entry("d\\e\\", host: host),
                entry("d\\e\\file", "milk", host: host)
            )
            #expect(try reader.samples().map(\.attributes.kind) == [.directory, .directory, .file])
            try LocalFileSystem().remove(sandbox.path("out"))
            try sandbox.directory("out")
            try extract(reader, into: sandbox.path("out"))
            #expect(try sandbox.contents(of: "out").paths == ["d", "d/e", "d/e/file"])
        }
        let kept = [try open(entry("d\\")), try open(entry("d\\", host: 0), marked: true)]
        for reader in kept {
            #expect(try reader.entry(at: 0).attributes.kind == .file)
            #expect(try reader.entry(at: 0).attributes.path == RelativePath("d\\"))
        }
        for name in ["\\", "..\\", "d\\\\", "\\d\\"] {
            #expect(throws: ArchiveError.self, "\(name)") { try open(entry(name, host: 0)) }
        }
        // Two entries for the same directory.
        let reader = try open(entry("d\\", host: 0), entry("d/", host: 0))
        #expect(throws: ArchiveError.self) { try reader.checkNamesIgnoringCase() }
    }

    /// Returns Info-ZIP's field with a name in UTF-8 for another name.
    private func unicodePath(_ name: String, for old: [UInt8], version: UInt8 = 1) -> [UInt8] {
        var extra = RecordBuilder()
        extra.append(ZipRecords.unicodePathExtra)
        extra.append(UInt16(5 + name.utf8.count))
        extra.append([version])
        extra.append(old.withUnsafeBytes { Checksum(of: $0).value })
        extra.append(Array(name.utf8))
        return extra.bytes
    }

    @Test("A name in UTF-8 is used instead of one in a code page")
    func unicodeNames() throws {
        // In code page 437, both names would be only question marks.
        var entries = [CraftedZip.Entry("??", "milk"), .init("??", "eggs"), .init([0x82, 0x2F])]
        for (index, name) in ["牛乳", "卵/卵", "é/"].enumerated() {
            entries[index].centralExtra = unicodePath(name, for: entries[index].name)
        }
        let reader = try open(entries[0], entries[1], entries[2])
        #expect(try reader.samples().map(\.attributes.path.description) == ["牛乳", "卵/卵", "é"])
        #expect(try reader.entry(at: 2).attributes.kind == .directory)
        try reader.checkNamesIgnoringCase()
        try extract(reader, into: sandbox.path("out"))
        #expect(try sandbox.read("out/卵/卵") == Array("eggs".utf8))
        entries[1].centralExtra = entries[0].centralExtra
        #expect(throws: ArchiveError.duplicateEntry(path, entry: "牛乳", other: "牛乳")) {
            try open(entries[0], entries[1])
        }
    }

    @Test("A name in UTF-8 follows the same rules as any other")
    func hostileUnicodeNames() throws {
        for name in ["../evil", "/evil", "a//b", "a\0", "."] {
            var entry = entry("ok")
            entry.centralExtra = unicodePath(name, for: entry.name)
            #expect(throws: ArchiveError.self, "\(name)") { try open(entry) }
        }
    }

    @Test("A name in UTF-8 is ignored if it is for another name or has another version")
    func strayUnicodeNames() throws {
        var entry = entry("name")
        let good = unicodePath("other", for: entry.name)
        let strays: [[UInt8]] = [
            unicodePath("other", for: [0x61]), unicodePath("other", for: entry.name, version: 2),
            unicodePath("", for: entry.name), good.dropLast() + [0xFF], [0x75, 0x70, 2, 0, 1, 0],
        ]
        for stray in strays {
            entry.centralExtra = stray
            #expect(try open(entry).entry(at: 0).attributes.path == RelativePath("name"))
        }
        entry.centralExtra = good
        #expect(try open(entry).entry(at: 0).attributes.path == RelativePath("other"))
        // Its name is in UTF-8 already.
        entry.flags = ZipRecords.utf8Flag
        #expect(try open(entry).entry(at: 0).attributes.path == RelativePath("name"))
        // The local record still has the old name.
        entry.flags = 0
        entry.localName = Array("else".utf8)
        #expect(throws: ArchiveError.self) { try open(entry).samples() }
    }

    // MARK: - Methods

    @Test("The method for encrypted entries without the flag is unsupported, not damage")
    func encryptionMethod() throws {
        var entry = entry("a", "milk")
        entry.method = 99
        let reader = try open(entry)
        let error = #expect(throws: ArchiveError.self) { try reader.samples() }
        guard case .unsupported(path, "a", let reason) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(reason == "its compression method is not supported here")
    }
}
