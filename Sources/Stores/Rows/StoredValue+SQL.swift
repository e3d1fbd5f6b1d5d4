extension StoredValue {
    /// As a literal in SQL that gives this value, but for the sign of −0.0.
    public var sqlLiteral: String {
        switch self {
        case .null: return "NULL"
        case .integer(.min): return "(-9223372036854775807 - 1)"
        case .integer(let value): return String(value)
        case .real(let bits): return Self.literal(Double(bitPattern: bits))
        case .text(let bytes):
            // SQLite's parser ends at a NUL.
            guard let string = bytes.string, !string.utf8.contains(0) else {
                return "CAST(\(Self.literal(bytes)) AS TEXT)"
            }
            return string.sqlLiteral
        case .blob(let bytes): return Self.literal(bytes)
        }
    }

    private static func literal(_ value: Double) -> String {
        value.isFinite ? String(value) : value > 0 ? "9e999" : "-9e999"
    }

    private static func literal(_ bytes: StoredBytes) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let hex = bytes.array.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return "X'\(String(decoding: hex, as: UTF8.self))'"
    }
}
