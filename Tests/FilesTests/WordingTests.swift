internal import Files
internal import SystemPackage
internal import Testing

@Suite("Wording")
struct WordingTests {
    private struct Plain: Error {}

    @Test(
        "Bytes are counted as people do",
        arguments: [
            (0, "0 bytes"), (999, "999 bytes"), (1000, "1.00 kB"), (12_340_000, "12.34 MB"),
            (999_994, "999.99 kB"), (999_999, "1.00 MB"), (5_000_000_000, "5.00 GB"),
            (1_050_000, "1.05 MB"),
        ] as [(Int64, String)]
    )
    func sizes(count: Int64, text: String) {
        #expect(byteCount(count) == text)
    }

    @Test(
        "numbers are appended as text has them",
        arguments: [0, 9, 10, -1, 7_095, .max, .min] as [Int64]
    )
    func decimals(number: Int64) {
        var bytes = Array("n".utf8)
        bytes.append(decimal: number)
        #expect(String(decoding: bytes, as: UTF8.self) == "n\(number)")
    }

    @Test("one thing is singular, and none is plural")
    func numbers() {
        #expect([0, 1, 2].map { counted($0, "row", "rows") } == ["0 rows", "1 row", "2 rows"])
    }

    @Test("any error is explained in one line")
    func errors() {
        #expect(explain(FileError.exists("/a")) == "'/a' is there already")
        #expect(explain(CancellationError()) == "interrupted")
        #expect(explain(Plain()) == "Plain()")
    }

    @Test("Text in JSON has nothing in it that drives a terminal, and says the same")
    func json() {
        #expect("{\"a\": \"ü\"}\n".printableJSON == "{\"a\": \"ü\"}\n")
        let hostile = "\u{202E}\u{2066}\u{200F}\u{61C}\u{9B}\u{7F}\u{2028}\u{2029}"
        #expect(
            hostile.printableJSON == #"\u202e\u2066\u200f\u061c\u009b\u007f\u2028\u2029"#
        )
        #expect(hostile.unicodeScalars.allSatisfy { !$0.isPrintable })
    }
}
