internal import Archives
internal import Changes
internal import TestSupport
internal import Testing

/// Tests of the reader with untrusted files.
@Suite("Fuzzed files")
struct ChangeFuzzTests {
    @Test("A changed file is refused as a whole, or read as a whole")
    func mutated() throws {
        var verdicts: [String: Int] = [:]
        let fuzzing = Fuzzing(usual: 2000)
        for seed in fuzzing {
            var random = Pseudorandom(seed: seed)
            let bytes = try mutation(&random)
            var room = 0
            let verdict: String
            do {
                let file = try ChangeFile(reading: bytes, name: "f") { input, output in
                    room = max(room, output.count)
                    return RawDeflate.inflate(input, into: output)
                }
                // All of its rows can be read, joined, and written again.
                let rows = try file.rows()
                var writer = ChangeFileWriter()
                for (table, rows) in rows {
                    for row in rows { try writer.add(row.joined(with: row), to: table) }
                }
                let again = try writer.finish(file.header, kind: file.kind)
                let same = try ChangeFile(reading: again.bytes, name: "g", inflate: inflate).rows()
                #expect(same == rows.filter { !$0.value.isEmpty }, "seed \(seed)")
                verdict = "read"
            } catch let error as ChangeError {
                verdict = Self.name(error)
            }
            #expect(room <= 16 << 20, "seed \(seed)")
            #expect(verdict != "beyond a writer's limit", "seed \(seed)")
            verdicts[verdict, default: 0] += 1
        }
        fuzzing.report("Change files", verdicts)
        if fuzzing.count > 100 {
            #expect(verdicts["read", default: 0] > 0)
            #expect(verdicts["malformed", default: 0] > fuzzing.count / 4)
            #expect(verdicts["incomplete", default: 0] > 0)
        }
    }

    /// Returns a damaged file, in most cases with a hash that fits, so that the reader looks further.
    private func mutation(_ random: inout Pseudorandom) throws -> [UInt8] {
        var (bytes, _) = try random.file()
        switch random.below(8) {
        case 0:
            _ = random.damage(&bytes)
            return bytes
        case 1:
            bytes.removeLast(32)
            _ = random.damage(&bytes)
            return sealed(bytes)
        case 2:
            // The header's lengths and the bytes after them.
            bytes.removeLast(32)
            _ = random.damage(&bytes, within: 8..<min(bytes.count, 140))
            return sealed(bytes)
        case 3:
            let (other, _) = try random.file()
            let half = bytes.prefix(random.below(bytes.count))
            return sealed(Array(half + other.suffix(random.below(other.count)).dropLast(32)))
        default:
            // The body alone, in an envelope that fits it.
            let envelope = try Envelope(reading: bytes, name: "f", inflate: inflate)
            var body = envelope.body
            for _ in 0...random.below(3) { _ = random.damage(&body) }
            return try Envelope.write(
                envelope.kind,
                header: envelope.header,
                body: body,
                deflate: random.below(3) == 0 ? deflate : nil
            ).bytes
        }
    }

    private static func name(_ error: ChangeError) -> String {
        switch error {
        case .incomplete: "incomplete"
        case .newer, .unknownKind, .otherKind, .encrypted: "left alone"
        case .malformed: "malformed"
        case .ahead: "ahead"
        case .unproven: "unproven"
        case .beyondLimit: "beyond a writer's limit"
        }
    }
}
