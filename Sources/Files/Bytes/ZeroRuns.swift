internal import Foundation

/// The long runs of zeros in bytes to write, which can become holes in the file.
///
/// A hole consists of whole pages. Short runs are not worth it, since a file in many pieces is slow to read.
struct ZeroRuns: Sequence, IteratorProtocol {
    private static let pageSize = 4096
    /// The minimum length of a run in pages.
    private static let least = 16
    private static let zeros = [UInt8](repeating: 0, count: pageSize)

    private let bytes: UnsafeRawBufferPointer
    private var place: Int

    /// - Parameters:
    ///   - bytes: the bytes.
    ///   - offset: the offset of the bytes in the file.
    init(in bytes: UnsafeRawBufferPointer, at offset: Int64) {
        self.bytes = bytes
        place = (Self.pageSize - Int(offset % Int64(Self.pageSize))) % Self.pageSize
    }

    /// Returns the next run.
    mutating func next() -> Range<Int>? {
        while place + Self.pageSize * Self.least <= bytes.count {
            let start = place
            while place + Self.pageSize <= bytes.count, isZero(place) { place += Self.pageSize }
            if place - start >= Self.pageSize * Self.least { return start..<place }
            if place + Self.pageSize <= bytes.count { place += Self.pageSize }
        }
        return nil
    }

    private func isZero(_ start: Int) -> Bool {
        guard let base = bytes.baseAddress else { return false }
        return memcmp(base + start, Self.zeros, Self.pageSize) == 0
    }
}
