internal import Files
internal import Synchronization

/// The runs of a patch, available for any segment of its file.
///
/// A patch is read only once, from the beginning to the requested place. Only the offsets of its runs are kept.
final class PatchRuns: Sendable {
    /// A run, and the offset of its bytes in the patch.
    private struct Place {
        var run: Patch.Run
        var bytes: Int64
    }

    private struct State {
        var places: [Place] = []
        /// The offset of the next run's head in the patch.
        var next: Int64 = 0
    }

    private let patch: Patch
    private let source: EntrySource
    private let overlays: Overlay.Pool
    private let state = Mutex(State())

    /// Opens a patch.
    ///
    /// - Throws: `ArchiveError` if its table contradicts the archive, or if the patch is impossibly large.
    init(_ patch: Patch, cache: SegmentCache) throws {
        try patch.checkSize()
        self.patch = patch
        source = try EntrySource(ArchiveItem(patch), cache: cache)
        overlays = cache.overlays
    }

    /// Reads the runs in one segment of the file.
    ///
    /// - Parameters:
    ///   - index: the index of the segment.
    ///   - overlay: receives the bytes; created if there are any.
    /// - Throws: `ArchiveError`, `DamagedBytes`, `FileError`.
    func readRuns(ofSegment index: Int, into overlay: inout Overlay?) throws {
        let start = Int64(index) * Int64(Segment.size)
        let end = start + Int64(Segment.size)
        let places = try state.withLock { state in
            while state.places.last.map({ $0.run.offset < end }) ?? true {
                guard let place = try place(after: state) else { break }
                state.places.append(place)
                state.next = place.bytes + Int64(place.run.length)
            }
            // The offsets of runs increase, so the runs of a segment are adjacent.
            let first = state.places.partitioningIndex { $0.run.offset >= start }
            return Array(state.places[first...].prefix { $0.run.offset < end })
        }
        for place in places {
            try overlays.add(place.run, from: start, to: &overlay) {
                try source.readExactly(into: $0, at: place.bytes)
            }
        }
    }

    /// Reads the head of the next run; `nil` at the end.
    private func place(after state: State) throws -> Place? {
        guard state.next < source.size else { return nil }
        let head = PatchLayout.headLength
        guard source.size - state.next >= head else { throw patch.endsWithinRun }
        let bytes = try source.readExactly(count: Int(head), at: state.next)
        let run = try patch.run(bytes, after: state.places.last?.run)
        let start = state.next + head
        guard source.size - start >= Int64(run.length) else { throw patch.endsWithinRun }
        return Place(run: run, bytes: start)
    }
}

extension Array {
    /// Returns the first index at which the condition holds.
    ///
    /// It must hold for all later elements.
    fileprivate func partitioningIndex(where isBehind: (Element) -> Bool) -> Int {
        var range = 0..<count
        while let middle = range.isEmpty ? nil : range.lowerBound + range.count / 2 {
            range =
                isBehind(self[middle]) ? range.lowerBound..<middle : middle + 1..<range.upperBound
        }
        return range.lowerBound
    }
}
