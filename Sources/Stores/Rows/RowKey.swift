/// The key of a row in its table; keys of one table sort in the order in which a cursor reads them.
public enum RowKey: Hashable, Sendable {
    case rowID(Int64)
    /// The values of the primary key, encoded so that their bytes sort in the order of the values.
    case primaryKey([UInt8])

    /// The rowid; `nil` for the values of a primary key.
    public var number: Int64? { if case .rowID(let number) = self { number } else { nil } }
}

extension RowKey: Comparable {
    public static func < (left: RowKey, right: RowKey) -> Bool {
        switch (left, right) {
        case (.rowID(let left), .rowID(let right)): left < right
        case (.primaryKey(let left), .primaryKey(let right)):
            left.withUnsafeBytes { left in
                right.withUnsafeBytes { right in left.compare(with: right) < 0 }
            }
        case (.rowID, .primaryKey): true
        case (.primaryKey, .rowID): false
        }
    }
}

/// An encoding of values for which memcmp(3) gives the order of SQLite's BINARY collation, ascending
/// (https://www.sqlite.org/datatype3.html, 4.1): NULL, numbers, texts, blobs.
///
/// Numbers that SQLite treats as equal, such as 1 and 1.0, have the same bytes, since they are the same key.
struct KeyEncoding {
    private(set) var bytes: [UInt8] = []

    /// Begins a new key.
    mutating func clear() { bytes.removeAll(keepingCapacity: true) }

    mutating func appendNull() { bytes.append(0) }

    mutating func append(_ integer: Int64) {
        // This encodes the greatest double that is not above the integer, and the distance from it, which is below
        // 2¹¹.
        var double = Double(integer)
        if double >= 0x1p63 || Int64(double) > integer { double = double.nextDown }
        append(double, distance: UInt16(integer - Int64(double)))
    }

    mutating func append(_ real: Double) { append(real, distance: 0) }

    mutating func append(_ text: UnsafeRawBufferPointer, isText: Bool) {
        bytes.append(isText ? 2 : 3)
        for byte in text {
            bytes.append(byte)
            if byte == 0 { bytes.append(0xFF) }
        }
        bytes.append(0)
        bytes.append(0)
    }

    private mutating func append(_ double: Double, distance: UInt16) {
        bytes.append(1)
        let bits = (double == 0 ? 0 : double).bitPattern
        let sortable = bits >> 63 == 1 ? ~bits : bits | 1 << 63
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: sortable >> UInt64(shift)))
        }
        bytes.append(UInt8(distance >> 8))
        bytes.append(UInt8(distance & 0xFF))
    }
}

extension RowKey {
    /// Encodes the values of a primary key, in the key's order.
    package init(primaryKey values: some Sequence<StoredValue>) {
        var encoding = KeyEncoding()
        for value in values {
            switch value {
            case .null: encoding.appendNull()
            case .integer(let number): encoding.append(number)
            case .real(let bits): encoding.append(Double(bitPattern: bits))
            case .text(let bytes): bytes.withUnsafeBytes { encoding.append($0, isText: true) }
            case .blob(let bytes): bytes.withUnsafeBytes { encoding.append($0, isText: false) }
            }
        }
        self = .primaryKey(encoding.bytes)
    }

    /// The values of a primary key, equal to the encoded ones; a rowid is an integer.
    package var values: [StoredValue] {
        guard case .primaryKey(let bytes) = self else {
            if case .rowID(let number) = self { return [.integer(number)] }
            return []
        }
        var decoding = KeyDecoding(bytes)
        var values: [StoredValue] = []
        while let value = decoding.next() { values.append(value) }
        return values
    }
}

/// The decoding of `KeyEncoding`.
private struct KeyDecoding {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    mutating func next() -> StoredValue? {
        switch rest.popFirst() {
        case 0: .null
        case 1: number()
        case 2: .text(StoredBytes(string()))
        case 3: .blob(StoredBytes(string()))
        default: nil
        }
    }

    private mutating func number() -> StoredValue {
        let sortable = take(8)
        let bits = sortable >> 63 == 1 ? sortable & ~(1 << 63) : ~sortable
        let double = Double(bitPattern: bits)
        let distance = take(2)
        guard let whole = Int64(exactly: double) else { return .real(bits: bits) }
        return .integer(whole + Int64(distance))
    }

    private mutating func take(_ count: Int) -> UInt64 {
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func string() -> [UInt8] {
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == 0 {
                guard rest.popFirst() == 0xFF else { break }
            }
            bytes.append(byte)
        }
        return bytes
    }
}
