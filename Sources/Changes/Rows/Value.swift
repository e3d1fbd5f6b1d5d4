public import Files

/// The value of a cell: SQLite's storage class and bytes, or a reference to content outside the cell.
///
/// Values are equal if their bytes are: 1 is not 1.0, and 0.0 is not −0.0.
public enum Value: Sendable {
    case null
    case integer(Int64)
    /// Any number except NaN, which SQLite treats as NULL.
    case real(Double)
    /// Text as SQLite has it: it may contain NUL, and bytes that are not UTF-8.
    case text([UInt8])
    case blob([UInt8])
    /// A reference; the zero id names no row.
    case row(RowID)
    /// A file beside the store: its name (see `isFileName`), and its content as a blob of the container.
    indirect case file(name: [UInt8], content: BlobReference)
    /// A text whose content is a blob of the container.
    indirect case longText(BlobReference)
    /// A blob whose content is a blob of the container.
    indirect case longBlob(BlobReference)
    /// A value in a column that refers by value, which named no row where it was written: it refers to nothing.
    indirect case plain(Value)
    /// A value in a column that refers by value, with the row that had it where it was written: it means this row,
    /// whatever that is called now.
    indirect case naming(RowID, Value)
}

/// The name and the length of a blob of the container.
public struct BlobReference: Hashable, Sendable {
    /// The greatest length of a blob, in bytes.
    public static let maximumSize: UInt64 = 1 << 30

    /// The SHA-256 of the content.
    public let digest: Digest
    /// The length of the content in bytes, at most `maximumSize`.
    public let size: UInt64

    public init(digest: Digest, size: UInt64) {
        self.digest = digest
        self.size = size
    }
}

extension Value: Hashable {
    public static func == (left: Value, right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left.bitPattern == right.bitPattern
        case (.text(let left), .text(let right)), (.blob(let left), .blob(let right)):
            left == right
        case (.row(let left), .row(let right)): left == right
        case (.file(let name, let content), .file(let otherName, let otherContent)):
            name == otherName && content == otherContent
        case (.longText(let left), .longText(let right)),
            (.longBlob(let left), .longBlob(let right)):
            left == right
        case (.plain(let left), .plain(let right)): left == right
        case (.naming(let id, let left), .naming(let other, let right)):
            id == other && left == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(tag)
        switch self {
        case .null: break
        case .integer(let number): hasher.combine(number)
        case .real(let number): hasher.combine(number.bitPattern)
        case .text(let bytes), .blob(let bytes): hasher.combine(bytes)
        case .row(let id): hasher.combine(id)
        case .file(let name, let content):
            hasher.combine(name)
            hasher.combine(content)
        case .longText(let content), .longBlob(let content): hasher.combine(content)
        case .plain(let value): hasher.combine(value)
        case .naming(let id, let value):
            hasher.combine(id)
            hasher.combine(value)
        }
    }
}

extension Value {
    /// The blob of the container that the value names, if any.
    public var reference: BlobReference? {
        switch self {
        case .file(_, let content), .longText(let content), .longBlob(let content): content
        case .plain(let value), .naming(_, let value): value.reference
        default: nil
        }
    }

    /// Returns whether bytes can name a file: a path of at most 4,096 bytes that never leads out of its directory.
    public static func isFileName(_ name: some Collection<UInt8>) -> Bool {
        name.count <= 4096 && (try? RelativePath(validating: name)) != nil
    }

    /// The value by itself, without the row that it names, or the mark that it names none.
    public var unmarked: Value {
        switch self {
        case .plain(let value), .naming(_, let value): value
        default: self
        }
    }

    /// The row that the value named where it was written, if it is known.
    public var namedRow: RowID? {
        if case .naming(let id, _) = self, !id.isZero { id } else { nil }
    }

    /// Returns whether it names the same row as another value, or is that value.
    public func means(_ other: Value?) -> Bool {
        guard let other else { return false }
        return namedRow != nil && namedRow == other.namedRow || unmarked == other.unmarked
    }

    /// Returns another value, marked as this one is.
    public func marking(_ value: Value) -> Value {
        switch self {
        case .plain: .plain(value)
        case .naming(let id, _): .naming(id, value)
        default: value
        }
    }

    /// The first byte of the value on the wire.
    var tag: UInt8 {
        switch self {
        case .null: 0
        case .integer: 1
        case .real: 2
        case .text: 3
        case .blob: 4
        case .row: 5
        case .file: 6
        case .longText: 7
        case .longBlob: 8
        case .plain: 9
        case .naming: 10
        }
    }

    /// The greatest possible number of bytes on the wire.
    var encodedBound: Int {
        switch self {
        case .null: 1
        case .integer: 11
        case .real: 9
        case .text(let bytes), .blob(let bytes): 1 + 5 + bytes.count
        case .row: 17
        case .file(let name, _): 1 + 5 + name.count + 32 + 5
        case .longText, .longBlob: 1 + 32 + 5
        case .plain(let value): 1 + value.encodedBound
        case .naming(_, let value): 17 + value.encodedBound
        }
    }

    /// The value's bytes on the wire.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.value(self)
        return writer.bytes
    }

    /// Orders values by their wire bytes (`memcmp`); of two values with the same stamp the smaller loses.
    public func precedes(_ other: Value) -> Bool {
        tag != other.tag ? tag < other.tag : encoded.lexicographicallyPrecedes(other.encoded)
    }
}
