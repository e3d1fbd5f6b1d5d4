/// The terms by which an index sorts, and the condition of a partial one, as SQL that finds a row by it.
package struct IndexTerms {
    /// Columns or expressions, each with the index's collation.
    package let terms: [String]
    /// `nil` if all rows are in the index.
    package let condition: String?

    /// Reads them from an index; `nil` if the text that made it cannot be read.
    package init?(_ index: IndexSchema, of table: TableSchema) {
        let needsText = index.isPartial || index.keys.contains(where: \.isExpression)
        guard needsText else {
            guard index.keys.allSatisfy({ $0.column != nil }) else { return nil }
            terms = index.keys.map { key in
                let name = key.column.map { table.columns[$0].name.sqlIdentifier } ?? ""
                return "\(name) COLLATE \(key.collation.sqlIdentifier)"
            }
            condition = nil
            return
        }
        guard let sql = index.sql, let parts = Self.parts(of: sql),
            parts.terms.count == index.keys.count
        else { return nil }
        terms = zip(parts.terms, index.keys).map { term, key in
            "(\(term)) COLLATE \(key.collation.sqlIdentifier)"
        }
        condition = parts.condition
        if index.isPartial, condition == nil { return nil }
    }

    /// Splits `CREATE UNIQUE INDEX … ON … (term, …) WHERE condition`.
    private static func parts(of sql: String) -> (terms: [String], condition: String?)? {
        let read = SQLTokens(sql)
        let tokens = read.all
        guard let on = tokens.firstIndex(where: { $0.folded == "on" }),
            let open = tokens[on...].firstIndex(where: { $0.folded == "(" })
        else { return nil }
        var terms: [[SQLTokens.Token]] = [[]]
        var depth = 1
        var place = open + 1
        while place < tokens.count {
            let token = tokens[place]
            place += 1
            if token.folded == "(" { depth += 1 }
            if token.folded == ")" { depth -= 1 }
            if depth == 0 { break }
            if depth == 1, token.folded == "," {
                terms.append([])
            } else {
                terms[terms.count - 1].append(token)
            }
        }
        guard depth == 0 else { return nil }
        var condition: String?
        if place < tokens.count {
            guard tokens[place].folded == "where" else { return nil }
            condition = read.text(tokens[(place + 1)...])
        }
        let texts = terms.map { term in
            let isOrdered = ["asc", "desc"].contains(term.last?.folded)
            return read.text(isOrdered ? term.dropLast() : term[...])
        }
        return texts.contains("") ? nil : (texts, condition)
    }
}

/// The words, names, literals and signs of an SQL text; comments are left out.
private struct SQLTokens {
    struct Token {
        /// Where it is in the text's bytes.
        var range: Range<Int>
        /// In ASCII lower case; empty if it is quoted.
        var folded: String
    }

    private(set) var all: [Token] = []
    private let bytes: [UInt8]

    init(_ sql: String) {
        bytes = Array(sql.utf8)
        var place = 0
        while place < bytes.count {
            let start = place
            switch bytes[place] {
            case 0x20, 0x09, 0x0A, 0x0C, 0x0D: place += 1
            case UInt8(ascii: "-") where bytes.at(place + 1) == UInt8(ascii: "-"):
                while place < bytes.count, bytes[place] != 0x0A { place += 1 }
            case UInt8(ascii: "/") where bytes.at(place + 1) == UInt8(ascii: "*"):
                place += 2
                while place < bytes.count,
                    bytes[place] != UInt8(ascii: "*") || bytes.at(place + 1) != UInt8(ascii: "/")
                {
                    place += 1
                }
                place += 2
            case let quote where [0x22, 0x27, 0x60, 0x5B].contains(quote):
                let end = quote == 0x5B ? 0x5D : quote
                place += 1
                while place < bytes.count {
                    if bytes[place] == end {
                        guard bytes.at(place + 1) == end, end != 0x5D else { break }
                        place += 1
                    }
                    place += 1
                }
                place = min(place + 1, bytes.count)
                add(start..<place, isQuoted: true)
            case let byte where byte.isWord:
                while place < bytes.count,
                    bytes[place].isWord || bytes[place] == UInt8(ascii: ".")
                {
                    place += 1
                }
                // x'00' is one literal.
                if place == start + 1, [0x58, 0x78].contains(byte), bytes.at(place) == 0x27 {
                    place += 1
                    while place < bytes.count, bytes[place] != 0x27 { place += 1 }
                    place = min(place + 1, bytes.count)
                }
                add(start..<place, isQuoted: false)
            default:
                place += 1
                add(start..<place, isQuoted: false)
            }
        }
    }

    private mutating func add(_ range: Range<Int>, isQuoted: Bool) {
        let word = String(decoding: bytes[range], as: UTF8.self)
        all.append(Token(range: range, folded: isQuoted ? "" : word.foldedIdentifier))
    }

    /// Returns the text from the first of some tokens to the last, as it was written.
    func text(_ tokens: some BidirectionalCollection<Token>) -> String {
        guard let first = tokens.first, let last = tokens.last else { return "" }
        return String(
            decoding: bytes[first.range.lowerBound..<last.range.upperBound],
            as: UTF8.self
        )
    }
}

extension [UInt8] {
    fileprivate func at(_ place: Int) -> UInt8? { place < count ? self[place] : nil }
}

extension UInt8 {
    /// Whether names, keywords and numbers consist of it.
    fileprivate var isWord: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x24, 0x80...: true
        default: false
        }
    }
}
