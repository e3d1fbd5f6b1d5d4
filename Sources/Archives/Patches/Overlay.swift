internal import Files
internal import Synchronization

/// The bytes of patches that lie over one segment of a file, those of later patches over those of earlier ones.
///
/// However many patches there are, it has the memory of one segment. One thread fills it, and then it is
/// only read.
final class Overlay: @unchecked Sendable {
    /// Memory of overlays that are no more, for the next ones.
    ///
    /// A segment's memory that one thread gets and another frees, again and again, grows what the C library keeps.
    final class Pool: Sendable {
        private struct Spare: @unchecked Sendable {
            var spaces: [UnsafeMutableRawBufferPointer] = []
        }

        private let spare = Mutex(Spare())

        deinit { spare.withLock { $0.spaces.forEach { $0.deallocate() } } }

        /// Adds the bytes of a run to what lies over a segment.
        ///
        /// - Parameters:
        ///   - run: the run.
        ///   - start: where the segment begins in the file.
        ///   - overlay: made if nothing lies over the segment yet.
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
                ?? .allocate(byteCount: Segment.size, alignment: 64)
        }

        fileprivate func giveBack(_ space: UnsafeMutableRawBufferPointer) {
            nonisolated(unsafe) let space = space
            spare.withLock { $0.spaces.append(space) }
        }
    }

    private let pool: Pool
    private let bytes: UnsafeMutableRawBufferPointer
    /// Where bytes lie in the segment; in the order of the patches, so that they may overlap.
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

    /// Copies the bytes to their places; those behind the end of the content were cut off later.
    func lay(over content: UnsafeMutableRawBufferPointer) {
        for place in places {
            let range = place.clamped(to: 0..<content.count)
            guard !range.isEmpty else { continue }
            UnsafeMutableRawBufferPointer(rebasing: content[range])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
    }
}
