public import Files

/// A scanner that hashes files by segments on all cores, and writes nothing.
///
/// The caller ends with `close()`.
public final class SegmentScanner {
    /// The hashes of one segment.
    public struct Scanned: Sendable {
        public var index: Int
        /// The SHA-256 of the segment.
        public var digest: Digest
        /// The hash of each sector; empty if there was no hasher.
        public var sectors: [UInt64]
    }

    /// The work of one thread; the pipeline hands it over and back.
    private final class Job: @unchecked Sendable {
        let buffer = UnsafeMutableRawBufferPointer.aligned(byteCount: Segment.size)
        var hasher: SectorHasher?
        var length = 0
        var scanned = Scanned(index: 0, digest: .ofNothing, sectors: [])

        deinit { buffer.deallocate() }

        func work() {
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<length])
            scanned.digest = Digest(ofSegment: bytes)
            scanned.sectors = hasher?.hashes(of: bytes) ?? []
        }
    }

    private let pipeline: OrderedPipeline<Job>

    /// Starts the threads.
    public init(threads: Int) {
        // The archive's writer has its segments in memory too.
        pipeline = OrderedPipeline(threads: threads, capacity: threads + 2, makeJob: { Job() }) {
            { $0.work() }
        }
    }

    /// Ends the threads.
    public func close() { pipeline.close() }

    /// Reads a file from beginning to end.
    ///
    /// - Parameters:
    ///   - size: the file's size in bytes.
    ///   - hasher: hashes the sectors; `nil` to hash none.
    ///   - isStill: whether the file is unchanged; called after each segment.
    ///   - read: fills the buffer from an offset, and returns the number of bytes.
    ///   - body: called with each segment, in order.
    /// - Returns: `false` if the file ended early or changed.
    /// - Throws: the error of `isStill`, `read` or `body`.
    public func scan(
        size: Int64,
        hasher: SectorHasher? = nil,
        isStill: () throws -> Bool = { true },
        read: (UnsafeMutableRawBufferPointer, Int64) throws -> Int,
        body: (Scanned) throws -> Void
    ) throws -> Bool {
        do {
            for index in 0..<Segment.count(forSize: size) {
                let job = try pipeline.vacantJob { try body($0.scanned) }
                let length = Segment.length(at: index, ofSize: size)
                let space = UnsafeMutableRawBufferPointer(rebasing: job.buffer[..<length])
                let isGood = Result {
                    try read(space, Int64(index) * Int64(Segment.size)) == length && isStill()
                }
                job.hasher = hasher
                job.length = length
                job.scanned.index = index
                // A vacant job must be submitted in its turn, whatever was read.
                pipeline.submit(job)
                guard try isGood.get() else {
                    try drop()
                    return false
                }
            }
            while try pipeline.takeOldest({ try body($0.scanned) }) != nil {}
            return true
        } catch {
            try? drop()
            throw error
        }
    }

    private func drop() throws {
        while try pipeline.takeOldest({ _ in }) != nil {}
    }
}
