/// Lines of cells in aligned columns, two spaces apart.
struct Columns {
    let rows: [[String]]
    /// The right-aligned columns.
    var right: Set<Int> = []

    /// The lines, without spaces at their ends.
    var lines: [String] {
        var widths: [Int] = []
        for row in rows {
            for (index, cell) in row.enumerated() {
                if index == widths.count { widths.append(0) }
                widths[index] = max(widths[index], Self.width(of: cell))
            }
        }
        return rows.map { row in
            // The last cell of a row is not padded.
            let end = (row.lastIndex { !$0.isEmpty } ?? -1) + 1
            return row[..<end].enumerated().map { index, cell in
                let space = String(repeating: " ", count: widths[index] - Self.width(of: cell))
                if right.contains(index) { return space + cell }
                return index == end - 1 ? cell : cell + space
            }.joined(separator: "  ")
        }
    }

    /// Returns the lines with the last cells wrapped, except commands, which are copied whole.
    func lines(within limit: Int) -> [String] {
        zip(rows, lines).flatMap { row, line in
            let cell = row.last { !$0.isEmpty } ?? ""
            let start = Self.width(of: line) - Self.width(of: cell)
            guard Self.width(of: line) > limit, start < limit / 2, !cell.contains("grocerydude ")
            else { return [line] }
            let indent = String(repeating: " ", count: start)
            return Self.wrapped(cell, within: limit - start).enumerated().map { index, part in
                (index == 0 ? String(line.dropLast(cell.count)) : indent) + part
            }
        }
    }

    /// Returns a text in lines; a word that is too long has a line of its own.
    static func wrapped(_ text: String, within limit: Int) -> [String] {
        text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            .reduce(into: []) { lines, word in
                if let last = lines.last, width(of: last) + 1 + width(of: word) <= limit {
                    lines[lines.count - 1] += " \(word)"
                } else {
                    lines.append(word)
                }
            }
    }

    /// Returns the width of a text in terminal columns; East Asian characters and emoji take two.
    static func width(of text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { width, character in
            let scalar = character.unicodeScalars.first?.value ?? 0
            return width + (wide.contains { $0.contains(scalar) } ? 2 : 1)
        }
    }

    /// The blocks of wide characters (https://www.unicode.org/reports/tr11/).
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
        0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF,
        0x1F900...0x1FAFF, 0x20000...0x3FFFD,
    ]
}
