internal import Changes
internal import Files
internal import Stores

/// A row of the store in few bytes, with hashes in place of long values.
///
/// Images are equal if and only if the rows are, except for collisions of the hash.
struct RowImage: Hashable {
    /// The bytes: for each column its number in the sidecar, then its value or its hash.
    var bytes: [UInt8]

    /// The value of a column in an image.
    enum Part: Hashable {
        case value(StoredValue)
        /// The storage class and the SHA-256 of a value that is longer than `limit`.
        case hash(StorageClass, Digest)
    }

    /// The greatest length of a text or a blob that is contained whole, in bytes.
    static let limit = 24

    /// The first eight bytes of its SHA-256.
    var hash: [UInt8] { Array(bytes.withUnsafeBytes { Digest(of: $0) }.bytes.prefix(8)) }

    /// Returns the values by the columns' numbers.
    ///
    /// - Throws: `FormatBreach`.
    func partsByColumn() throws -> [Int64: Part] {
        Dictionary(try parts().map { ($0.column, $0.part) }) { $1 }
    }

    /// Returns the columns' numbers and values.
    ///
    /// - Throws: `FormatBreach`.
    func parts() throws -> [(column: Int64, part: Part)] {
        try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            var parts: [(Int64, Part)] = []
            while reader.left > 0 {
                let column = Int64(bitPattern: try reader.varint())
                parts.append((column, try Part(&reader)))
            }
            return parts
        }
    }
}

extension RowImage.Part {
    fileprivate init(_ reader: inout ByteReader) throws(FormatBreach) {
        switch try reader.byte() {
        case 0: self = .value(.null)
        case 1: self = .value(.integer(try reader.zigzag()))
        case 2: self = .value(.real(bits: try reader.bigEndian()))
        case 3: self = .value(.text(StoredBytes(try reader.bytes())))
        case 4: self = .value(.blob(StoredBytes(try reader.bytes())))
        case 5: self = .hash(.text, try reader.digest())
        case 6: self = .hash(.blob, try reader.digest())
        default: throw FormatBreach("a value is of an unknown kind")
        }
    }
}

// The form in which the sidecar keeps an image, beside the row's state: the bytes as they are, or a 0 and the parts, of
// which those that the state has are the column's number and a 7. No column has the number 0. Most rows are read only to
// be compared, so this works on bytes: a value of a state begins like the part of an image.
extension RowImage {
    static let sharing: UInt8 = 0
    private static let mark: UInt8 = 7

    /// Returns the bytes that the sidecar keeps.
    ///
    /// - Parameter shared: the numbers of the columns whose values are the state's.
    /// - Returns: the bytes.
    /// - Throws: `FormatBreach`.
    func kept(sharing shared: Set<Int64>) throws -> [UInt8] {
        if shared.isEmpty { return bytes }
        var writer = ByteWriter()
        writer.byte(Self.sharing)
        try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            while reader.left > 0 {
                let column = try reader.varint()
                writer.varint(column)
                let start = reader.position
                try reader.skipPart()
                if shared.contains(Int64(bitPattern: column)) {
                    writer.byte(Self.mark)
                } else {
                    writer.raw(bytes[start..<reader.position])
                }
            }
        }
        return writer.bytes
    }

    /// Creates an image from bytes that the sidecar keeps.
    ///
    /// - Parameters:
    ///   - kept: the bytes.
    ///   - cells: the cells of the row's state, as the sidecar keeps them; see `RowStates`.
    /// - Throws: `FormatBreach`.
    init(kept: UnsafeRawBufferPointer, cells: UnsafeRawBufferPointer) throws(FormatBreach) {
        guard kept.first == Self.sharing else {
            bytes = Array(kept)
            return
        }
        let values = try ByteReader.values(ofCells: cells)
        var writer = ByteWriter()
        writer.reserve(kept.count + cells.count)
        var reader = ByteReader(kept)
        _ = try reader.byte()
        while reader.left > 0 {
            let column = try reader.varint()
            writer.varint(column)
            let start = reader.position
            if reader.left > 0, kept[start] == Self.mark {
                _ = try reader.byte()
                guard let value = values.first(where: { $0.column == column }) else {
                    throw FormatBreach("a value is not in the state")
                }
                try writer.part(UnsafeRawBufferPointer(rebasing: cells[value.place]))
            } else {
                try reader.skipPart()
                writer.raw(kept[start..<reader.position])
            }
        }
        bytes = writer.bytes
    }
}

extension ByteReader {
    /// Skips a part of an image.
    fileprivate mutating func skipPart() throws(FormatBreach) {
        switch try byte() {
        case 0: break
        case 1: _ = try varint()
        case 2: _ = try raw(8)
        case 3, 4: _ = try bytes()
        case 5, 6: _ = try raw(32)
        default: throw FormatBreach("a value is of an unknown kind")
        }
    }
}

extension ByteWriter {
    /// Writes the part of an image for a value on the wire that a store has as it is, or as the content of a blob.
    fileprivate mutating func part(_ value: UnsafeRawBufferPointer) throws(FormatBreach) {
        var reader = ByteReader(value)
        let tag = try reader.byte()
        switch tag {
        case 0, 1, 2: raw(value)
        case 3, 4:
            let content = try reader.bytes()
            if content.count <= RowImage.limit { return raw(value) }
            byte(tag + 2)
            digest(Digest(of: content))
        case 7, 8:
            byte(tag - 2)
            raw(try reader.raw(32))
        case 9, 10:
            if tag == 10 { _ = try reader.raw(16) }
            try part(reader.raw(reader.left))
        default: throw FormatBreach("a value is not one of a store")
        }
    }
}

extension RowImage {
    /// Creates the image of a row.
    ///
    /// - Parameter parts: the parts by the columns' numbers, in a fixed order.
    init(_ parts: [(column: Int64, part: Part)]) {
        var writer = ByteWriter()
        for (column, part) in parts {
            writer.varint(UInt64(bitPattern: column))
            part.append(to: &writer)
        }
        bytes = writer.bytes
    }
}

extension RowImage.Part {
    /// Creates the part for a value.
    init(_ value: StoredValue) {
        switch value {
        case .text(let bytes) where bytes.count > RowImage.limit:
            self = .hash(.text, bytes.withUnsafeBytes { Digest(of: $0) })
        case .blob(let bytes) where bytes.count > RowImage.limit:
            self = .hash(.blob, bytes.withUnsafeBytes { Digest(of: $0) })
        default: self = .value(value)
        }
    }

    /// Creates the part for a value whose content is a blob of the container; `nil` for any other value.
    init?(long value: Value) {
        switch value.unmarked {
        case .longText(let content): self = .hash(.text, content.digest)
        case .longBlob(let content): self = .hash(.blob, content.digest)
        default: return nil
        }
    }

    fileprivate func append(to writer: inout ByteWriter) {
        switch self {
        case .value(.null): writer.byte(0)
        case .value(.integer(let number)):
            writer.byte(1)
            writer.zigzag(number)
        case .value(.real(let bits)):
            writer.byte(2)
            writer.bigEndian(bits)
        case .value(.text(let bytes)):
            writer.byte(3)
            writer.bytes(bytes.array)
        case .value(.blob(let bytes)):
            writer.byte(4)
            writer.bytes(bytes.array)
        case .hash(let storage, let digest):
            writer.byte(storage == .text ? 5 : 6)
            writer.digest(digest)
        }
    }
}
