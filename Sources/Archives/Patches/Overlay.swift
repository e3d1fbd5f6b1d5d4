internal import Files
internal import Synchronization

/// The bytes of patches over one segment of a file; bytes of later patches replace those of earlier ones.
///
/// It has the memory of one segment, whatever the number of patches. One thread fills it, and afterwards it is only
/// read.
final class Overlay: @unchecked Sendable {
    /// The memory of released overlays, for reuse.
    ///
    /// If one thread allocates segments and another frees them, again and again, the C library's memory grows.
    final class Pool: Sendable {
        private struct Spare: @unchecked Sendable {
            var spaces: [UnsafeMutableRawBufferPointer] = []
        }

        private let spare = Mutex(Spare())

        deinit { spare.withLock { $0.spaces.forEach { $0.deallocate() } } }

        /// Adds the bytes of a run to the overlay of a segment.
        ///
        /// - Parameters:
        ///   - run: the run.
        ///   - start: the offset of the segment in the file.
        ///   - overlay: the overlay; created if there is none yet.
        ///   - fill: fills the space for the bytes; if it throws, nothing is added.
        func add(
            _ run: Patch.Run,
            from start: Int64,
            to overlay: inout Overlay?,
            _ fill: (UnsafeMutableRawBufferPointer) throws -> Void
        ) rethrows {
            let place = Int(run.offset - start)
            let laid = overlay ?? Overlay(self)
            overlay = laid
            try laid.add(at: place..<(place + run.length), fill)
        }

        fileprivate func take() -> UnsafeMutableRawBufferPointer {
            spare.withLock { $0.spaces.popLast() }
                ?? .aligned(byteCount: Segment.size)
        }

        fileprivate func giveBack(_ space: UnsafeMutableRawBufferPointer) {
            nonisolated(unsafe) let space = space
            spare.withLock { $0.spaces.append(space) }
        }
    }

    private let pool: Pool
    private let bytes: UnsafeMutableRawBufferPointer
    /// The ranges in the segment.
    ///
    /// They are in the order of the patches, and may overlap.
    private var places: [Range<Int>] = []

    private init(_ pool: Pool) {
        self.pool = pool
        bytes = pool.take()
    }

    deinit { pool.giveBack(bytes) }

    private func add(
        at place: Range<Int>,
        _ fill: (UnsafeMutableRawBufferPointer) throws -> Void
    ) rethrows {
        try fill(UnsafeMutableRawBufferPointer(rebasing: bytes[place]))
        if let last = places.last, last.upperBound == place.lowerBound {
            places[places.count - 1] = last.lowerBound..<place.upperBound
        } else {
            places.append(place)
        }
    }

    /// Copies the bytes to their places.
    ///
    /// Bytes beyond the end of the content were truncated later.
    func lay(over content: UnsafeMutableRawBufferPointer) {
        for place in places {
            let range = place.clamped(to: 0..<content.count)
            guard !range.isEmpty else { continue }
            UnsafeMutableRawBufferPointer(rebasing: content[range])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
    }
}
