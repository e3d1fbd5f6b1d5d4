/// Where a row is in its table; keys of one table sort as a cursor reads them.
public enum RowKey: Hashable, Sendable {
    case rowID(Int64)
    /// The values of the primary key, encoded so that their order is that of their bytes.
    case primaryKey([UInt8])
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

/// Encodes values so that memcmp(3) orders them as SQLite's BINARY collation does, ascending
/// (https://www.sqlite.org/datatype3.html, 4.1): NULL, numbers, texts, blobs.
///
/// Numbers that SQLite finds equal, 1 and 1.0, are the same bytes, since they are the same key.
struct KeyEncoding {
    private(set) var bytes: [UInt8] = []

    /// Begins a new key.
    mutating func clear() { bytes.removeAll(keepingCapacity: true) }

    mutating func appendNull() { bytes.append(0) }

    mutating func append(_ integer: Int64) {
        // The greatest double that is not above it, and the distance from there: below 2¹¹.
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
