internal import ArgumentParser
internal import Files
internal import Stores

/// The output formats of rows.
enum QueryForm: String, CaseIterable, ExpressibleByArgument {
    case table, csv, json
}

extension StoredValue {
    /// The printable form for people.
    ///
    /// A blob, and text that is no UTF-8, is an SQL literal, shortened if it is long.
    var shown: String {
        switch self {
        case .null: "NULL"
        case .integer(let number): String(number)
        case .real: sqlLiteral
        case .text(let bytes) where bytes.string != nil: printable(bytes: bytes.array)
        case .text(let bytes) where bytes.count > Self.shownBytes,
            .blob(let bytes) where bytes.count > Self.shownBytes:
            "X'\(bytes.array.prefix(Self.shownBytes).hex)…' (\(bytes.count) bytes)"
        case .text(let bytes), .blob(let bytes): "X'\(bytes.array.hex)'"
        }
    }

    private static let shownBytes = 32

    /// The field in RFC 4180's form.
    ///
    /// NULL is empty, and empty text is quoted. A blob, and text that is no UTF-8, is an SQL literal; other text is
    /// unchanged.
    var csvField: [UInt8] {
        switch self {
        case .null: return []
        case .integer, .real: return Array(shown.utf8)
        case .text(let bytes) where bytes.string != nil: return Self.csvField(bytes.array)
        case .text(let bytes), .blob(let bytes):
            return Array("X'\(bytes.array.hex)'".utf8)
        }
    }

    /// Returns a text as a field of RFC 4180.
    static func csvField(_ text: [UInt8]) -> [UInt8] {
        let quote = UInt8(ascii: "\"")
        let special: Set = [quote, UInt8(ascii: ","), 10, 13]
        let isPlain = !text.isEmpty && text.first != 32 && text.last != 32
        guard !isPlain || text.contains(where: special.contains) else { return text }
        return [quote] + text.flatMap { $0 == quote ? [quote, quote] : [$0] } + [quote]
    }

    /// The JSON value.
    ///
    /// A blob, and text that is no UTF-8, is an object with its bytes in hexadecimal digits.
    var jsonValue: String {
        switch self {
        case .null: "null"
        case .integer, .real: shown
        case .text(let bytes):
            bytes.string.map(Self.jsonString) ?? "{\"text\":\"\(bytes.array.hex)\"}"
        case .blob(let bytes): "{\"blob\":\"\(bytes.array.hex)\"}"
        }
    }

    /// Returns a JSON string (RFC 8259, 7).
    static func jsonString(_ text: String) -> String {
        var json = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": json += "\\\""
            case "\\": json += "\\\\"
            case "\n": json += "\\n"
            case "\r": json += "\\r"
            case "\t": json += "\\t"
            case _
            where scalar.properties.generalCategory == .control || scalar.properties.isBidiControl:
                let digits = String(scalar.value, radix: 16)
                json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: json.unicodeScalars.append(scalar)
            }
        }
        return json + "\""
    }
}
