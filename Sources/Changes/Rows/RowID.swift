internal import Files

/// The name by which devices know a row as the same one.
///
/// The id of a key or of content is a function of it, so that two devices that never met agree.
public struct RowID: Identifier {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Makes the id of a row that is known by its key.
    ///
    /// - Parameters:
    ///   - key: the key's columns in the key's order, with their values; references as row ids.
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

    /// Makes the id of a row that is known by its content.
    ///
    /// - Parameters:
    ///   - content: the columns, in any order, without the local key and without the cells that equal
    ///     their column's default, or NULL if it has none. Of references within a cycle of tables see
    ///     `ContentValue`.
    ///   - table: the table.
    ///   - occurrence: how many such rows stand before it in the order of local keys.
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

    /// Makes an id that nothing but chance has made: twelve random bytes of a capture and a count.
    ///
    /// - Parameters:
    ///   - high: eight random bytes of the capture.
    ///   - low: four more.
    ///   - count: the how many-th row of the capture it is.
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
    /// A reference to a table that refers back, directly or by others: only that it is there counts.
    case cyclicReference
}

private let keyPrefix = hashPrefix("key")
private let seedPrefix = hashPrefix("seed")

/// Returns the bytes that keep hashes for one purpose from being those for another.
private func hashPrefix(_ purpose: String) -> [UInt8] {
    Array("grocerydude \(purpose) 1\0".utf8)
}
