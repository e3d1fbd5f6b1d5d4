import Testing

@testable import grocerydude

@Suite("Columns")
struct ColumnsTests {
    @Test("Columns align text on the left and numbers on the right")
    func alignment() {
        let rows = [["a", "1", "x", "long last cell"], ["longer", "1000", "y"], ["", "10"]]
        #expect(
            Columns(rows: rows, right: [1]).lines == [
                "a          1  x  long last cell", "longer  1000  y", "          10",
            ]
        )
        #expect(Columns(rows: []).lines.isEmpty)
        #expect(Columns(rows: [[""], []]).lines == ["", ""])
    }

    @Test("Columns stay aligned with characters of any width")
    func wideCharacters() {
        // "e" with an accent of its own is one character in one column of the terminal.
        let rows = [
            ["Milk", "1"], ["Cre\u{300}me", "2"], ["牛乳", "3"], ["우유", "4"], ["🥛", "5"],
        ]
        #expect(
            Columns(rows: rows).lines == [
                "Milk   1", "Cre\u{300}me  2", "牛乳   3", "우유   4", "🥛     5",
            ]
        )
        #expect(Columns.width(of: "Zoë 牛") == 6)
    }
}
