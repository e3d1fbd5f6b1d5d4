internal import Foundation

/// The bytes of a text or a blob; up to 15 bytes need no allocation.
public struct StoredBytes: Hashable, Sendable {
    /// Up to 15 bytes, with their count in the last byte.
    private struct Short: Hashable {
        var low: UInt64 = 0
        var high: UInt64 = 0
    }

    private enum Storage: Hashable {
        case short(Short)
        case long([UInt8])
    }

    private static let shortLimit = 15
    /// The bytes, in the short form whenever they fit, so that equal bytes have equal storage.
    private let storage: Storage

    /// Copies bytes.
    public init(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= Self.shortLimit else {
            storage = .long(Array(bytes))
            return
        }
        var short = Short()
        withUnsafeMutableBytes(of: &short) { target in
            target.copyMemory(from: bytes)
            target[Self.shortLimit] = UInt8(bytes.count)
        }
        storage = .short(short)
    }

    /// Takes bytes.
    public init(_ bytes: [UInt8]) {
        if bytes.count > Self.shortLimit {
            storage = .long(bytes)
        } else {
            self = bytes.withUnsafeBytes { StoredBytes($0) }
        }
    }

    public var count: Int {
        switch storage {
        case .short(let short): Swift.withUnsafeBytes(of: short) { Int($0[Self.shortLimit]) }
        case .long(let bytes): bytes.count
        }
    }

    /// Passes the bytes to `body`.
    public func withUnsafeBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        switch storage {
        case .short(let short):
            try Swift.withUnsafeBytes(of: short) { bytes in
                let count = Int(bytes[Self.shortLimit])
                return try body(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            }
        case .long(let bytes): try bytes.withUnsafeBytes(body)
        }
    }

    /// The bytes as an array.
    public var array: [UInt8] { withUnsafeBytes { Array($0) } }

    /// The bytes as a string; `nil` if they are not UTF-8.
    public var string: String? { String(validating: array, as: UTF8.self) }
}

extension StoredBytes: Comparable {
    /// Compares bytes as memcmp(3) does; a prefix is less than the whole.
    public static func < (left: StoredBytes, right: StoredBytes) -> Bool {
        left.withUnsafeBytes { left in
            right.withUnsafeBytes { right in left.compare(with: right) < 0 }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Compares bytes as memcmp(3) does; a prefix is less than the whole.
    func compare(with other: UnsafeRawBufferPointer) -> Int {
        let length = Swift.min(count, other.count)
        if length > 0, let start = baseAddress, let otherStart = other.baseAddress {
            let order = memcmp(start, otherStart, length)
            if order != 0 { return Int(order) }
        }
        return count - other.count
    }
}
