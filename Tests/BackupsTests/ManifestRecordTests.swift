import Files
import Foundation
import TestSupport
import Testing

@testable import Archives
@testable import Backups

@Suite("A manifest's record of an entry")
struct ManifestRecordTests {
    private func decoded(_ line: [UInt8]) -> ManifestRecord? {
        try? JSONDecoder().decode(ManifestRecord.self, from: Data(line))
    }

    private func isSame(_ left: ManifestRecord?, _ right: ManifestRecord?) -> Bool {
        left?.attributes == right?.attributes && left?.size == right?.size
            && left?.segments == right?.segments && left?.line == right?.line
    }

    private func record(_ random: inout Pseudorandom) throws -> ManifestRecord {
        let names = [
            "a", "Groceries", "é", "日本", ".x_SUPPORT", "a b", "~", "\u{1}", "\"q\"", "\\",
            "\u{2028}",
        ]
        let path = (0...random.below(3)).map { _ in random.pick(names) }.joined(separator: "/")
        let segments = (0..<random.below(4)).map { _ in
            SegmentRecord(
                digest: random.bytes(9).withUnsafeBytes { Digest(of: $0) },
                length: random.below(1 << 20)
            )
        }
        let attributes = EntryAttributes(
            path: try RelativePath(path),
            kind: random.pick([.file, .directory, .link]),
            mode: UInt16(random.below(0o10000)),
            modified: random.pick([0, -1, .min, .max, Int64(random.next() >> 2)]),
            owner: Owner(user: random.pick([0, 1000, .max]), group: UInt32(random.below(70_000)))
        )
        return ManifestRecord(
            WrittenEntry(
                attributes: attributes,
                size: random.pick([0, 1, .max, Int64(random.below(1 << 30))]),
                segments: segments,
                compressedSize: 0
            )
        )
    }

    @Test("The fast reader reads a record as a decoder does, or leaves it to the decoder")
    func lines() throws {
        let seed: UInt64 = 20_261_127
        var random = Pseudorandom(seed: seed)
        var (direct, damaged) = (0, 0)
        for _ in 0..<2000 {
            let record = try record(&random)
            let line = record.line
            if let read = ManifestRecord(line: line) {
                direct += 1
                #expect(
                    isSame(read, record),
                    "\(String(decoding: line, as: UTF8.self)), seed \(seed)"
                )
            }
            #expect(isSame(decoded(line), record))
            var other = line
            _ = random.damage(&other)
            if let read = ManifestRecord(line: other) {
                damaged += 1
                #expect(
                    isSame(decoded(other), read),
                    "\(String(decoding: other, as: UTF8.self)), seed \(seed)"
                )
            }
        }
        // Only names with escaped characters are left to the decoder.
        #expect(direct > 600 && damaged > 10)
    }

    @Test("A record that is written in any other way is left to the decoder")
    func otherwise() throws {
        let line =
            #"{"path":"a","type":"file","size":0,"mode":"0644","uid":0,"gid":0,"modified":0,"segments":[]}"#
        #expect(ManifestRecord(line: Array(line.utf8)) != nil)
        for (part, other) in [
            (#""size":0"#, #""size":00"#), (#""size":0"#, #""size":-"#),
            (#""size":0"#, #""size":"#),
            (#""size":0"#, #""size":9223372036854775808"#), (#""size":0"#, #""size":0.5"#),
            (#""uid":0"#, #""uid":4294967296"#), (#""uid":0"#, #""uid":-1"#), ("0644", "644"),
            ("0644", "0648"), ("0644", "00644"), (#""a""#, #""../a""#), (#""a""#, #""""#),
            (#""a""#, #""\u0061""#), ("[]", "[[]]"), ("[]}", "[]} "), ("[]", "[,]"),
            ("file", "pipe"),
            (#"{"path""#, #"{ "path""#),
        ] {
            let text = line.replacing(part, with: other)
            #expect(text != line && ManifestRecord(line: Array(text.utf8)) == nil, "\(text)")
        }
        #expect(ManifestRecord(line: Array(line.utf8) + [0x2C]) == nil)
        for end in 0..<line.utf8.count {
            #expect(ManifestRecord(line: Array(line.utf8.prefix(end))) == nil)
        }
    }
}
