/// A value by which Core Data refers to a blob in a file of its own: 0x02, the file's name, NUL.
public struct ExternalReference: Hashable, Sendable {
    /// The length of such a value, in bytes.
    public static let length = 38

    /// The file's name: a UUID in its text form, in either case.
    public let name: String

    /// Takes a file's name; `nil` if it is no UUID.
    public init?(name: some Collection<UInt8>) {
        guard name.count == 36, Self.isUUID(name) else { return nil }
        self.name = String(decoding: name, as: UTF8.self)
    }

    /// Takes a blob's bytes; `nil` if they are no reference.
    public init?(_ blob: some Collection<UInt8>) {
        guard blob.count == Self.length, blob.first == 2,
            blob[blob.index(blob.startIndex, offsetBy: Self.length - 1)] == 0
        else { return nil }
        self.init(name: blob.dropFirst().dropLast())
    }

    /// Takes a value of a row; `nil` if it is no reference.
    public init?(_ value: StoredValue) {
        guard case .blob(let bytes) = value, bytes.count == Self.length else { return nil }
        self.init(bytes.array)
    }

    /// The value of a row that refers to the file.
    public var value: StoredValue { .blob(StoredBytes([2] + Array(name.utf8) + [0])) }

    private static func isUUID(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.enumerated().allSatisfy { index, byte in
            switch index {
            case 8, 13, 18, 23: byte == UInt8(ascii: "-")
            default:
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                    UInt8(ascii: "A")...UInt8(ascii: "F"):
                    true
                default: false
                }
            }
        }
    }
}
