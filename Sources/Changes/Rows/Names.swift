/// The greatest length of the name of a table, column or program, in bytes.
public let maximumNameLength = 1024

/// The name of a table in change files: in ASCII lower case, compared by bytes.
///
/// SQLite compares names this way; Swift's strings treat two encodings of é as equal.
public struct TableName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The name's UTF-8 in ASCII lower case: 1 to `maximumNameLength` bytes without NUL.
    public let bytes: [UInt8]

    /// Takes a name in any case; `nil` if it is empty or too long, is not UTF-8 or has a NUL.
    public init?(bytes: some Collection<UInt8>) {
        guard let bytes = lowercased(bytes) else { return nil }
        self.bytes = bytes
    }

    /// Takes a name in any case; `nil` if it is empty, too long or has a NUL.
    public init?(_ text: String) {
        self.init(bytes: Array(text.utf8))
    }

    public var description: String { String(decoding: bytes, as: UTF8.self) }

    public static func < (left: TableName, right: TableName) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// The name of a column in change files: in ASCII lower case, compared by bytes.
///
/// Names that begin with one `#` are reserved for sync. A schema's column that begins with `#` gets one more.
public struct ColumnName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The name's UTF-8 in ASCII lower case: 1 to `maximumNameLength` bytes without NUL.
    public let bytes: [UInt8]

    /// The column of the cell that names another row as the same as its row.
    public static let same = ColumnName(checked: Array("#same".utf8))

    /// Takes a name as change files have it, in any case; `nil` if it is empty or too long, is not UTF-8 or has a
    /// NUL.
    public init?(bytes: some Collection<UInt8>) {
        guard let bytes = lowercased(bytes) else { return nil }
        self.init(checked: bytes)
    }

    /// Takes the name of a schema's column, in any case; `nil` for the same reasons as with bytes.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        self.init(bytes: bytes.first == UInt8(ascii: "#") ? [UInt8(ascii: "#")] + bytes : bytes)
    }

    private init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Whether the name is reserved for sync, and so not a schema's.
    public var isReserved: Bool {
        bytes[0] == UInt8(ascii: "#")
            && !bytes.starts(with: [UInt8(ascii: "#"), UInt8(ascii: "#")])
    }

    /// The name of the schema's column in ASCII lower case; `nil` for a reserved name.
    public var schemaName: String? {
        if isReserved { return nil }
        let isEscaped = bytes[0] == UInt8(ascii: "#")
        return String(decoding: bytes.dropFirst(isEscaped ? 1 : 0), as: UTF8.self)
    }

    public var description: String { String(decoding: bytes, as: UTF8.self) }

    public static func < (left: ColumnName, right: ColumnName) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// Returns a name in ASCII lower case; `nil` if it is empty or too long, is not UTF-8 or has a NUL.
private func lowercased(_ bytes: some Collection<UInt8>) -> [UInt8]? {
    guard !bytes.isEmpty, bytes.count <= maximumNameLength, !bytes.contains(0),
        String(validating: bytes, as: UTF8.self) != nil
    else { return nil }
    return bytes.map {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0
    }
}
