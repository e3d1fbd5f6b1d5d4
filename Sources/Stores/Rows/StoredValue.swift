/// How SQLite stores a value (https://www.sqlite.org/datatype3.html, 2).
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
    /// Text, as it is in the store: it may hold NUL, and bytes that are no UTF-8.
    case text(StoredBytes)
    case blob(StoredBytes)

    /// A number with a fraction.
    public static func real(_ value: Double) -> StoredValue { .real(bits: value.bitPattern) }

    /// The UTF-8 of a string.
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
