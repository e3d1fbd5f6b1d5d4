@testable internal import Age
internal import Files
internal import Foundation
internal import SystemPackage
internal import TestSupport
internal import Testing

/// Tests of encrypted files that are written as text, well or badly.
@Suite("Armor")
struct ArmorTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var name: String
        var isGood: Bool
        var edit: @Sendable (Text) -> String

        init(_ name: String, isGood: Bool = false, _ edit: @escaping @Sendable (Text) -> String) {
            self.name = name
            self.isGood = isGood
            self.edit = edit
        }

        var testDescription: String { name }
    }

    /// The lines of an encrypted file as age writes it in ASCII armor.
    struct Text: Sendable {
        var begin = "-----BEGIN AGE ENCRYPTED FILE-----"
        var end = "-----END AGE ENCRYPTED FILE-----"
        var lines: [String]

        init(_ bytes: [UInt8]) {
            lines = Self.split(Data(bytes).base64EncodedString())
        }

        static func split(_ text: some StringProtocol) -> [String] {
            let letters = Array(text.utf8)
            return stride(from: 0, to: letters.count, by: 64).map { place in
                String(decoding: letters[place..<min(place + 64, letters.count)], as: UTF8.self)
            }
        }

        func whole(_ lineEnd: String = "\n") -> String {
            ([begin] + lines + [end]).map { $0 + lineEnd }.joined()
        }

        func with(_ edit: (inout Text) -> Void) -> String {
            var copy = self
            edit(&copy)
            return copy.whole()
        }
    }

    private static let space = "\n\r   \t\n"

    static let cases: [Case] = [
        .init("armor", isGood: true) { $0.whole() },
        .init("armor_crlf", isGood: true) { $0.whole("\r\n") },
        .init("armor_empty_last_line") { $0.with { $0.lines.append("") } },
        .init("armor_empty_line_begin") { $0.with { $0.lines.insert("", at: 0) } },
        .init("armor_empty_line_end") { $0.with { $0.lines.append("") } },
        .init("armor_eol_between_padding") {
            $0.with { $0.lines.append(String($0.lines[$0.lines.count - 1].removeLast())) }
        },
        .init("armor_garbage_leading") { "garbage\n" + $0.whole() },
        .init("armor_garbage_trailing") { $0.whole() + "garbage\n" },
        .init("armor_headers") {
            $0.with { $0.lines.insert(contentsOf: ["Headers: are", "Not: allowed", ""], at: 0) }
        },
        .init("armor_invalid_character_header") {
            $0.with { $0.lines[0] = "*" + $0.lines[0].dropFirst() }
        },
        .init("armor_invalid_character_payload") {
            $0.with {
                let place = $0.lines.count - 2
                $0.lines[place] = "*" + $0.lines[place].dropFirst()
            }
        },
        .init("armor_long_line") { text in
            text.with { $0.lines = [$0.lines[0] + $0.lines[1]] + $0.lines[2...] }
        },
        .init("armor_lowercase") { $0.with { $0.begin = $0.begin.lowercased() } },
        .init("armor_no_end_line") { $0.whole().replacing($0.end + "\n", with: "") },
        .init("armor_no_eol", isGood: true) { String($0.whole().dropLast()) },
        .init("armor_no_padding") {
            $0.with { $0.lines[$0.lines.count - 1].removeAll { $0 == "=" } }
        },
        .init("armor_not_canonical") {
            $0.with {
                let line = $0.lines[$0.lines.count - 1]
                // Sets a bit of the last letter before the padding that encodes no data.
                let letters = line.prefix { $0 != "=" }
                let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
                let place = alphabet.firstIndex(of: letters.last ?? "A") ?? alphabet.startIndex
                let odd = String(alphabet[alphabet.index(after: place)])
                $0.lines[$0.lines.count - 1] =
                    letters.dropLast() + odd + line.dropFirst(letters.count)
            }
        },
        .init("armor_pgp_checksum") { $0.with { $0.lines.append("=abcd") } },
        .init("armor_short_line") { text in
            text.with { text in
                let all = text.lines.joined()
                text.lines = [String(all.prefix(60))] + Text.split(all.dropFirst(60))
            }
        },
        .init("armor_whitespace_begin") {
            $0.with { $0.begin = "----- BEGIN AGE ENCRYPTED FILE -----" }
        },
        .init("armor_whitespace_end") {
            $0.with { $0.end = "----- END AGE ENCRYPTED FILE -----" }
        },
        .init("armor_whitespace_eol") { $0.with { $0.lines[0] += " " } },
        .init("armor_whitespace_last_line") { $0.with { $0.lines[$0.lines.count - 1] += " " } },
        .init("armor_whitespace_line_start") { $0.with { $0.lines[1] = " " + $0.lines[1] } },
        .init("armor_whitespace_outside", isGood: true) { space + $0.whole() + space },
        .init("armor_wrong_type") {
            $0.whole().replacing("AGE ENCRYPTED FILE", with: "PGP MESSAGE")
        },
        .init("too much space before it") { String(repeating: "\n", count: 1025) + $0.whole() },
        .init("too much space behind it") { $0.whole() + String(repeating: "\n", count: 1025) },
        .init("lines that end in two ways") {
            $0.begin + "\r" + $0.whole().dropFirst($0.begin.count)
        },
    ]

    private static let identity = Result { try Identity.generate() }
    private static let plain = Array("milks".utf8)

    private func file() throws -> (bytes: [UInt8], identity: Identity) {
        let identity = try Self.identity.get()
        // The last line has padding and unused bits.
        let file = try encrypted(Self.plain, for: [identity.recipient])
        try #require(file.count % 3 != 0)
        return (file, identity)
    }

    @Test(
        "An armored file is decrypted if its armor is correct, and else refused",
        arguments: cases
    )
    func opens(_ edit: Case) throws {
        let (bytes, identity) = try file()
        let text = Array(edit.edit(Text(bytes)).utf8)
        guard edit.isGood else {
            let error = #expect(throws: AgeError.self) {
                try decrypted(text, with: [identity])
            }
            guard case .badArmor = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            return
        }
        #expect(try decrypted(text, with: [identity]) == Self.plain)
    }

    @Test("An armored file with bad content fails with the same error as one without armor")
    func inside() throws {
        let (bytes, identity) = try file()
        #expect(throws: AgeError.notEncrypted("folder/X.age")) {
            try decrypted(Array(Text([]).whole().utf8), with: [identity])
        }
        let version = Header.versionLine.utf8.count
        let others: [([UInt8], Identity)] = [
            (bytes[..<version] + [0x0D] + bytes[version...], identity),
            (bytes, try Identity.generate()),
            (bytes + [UInt8](repeating: 0, count: 20), identity),
        ]
        for (other, identity) in others {
            let bare = #expect(throws: AgeError.self) { try decrypted(other, with: [identity]) }
            let armored = #expect(throws: AgeError.self) {
                try decrypted(Array(Text(other).whole().utf8), with: [identity])
            }
            #expect(bare == armored)
        }
    }

    @Test("Any part of an armored file can be read in place", arguments: ["\n", "\r\n"])
    func parts(_ lineEnd: String) throws {
        let identity = try Identity.generate()
        var random = Pseudorandom(seed: 7)
        // For some of these lengths, the last line is full.
        for length in [0, 1, 47, 48, 49, 200_000, 200_001, 200_002] + (0..<48).map({ 500 + $0 }) {
            let plain = (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            let bytes = try encrypted(plain, for: [identity.recipient])
            let text = MemorySource(path: "X.age", bytes: Array(Text(bytes).whole(lineEnd).utf8))
            let armored = try ArmoredSource(text, named: "X.age")
            #expect(armored.size == Int64(bytes.count))
            for _ in 0..<20 {
                let from = Int(random.next() % UInt64(bytes.count))
                let count = Int(random.next() % UInt64(bytes.count - from + 1))
                let part = try armored.readExactly(count: count, at: Int64(from))
                #expect(part == Array(bytes[from..<from + count]), "\(count) at \(from)")
            }
            #expect(try decrypted(text.bytes, with: [identity]) == plain)
        }
    }
}
