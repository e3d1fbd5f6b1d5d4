/// The storage class of a value in SQLite (https://www.sqlite.org/datatype3.html, 2).
public enum StorageClass: UInt8, Sendable, Comparable {
    case null, integer, real, text, blob

    public static func < (left: StorageClass, right: StorageClass) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// A value with its storage class and its bytes: 1 is not 1.0, and 'milk' is not 'MILK'.
public enum StoredValue: Hashable, Sendable {
    case null
    case integer(Int64)
    /// The 64 bits of a number (IEEE 754), so that −0.0 is not 0.0.
    case real(bits: UInt64)
    /// Text as the store has it: it may contain NUL, and bytes that are not UTF-8.
    case text(StoredBytes)
    case blob(StoredBytes)

    /// Returns a floating-point number.
    public static func real(_ value: Double) -> StoredValue { .real(bits: value.bitPattern) }

    /// Returns the UTF-8 of a string as a text.
    public static func text(_ string: String) -> StoredValue {
        .text(StoredBytes(Array(string.utf8)))
    }

    public var storageClass: StorageClass {
        switch self {
        case .null: .null
        case .integer: .integer
        case .real: .real
        case .text: .text
        case .blob: .blob
        }
    }
}

extension StoredValue {
    /// The value as an SQL literal, exact except for the sign of −0.0.
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
