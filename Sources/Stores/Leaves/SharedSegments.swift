public import Files

/// The parts of two states of a store that have the same bytes at the same places, as their digests tell.
public struct SharedSegments: Sendable {
    private let size: Int64
    private let isShared: [Bool]

    /// Compares digests.
    ///
    /// - Parameters:
    ///   - old: those of one state's segments, from the first on.
    ///   - new: those of the other's.
    ///   - size: bytes in a segment, which is a number of whole pages.
    public init(_ old: [Digest], _ new: [Digest], size: Int) {
        self.size = Int64(size)
        // The last of the shorter one may be of fewer bytes, and then has another digest.
        isShared = zip(old, new).map { $0 == $1 }
    }

    /// Whether a page is the same in both.
    func has(page number: Int64, ofSize pageSize: Int) -> Bool {
        let index = Int((number - 1) * Int64(pageSize) / size)
        return isShared.indices.contains(index) && isShared[index]
    }
}
