internal import Files

/// The words, names, literals and symbols of an SQL text, without comments.
struct SQLTokens {
    struct Token {
        /// The token's range in the text's bytes.
        var range: Range<Int>
        /// The token in ASCII lower case; empty if it is quoted.
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
                place = first(from: place) { $0 == 0x0A }
            case UInt8(ascii: "/") where bytes.at(place + 1) == UInt8(ascii: "*"):
                place = endOfComment(from: place + 2)
            case 0x22, 0x27, 0x60, 0x5B:
                place = endOfQuotes(from: start)
                add(start..<place, isQuoted: true)
            case let byte where byte.isWord:
                place = first(from: start) { !$0.isWord && $0 != UInt8(ascii: ".") }
                // x'00' is one literal.
                if place == start + 1, [0x58, 0x78].contains(byte), bytes.at(place) == 0x27 {
                    place = min(first(from: place + 1) { $0 == 0x27 } + 1, bytes.count)
                }
                add(start..<place, isQuoted: false)
            default:
                place += 1
                add(start..<place, isQuoted: false)
            }
        }
    }

    /// Returns the place of the first byte from a place on that fulfils a condition; else the end.
    private func first(from start: Int, where condition: (UInt8) -> Bool) -> Int {
        bytes.dropFirst(start).firstIndex(where: condition) ?? bytes.count
    }

    private func endOfComment(from start: Int) -> Int {
        var place = first(from: start) { $0 == UInt8(ascii: "*") }
        while place < bytes.count, bytes.at(place + 1) != UInt8(ascii: "/") {
            place = first(from: place + 1) { $0 == UInt8(ascii: "*") }
        }
        return place + 2
    }

    /// Returns the place behind a quoted token; a doubled quote is part of it, except for brackets.
    private func endOfQuotes(from start: Int) -> Int {
        let isBracket = bytes[start] == 0x5B
        let end = isBracket ? 0x5D : bytes[start]
        var place = first(from: start + 1) { $0 == end }
        while !isBracket, bytes.at(place + 1) == end {
            place = first(from: place + 2) { $0 == end }
        }
        return min(place + 1, bytes.count)
    }

    private mutating func add(_ range: Range<Int>, isQuoted: Bool) {
        let word = String(decoding: bytes[range], as: UTF8.self)
        all.append(Token(range: range, folded: isQuoted ? "" : word.foldedIdentifier.text))
    }

    /// Returns the text from the first to the last of some tokens, as written.
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
    /// Whether the byte can be part of a name, a keyword or a number.
    fileprivate var isWord: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x24, 0x80...: true
        default: false
        }
    }
}
