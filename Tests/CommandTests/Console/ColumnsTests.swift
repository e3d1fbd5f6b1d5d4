import TestSupport
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

    @Test("Last cells are wrapped at a width, but neither commands nor long words")
    func wrapping() {
        let rows = [
            ["remark", "on the same file system as the stores"],
            ["", "/a/path/that/is/too/long/for/any/line it has"],
            ["", "run: grocerydude copy --all --to /a"],
        ]
        #expect(
            Columns(rows: rows).lines(within: 30) == [
                "remark  on the same file", "        system as the stores",
                "        /a/path/that/is/too/long/for/any/line", "        it has",
                "        run: grocerydude copy --all --to /a",
            ]
        )
    }

    @Test(
        "A terminal gets the status in lines of 80 characters, and a file each fact in a line",
        .enabled(if: Terminal.isThere, "Python 3 is not installed")
    )
    func terminal() throws {
        let program = try Program()
        try program.expect("init")
        try program.expect("backup", "--quiet")
        let remark = "the same file system as the stores: if it is lost, both are lost"
        #expect(try program.run("status").text.contains(remark))
        let shown = try Terminal.run([Program.path, "status"], answering: [], program).text
        let lines = shown.split(separator: "\n")
        let words = shown.split { $0.isWhitespace }.joined(separator: " ")
        #expect(words.contains(remark) && !shown.contains(remark))
        #expect(lines.allSatisfy { $0.count <= 80 || $0.contains("/") }, "\(shown)")
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
