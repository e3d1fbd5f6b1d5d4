public import Files
internal import Synchronization
public import SystemPackage

/// The content of a file in an archive, readable at any offset.
///
/// Only the requested segments are read, inflated and verified.
///
/// A file put together from several archives is read in the same way. The runs of the patches lie over a segment of the
/// entry if the segment has changed at all.
public final class EntrySource: ByteSource {
    public let path: FilePath
    public let size: Int64

    private let item: ArchiveItem
    private let digests: [Digest]
    /// The offset of each segment in the archive, and the end of the last one.
    private let places: [Int64]
    /// The runs of the patches, oldest first.
    private let patches: [PatchRuns]
    private let cache: SegmentCache
    private let readsAhead: Bool
    private let ahead = Mutex(Ahead())

    /// The segments that a sequential reader will request next.
    private struct Ahead {
        /// The index of the segment that was read last.
        var last = -2
        /// The next segments, each of which its own thread reads.
        var next: [(index: Int, work: BackgroundWork<[UInt8]>)] = []
    }

    /// Returns whether a file can be read in this way, which needs the segment table of a manifest.
    ///
    /// In another program's archive the data is one stream, whose parts cannot be inflated alone.
    public static func canRead(_ item: ArchiveItem) -> Bool {
        item.segments != nil && item.entry.isPlain && item.attributes.kind == .file
    }

    /// Opens a file; only its local record is read at first.
    ///
    /// - Parameters:
    ///   - item: a file for which `canRead` returns `true`.
    ///   - cache: the cache for its segments.
    ///   - readsAhead: whether to read the next segments ahead; not for a source that has to be fetched.
    /// - Throws: `ArchiveError` if the table of its segments contradicts the archive; `FileError`.
    public init(
        _ item: ArchiveItem,
        cache: SegmentCache,
        readsAhead: Bool = false
    ) throws {
        let entry = item.entry
        guard let segments = item.segments, Self.canRead(item) else {
            throw entry.archive.contradiction(entry)
        }
        try entry.check(segments)
        digests = item.patched?.digests ?? segments.map(\.digest)
        guard digests.count == Segment.count(forSize: item.size) else {
            throw entry.archive.contradiction(entry)
        }
        path = entry.archive.path
        size = item.size
        self.item = item
        self.cache = cache
        self.readsAhead = readsAhead
        // The descriptor has only data that is verified anyway.
        var place =
            segments.isEmpty ? 0 : try entry.archive.dataOffset(entry, withDescriptor: false)
        var places = [place]
        for segment in segments {
            place += Int64(segment.length)
            places.append(place)
        }
        self.places = places
        patches = try (item.patched?.patches ?? []).map { try PatchRuns($0, cache: cache) }
    }

    deinit { cache.forget(ObjectIdentifier(self), of: digests.count) }

    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        let count = Int(min(Int64(buffer.count), max(0, size - offset)))
        var done = 0
        while done < count {
            let position = offset + Int64(done)
            let index = Int(position / Int64(Segment.size))
            let start = Int(position % Int64(Segment.size))
            let bytes = try segment(index)
            let length = min(count - done, bytes.count - start)
            UnsafeMutableRawBufferPointer(rebasing: buffer[done..<(done + length)])
                .copyBytes(from: bytes[start..<(start + length)])
            done += length
        }
        return count
    }

    /// Returns a segment, from the cache if possible.
    func segment(_ index: Int) throws -> [UInt8] {
        let key = SegmentCache.Key(source: ObjectIdentifier(self), index: index)
        if let bytes = cache.bytes(key) { return bytes }
        let bytes = try takeAhead(index) ?? verified(index)
        cache.keep(bytes, as: key)
        readAhead(of: index)
        return bytes
    }

    /// Waits for a segment that a thread is already reading; returns `nil` if there is none.
    private func takeAhead(_ index: Int) throws -> [UInt8]? {
        guard readsAhead else { return nil }
        let work = ahead.withLock { ahead -> BackgroundWork<[UInt8]>? in
            guard let place = ahead.next.firstIndex(where: { $0.index == index }) else {
                return nil
            }
            return ahead.next.remove(at: place).work
        }
        return try work?.wait()
    }

    /// Starts to read the segments after one, if the reads are sequential.
    private func readAhead(of index: Int) {
        guard readsAhead else { return }
        let useless = ahead.withLock { ahead -> [BackgroundWork<[UInt8]>] in
            defer { ahead.last = index }
            let wanted = (index + 1)..<min(index + 1 + cache.ahead, digests.count)
            guard ahead.last == index - 1, !wanted.isEmpty else { return [] }
            // The reader has moved to another place.
            let others = ahead.next.filter { !wanted.contains($0.index) }
            ahead.next.removeAll { !wanted.contains($0.index) }
            for next in wanted where !ahead.next.contains(where: { $0.index == next }) {
                let key = SegmentCache.Key(source: ObjectIdentifier(self), index: next)
                guard cache.bytes(key) == nil else { continue }
                ahead.next.append((next, BackgroundWork { [self] _ in try verified(next) }))
            }
            return others.map(\.work)
        }
        for work in useless { work.close() }
    }

    private func verified(_ index: Int) throws -> [UInt8] {
        do {
            return try cache.withBuffers { try $0.verifiedBytes(of: part(index)) }
        } catch ArchiveError.damagedEntry(_, _, let reason) {
            throw damage(index, reason)
        }
    }

    private func part(_ index: Int) throws -> FileSegment {
        // The last place is the end of the entry.
        let place = places[min(index, places.count - 1)]
        var part = FileSegment(index, of: item, at: place, digests[index])
        // A segment with the entry's digest is unchanged, even if a patch lies over it.
        let isAsItWas =
            part.base?.length == part.length && item.segments?[index].digest == part.digest
        if !isAsItWas {
            for patch in patches { try patch.readRuns(ofSegment: index, into: &part.overlay) }
        }
        return part
    }

    private func damage(_ index: Int, _ reason: String) -> DamagedBytes {
        let start = Int64(index) * Int64(Segment.size)
        return DamagedBytes(
            in: item.attributes.path.description,
            of: path.lastComponent.map { printable(FilePath($0.string)) } ?? printable(path),
            start..<(start + Int64(Segment.length(at: index, ofSize: size))),
            reason: reason
        )
    }
}
