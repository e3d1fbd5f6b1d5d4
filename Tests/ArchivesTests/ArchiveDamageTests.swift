@testable internal import Archives
internal import Files
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("ArchiveReader: damaged archives")
struct ArchiveDamageTests {
    let sandbox: Sandbox
    let path: FilePath
    let samples: [Sample]
    let archive: [UInt8]

    init() throws {
        sandbox = try Sandbox()
        path = sandbox.path("a.zip")
        // An odd second, which a DOS time cannot hold.
        let time: Int64 = 1_700_000_001_000_000_000
        samples = [
            try Sample("d", kind: .directory, modified: time),
            try Sample("d/text", Shape.text.bytes(120), modified: time),
            try Sample("stored", [7, 3], modified: time),
            try Sample("link", [0x64], kind: .link, modified: time),
            try Sample("empty", modified: time),
        ]
        try writeArchive(to: path, samples)
        archive = try sandbox.read("a.zip")
    }

    @Test("An archive that was cut is refused, wherever it was cut")
    func truncated() throws {
        let file = try File.create(sandbox.path("cut.zip"))
        try archive.withUnsafeBytes { try file.write($0, at: 0) }
        for length in (0..<archive.count).reversed() {
            try file.truncate(to: Int64(length))
            #expect(throws: ArchiveError.self, "\(length) bytes") {
                try ArchiveReader.open(sandbox.path("cut.zip"))
            }
        }
    }

    /// The effect of a flipped bit.
    private enum Outcome: String {
        case refused, nothing
        /// A change of mode, time or kind, but of no byte of a file and no name.
        case attributes
        case bytes
    }

    /// Flips every bit, and allows only harmless changes that no manifest would find.
    ///
    /// - In a local record: version, flags and time, because the directory has them too and wins; the extra
    ///   fields; and the length of the extra fields of an entry without data.
    /// - In a central record: versions, unused flags, DOS time, comment length if it stays in the directory,
    ///   disk, internal attributes.
    /// - In deflated data: the bits that fill the last byte.
    /// - In the attributes, which change what is restored: host, mode, kind, time.
    @Test("A flipped bit is refused, or changes no byte of any file")
    func flippedBits() throws {
        let layout = try Layout(archive, samples)
        let file = try File.create(sandbox.path("flipped.zip"))
        try archive.withUnsafeBytes { try file.write($0, at: 0) }
        for position in archive.indices {
            for bit in 0..<8 {
                try [archive[position] ^ 1 << bit].withUnsafeBytes {
                    try file.write($0, at: Int64(position))
                }
                let outcome = try outcome(sandbox.path("flipped.zip"))
                let allowed = layout.allowed(at: position, bit: bit)
                #expect(
                    allowed.contains(outcome),
                    "bit \(bit) of byte \(position), \(layout.name(of: position))"
                )
            }
            try [archive[position]].withUnsafeBytes { try file.write($0, at: Int64(position)) }
        }
    }

    private func outcome(_ path: FilePath) throws -> Outcome {
        let read: [Sample]
        do {
            read = try ArchiveReader.open(path).samples()
        } catch is ArchiveError {
            return .refused
        }
        if read == samples { return .nothing }
        guard read.count == samples.count else { return .bytes }
        for (now, before) in zip(read, samples) {
            let isDirectory = before.attributes.kind == .directory
            guard (now.attributes.kind == .directory) == isDirectory, now.bytes == before.bytes,
                now.attributes.path == before.attributes.path
            else { return .bytes }
        }
        return .attributes
    }

    /// The places of the archive's records, and the changes that are allowed there.
    private struct Layout {
        /// A field: its place, its name, and the allowed effect of a flipped bit in it.
        private struct Field {
            var range: Range<Int>
            var name: String
            var allowed: Set<Outcome>
        }

        private var fields: [Field] = []

        init(_ archive: [UInt8], _ samples: [Sample]) throws {
            let end = archive.count - ZipRecords.endLength
            var central = Int(archive.uint32(at: end + 16))
            for sample in samples {
                let isDirectory = sample.attributes.kind == .directory
                let nameLength = sample.attributes.path.bytes.count + (isDirectory ? 1 : 0)
                addLocal(at: Int(archive.uint32(at: central + 42)), sample, nameLength)
                addCentral(at: central, sample, nameLength)
                if archive.uint16(at: central + 10) == ZipRecords.deflated {
                    let data = Int(archive.uint32(at: central + 42)) + 30 + nameLength + 9
                    let last = data + Int(archive.uint32(at: central + 20)) - 1
                    add(last, 0..<1, "the end of deflated data", [.nothing, .refused])
                }
                central += ZipRecords.centralLength + nameLength + 9
            }
            try #require(central == end)
        }

        private mutating func add(
            _ base: Int,
            _ range: Range<Int>,
            _ name: String,
            _ allowed: Set<Outcome>
        ) {
            let range = (base + range.lowerBound)..<(base + range.upperBound)
            fields.append(Field(range: range, name: name, allowed: allowed))
        }

        private mutating func addLocal(at base: Int, _ sample: Sample, _ nameLength: Int) {
            let label = "local record of \(sample.attributes.path)"
            add(base, 4..<8, "\(label), version and flags", [.nothing])
            add(base, 10..<14, "\(label), time", [.nothing])
            if sample.bytes.isEmpty {
                add(base, 28..<30, "\(label), extra length", [.nothing, .refused])
            }
            add(base, (30 + nameLength)..<(30 + nameLength + 9), "\(label), extra", [.nothing])
        }

        private mutating func addCentral(at base: Int, _ sample: Sample, _ nameLength: Int) {
            let label = "central record of \(sample.attributes.path)"
            let isDirectory = sample.attributes.kind == .directory
            add(base, 4..<5, "\(label), version", [.nothing])
            // A host system without modes: neither modes nor links are read.
            add(base, 5..<6, "\(label), host", [.nothing, .attributes])
            add(base, 6..<8, "\(label), version needed", [.nothing])
            // The flag for encryption, which is checked only for entries with data.
            add(base, 8..<9, "\(label), flags", isDirectory ? [.nothing] : [.nothing, .refused])
            add(base, 9..<10, "\(label), flags", [.nothing])
            add(base, 12..<16, "\(label), DOS time", [.nothing])
            add(base, 34..<38, "\(label), disk and internal attributes", [.nothing])
            add(base, 38..<40, "\(label), DOS attributes", [.nothing])
            add(base, 40..<42, "\(label), mode", [.nothing, .attributes])
            let extra = 46 + nameLength
            add(base, extra..<(extra + 2), "\(label), extra identifier", [.attributes, .refused])
            add(base, (extra + 2)..<(extra + 4), "\(label), extra length", [.attributes, .refused])
            add(
                base,
                (extra + 4)..<(extra + 5),
                "\(label), timestamp flags",
                [.nothing, .attributes]
            )
            add(base, (extra + 5)..<(extra + 9), "\(label), timestamp", [.attributes])
        }

        func name(of position: Int) -> String {
            fields.first { $0.range.contains(position) }?.name ?? "which may not change"
        }

        func allowed(at position: Int, bit: Int) -> Set<Outcome> {
            fields.first { $0.range.contains(position) }?.allowed ?? [.refused]
        }
    }
}
