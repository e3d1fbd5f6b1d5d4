internal import Archives
internal import Backups
internal import Files
internal import History

// Files for which only the sectors that differ from the base are written.
extension ChangeWriter {
    /// Merges the hashes of a segment with those of the last backup, and returns the result.
    func keep(
        _ scanned: SegmentScanner.Scanned,
        of path: RelativePath,
        id: Int64,
        _ old: BackupState.Entry?,
        _ sectorSize: Int
    ) throws -> BackupState.Sectors {
        let number = UInt16(plan.number)
        let known =
            old?.sectorSize == sectorSize
            ? try state.sectors(of: id, segment: scanned.index) : nil
        let hashes = known?.hashes ?? []
        let versions = known?.versions ?? []
        var merged = BackupState.Sectors(hashes: scanned.sectors, versions: [], digested: 0)
        var isAnyNew = false
        merged.versions = scanned.sectors.indices.map { index in
            if index < hashes.count, hashes[index] == scanned.sectors[index] {
                return versions[index]
            }
            isAnyNew = true
            return number
        }
        let isOther = old?.digest(ofSegment: scanned.index) != scanned.digest
        merged.digested = isOther ? plan.number : known?.digested ?? plan.number
        // A file that keeps changing is read again.
        let isFirst = known.map { $0.digested < plan.number } ?? false
        if isFirst, isOther != isAnyNew, hashes.count == scanned.sectors.count {
            warn("two hashes of '\(path)' contradict each other: 1 MiB of it is saved once more")
            merged.versions = scanned.sectors.map { _ in number }
            merged.digested = plan.number
        }
        if merged != known { try state.put(merged, of: id, segment: scanned.index) }
        return merged
    }

    /// The ranges of a file that differ from the base.
    struct Changes {
        private(set) var ranges: [Range<Int64>] = []
        private(set) var segments: [FilePatch.ChangedSegment] = []
        private var bytes: Int64 = 0
        private let base: Int
        private let size: Int64
        private let hasher: SectorHasher

        /// Creates an empty set of changes.
        ///
        /// - Parameters:
        ///   - base: the number of the backup that has all other ranges.
        ///   - size: the size of the file in bytes.
        ///   - hasher: the hasher of its sectors.
        init(since base: Int, size: Int64, _ hasher: SectorHasher) {
            (self.base, self.size, self.hasher) = (base, size, hasher)
        }

        /// Adds the changed ranges of the next segment.
        ///
        /// - Returns: `false` if the changes are so many that the whole file can be written instead.
        mutating func add(_ sectors: BackupState.Sectors, of index: Int, _ digest: Digest) -> Bool {
            if sectors.digested > base { segments.append(.init(index: index, digest: digest)) }
            let start = Int64(index) * Int64(Segment.size)
            let sectorSize = hasher.sectorSize(ofHashes: sectors.versions.count)
            for (sector, version) in sectors.versions.enumerated() where Int(version) > base {
                let low = start + Int64(sector * sectorSize)
                let high = min(low + Int64(sectorSize), size)
                if let last = ranges.last, last.upperBound == low {
                    ranges[ranges.count - 1] = last.lowerBound..<high
                } else {
                    ranges.append(low..<high)
                }
                bytes += high - low
            }
            return bytes <= size / 2
        }
    }

    /// Returns the differences from the base; `nil` if the whole file can be written instead.
    ///
    /// For a file that was not just scanned, the recorded state provides them.
    func changes(
        of entry: BackupState.Entry,
        id: Int64,
        in scanned: ScannedFile?
    ) throws -> Changes? {
        if let scanned { return scanned.changes }
        var changes = Changes(since: plan.base, size: entry.size, plan.hasher(entry.sectorSize))
        for (index, digest) in entry.segmentDigests.enumerated() {
            guard let sectors = try state.sectors(of: id, segment: index),
                changes.add(sectors, of: index, digest)
            else { return nil }
        }
        return changes
    }

    /// Adds the part of a file that restores it from the base's content.
    ///
    /// - Returns: `false` if the file ended early or changed, or if its bytes differ from the hashed ones: through a
    ///   memory map, it may change without its times.
    func addContent(
        of file: UnreadFile,
        _ entry: BackupState.Entry,
        id: Int64?,
        in scanned: ScannedFile?,
        isStill: () throws -> Bool,
        read: (UnsafeMutableRawBufferPointer, Int64) throws -> Int
    ) throws -> Bool {
        let attributes = file.attributes
        if entry.sectorSize > 0, entry.born <= plan.base, let id,
            let changes = try changes(of: entry, id: id, in: scanned)
        {
            let isGood = try add(
                changes,
                of: attributes,
                entry,
                id: id,
                isStill: isStill,
                read: read
            )
            // If a just hashed file has changed again, write it whole: then the written bytes count.
            if isGood || scanned == nil { return isGood }
        }
        pending[attributes.path] = Pending(id: id, entry: entry)
        return try addWhole(attributes, size: file.size, isStill: isStill, read: read)
    }

    /// Adds the patch of a file.
    ///
    /// Its bytes must match their hashes, because the rest of the file is known by its hashes.
    ///
    /// - Returns: `false` if the file ended early, changed, or has other bytes than before; then nothing is added.
    private func add(
        _ changes: Changes,
        of attributes: EntryAttributes,
        _ entry: BackupState.Entry,
        id: Int64,
        isStill: () throws -> Bool,
        read: (UnsafeMutableRawBufferPointer, Int64) throws -> Int
    ) throws -> Bool {
        var layout = PatchLayout(of: changes.ranges)
        let patch = FilePatch(size: 0, segments: [], changed: changes.segments)
        let record = ManifestRecord(attributes, size: entry.size, patch: patch)
        if layout.size == 0 {
            try append(record)
        } else {
            var patched = attributes
            patched.path = manifest.expectPatch(of: record)
            let accepts = try hashedBytes(of: entry, id: id)
            let isGood = try archive?.add(patched, size: layout.size, isStill: isStill) {
                buffer,
                _ in
                try layout.read(into: buffer, from: read, accepting: accepts)
            }
            guard isGood == true else {
                manifest.dropPatch(of: record)
                return false
            }
        }
        try keep(entry, of: attributes, id: id)
        return true
    }

    /// Returns a function that says whether bytes at an offset of a file match the recorded hashes.
    private func hashedBytes(
        of entry: BackupState.Entry,
        id: Int64
    ) throws -> (UnsafeRawBufferPointer, Int64) throws -> Bool {
        let hasher = plan.hasher(entry.sectorSize)
        var known: (segment: Int, hashes: [UInt64]) = (-1, [])
        return { [state] bytes, offset in
            let segment = Int(offset / Int64(Segment.size))
            if segment != known.segment {
                known = (segment, try state.sectors(of: id, segment: segment)?.hashes ?? [])
            }
            return hasher.accepts(bytes, at: Int(offset % Int64(Segment.size)), known.hashes)
        }
    }
}
