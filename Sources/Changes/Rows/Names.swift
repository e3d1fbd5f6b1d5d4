/// The longest name of a table, column or program, in bytes.
public let maximumNameLength = 1024

/// The name of a table as it travels: in ASCII lower case, compared by bytes.
///
/// SQLite compares names so; Swift's strings would take é and e with an accent for one.
public struct TableName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// UTF-8, in ASCII lower case: 1 to `maximumNameLength` bytes, none of them NUL.
    public let bytes: [UInt8]

    /// Takes a name in any case; `nil` if it is empty, too long, no UTF-8 or has a NUL.
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

/// The name of a column as it travels: in ASCII lower case, compared by bytes.
///
/// Names that begin with one `#` are sync's own. A schema's column that begins so gets one more.
public struct ColumnName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// UTF-8, in ASCII lower case: 1 to `maximumNameLength` bytes, none of them NUL.
    public let bytes: [UInt8]

    /// The cell that says which other row a row is the same as.
    public static let same = ColumnName(checked: Array("#same".utf8))

    /// Takes a name as it travels, in any case; `nil` if it is empty, too long, no UTF-8 or has a NUL.
    public init?(bytes: some Collection<UInt8>) {
        guard let bytes = lowercased(bytes) else { return nil }
        self.init(checked: bytes)
    }

    /// Takes the name of a schema's column, in any case; `nil` as for bytes.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        self.init(bytes: bytes.first == UInt8(ascii: "#") ? [UInt8(ascii: "#")] + bytes : bytes)
    }

    private init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Whether it is sync's own, and no schema's.
    public var isReserved: Bool {
        bytes[0] == UInt8(ascii: "#")
            && !bytes.starts(with: [UInt8(ascii: "#"), UInt8(ascii: "#")])
    }

    /// The schema's column in ASCII lower case; `nil` for one of sync's own.
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

/// Returns a name in ASCII lower case; `nil` if it is empty, too long, no UTF-8 or has a NUL.
private func lowercased(_ bytes: some Collection<UInt8>) -> [UInt8]? {
    guard !bytes.isEmpty, bytes.count <= maximumNameLength, !bytes.contains(0),
        String(validating: bytes, as: UTF8.self) != nil
    else { return nil }
    return bytes.map {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0
    }
}
