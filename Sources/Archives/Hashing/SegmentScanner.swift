public import Files

/// Hashes files a segment at a time on all cores, and writes nothing.
///
/// The caller ends with `close()`.
public final class SegmentScanner {
    /// The hashes of one segment.
    public struct Scanned: Sendable {
        public var index: Int
        /// The SHA-256 of all of it.
        public var digest: Digest
        /// The hash of each sector; none if nobody asked for them.
        public var sectors: [UInt64]
    }

    /// The work of one thread; the pipeline hands it to and fro.
    private final class Job: @unchecked Sendable {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Segment.size,
            alignment: 64
        )
        var hasher: SectorHasher?
        var length = 0
        var scanned = Scanned(index: 0, digest: .ofNothing, sectors: [])

        deinit { buffer.deallocate() }

        func work() {
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<length])
            scanned.digest = Digest(of: bytes)
            scanned.sectors = hasher?.hashes(of: bytes) ?? []
        }
    }

    private let pipeline: OrderedPipeline<Job>

    /// Starts the threads.
    public init(threads: Int) {
        // The archive's writer has its segments in memory besides.
        pipeline = OrderedPipeline(threads: threads, capacity: threads + 2, makeJob: { Job() }) {
            { $0.work() }
        }
    }

    /// Ends the threads.
    public func close() { pipeline.close() }

    /// Reads a file from its beginning to its end.
    ///
    /// - Parameters:
    ///   - size: its size in bytes.
    ///   - hasher: hashes its sectors; `nil` if nobody asks for them.
    ///   - isStill: whether the file has not changed; called after each segment.
    ///   - read: fills the buffer from an offset on, and returns how many bytes there were.
    ///   - body: called with each segment, in order.
    /// - Returns: `false` if the file ended early or was not still.
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
                // A job that was taken has to come back in its turn, whatever was read.
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
