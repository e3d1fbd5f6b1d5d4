internal import Files

/// The id by which devices know a row as the same one.
///
/// The id of a key or of content is a function of it, so devices that never met compute the same id.
public struct RowID: Identifier {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Creates the id of a row that is known by its key.
    ///
    /// - Parameters:
    ///   - key: the key's columns in the key's order, with their values; references are row ids.
    ///   - table: the table.
    public init(key: [(column: ColumnName, value: Value)], in table: TableName) {
        var writer = ByteWriter()
        writer.raw(keyPrefix)
        writer.bytes(table.bytes)
        writer.varint(UInt64(key.count))
        for (column, value) in key {
            writer.bytes(column.bytes)
            writer.value(value)
        }
        self.init(firstHalfOf: writer.bytes)
    }

    /// Creates the id of a row that is known by its content.
    ///
    /// - Parameters:
    ///   - content: the columns, in any order, without the local key. Cells that equal their column's default, or
    ///     NULL if it has none, are left out. For references within a cycle of tables see `ContentValue`.
    ///   - table: the table.
    ///   - occurrence: the number of equal rows before it in the order of local keys.
    public init(
        content: [(column: ColumnName, value: ContentValue)],
        in table: TableName,
        occurrence: UInt64
    ) {
        var writer = ByteWriter()
        writer.reserve(256)
        writer.raw(seedPrefix)
        writer.bytes(table.bytes)
        writer.varint(UInt64(content.count))
        let isRising = zip(content, content.dropFirst()).allSatisfy { $0.column < $1.column }
        let rising = isRising ? content : content.sorted { $0.column < $1.column }
        for (column, value) in rising {
            writer.bytes(column.bytes)
            switch value {
            case .value(let value): writer.value(value)
            case .cyclicReference: writer.byte(Value.row(.zero).tag)
            }
        }
        writer.varint(occurrence)
        self.init(firstHalfOf: writer.bytes)
    }

    /// Creates a random id: twelve random bytes of a capture and a count.
    ///
    /// - Parameters:
    ///   - high: eight random bytes of the capture.
    ///   - low: four more.
    ///   - count: the number of the row within the capture.
    public init(randomHigh high: UInt64, randomLow low: UInt32, count: UInt32) {
        self.init(high: high, low: UInt64(low) << 32 | UInt64(count))
    }

    private init(firstHalfOf bytes: [UInt8]) {
        let digest = bytes.withUnsafeBytes { Digest(of: $0) }
        self = digest.withUnsafeBytes { bytes in
            RowID(
                high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }
}

/// A cell of a row that is known by its content.
public enum ContentValue: Hashable, Sendable {
    case value(Value)
    /// A reference to a table that refers back, directly or through others. Only its presence counts.
    case cyclicReference
}

private let keyPrefix = hashPrefix("key")
private let seedPrefix = hashPrefix("seed")

/// Returns a prefix that separates the hashes for one purpose from those for another.
private func hashPrefix(_ purpose: String) -> [UInt8] {
    Array("grocerydude \(purpose) 1\0".utf8)
}
