internal import Archives
internal import Backups
internal import Files
internal import History

// Files of which only the sectors are written that the base has not.
extension ChangeWriter {
    /// Merges the hashes of a segment with those of the last backup, and returns what comes of it.
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
        // A file that did not hold still is read once more.
        let isFirst = known.map { $0.digested < plan.number } ?? false
        if isFirst, isOther != isAnyNew, hashes.count == scanned.sectors.count {
            warn("two hashes of '\(path)' contradict each other: 1 MiB of it is saved once more")
            merged.versions = scanned.sectors.map { _ in number }
            merged.digested = plan.number
        }
        if merged != known { try state.put(merged, of: id, segment: scanned.index) }
        return merged
    }

    /// A file's ranges that are not as the base has them.
    struct Changes {
        private(set) var ranges: [Range<Int64>] = []
        private(set) var segments: [FilePatch.ChangedSegment] = []
        private var bytes: Int64 = 0
        private let base: Int
        private let size: Int64
        private let sectorSize: Int

        /// None yet.
        ///
        /// - Parameters:
        ///   - base: the number of the backup that has all the rest.
        ///   - size: bytes of the file.
        ///   - sectorSize: bytes of a sector.
        init(since base: Int, size: Int64, sectorSize: Int) {
            (self.base, self.size, self.sectorSize) = (base, size, sectorSize)
        }

        /// Adds those of the next segment.
        ///
        /// - Returns: `false` if the whole file is as good as all of them.
        mutating func add(_ sectors: BackupState.Sectors, of index: Int, _ digest: Digest) -> Bool {
            if sectors.digested > base { segments.append(.init(index: index, digest: digest)) }
            let start = Int64(index) * Int64(Segment.size)
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

    /// Returns what is different from the base; `nil` if the whole file is as good.
    ///
    /// The state tells it of a file that was not scanned just now.
    func changes(
        of entry: BackupState.Entry,
        id: Int64,
        in scanned: ScannedFile?
    ) throws -> Changes? {
        if let scanned { return scanned.changes }
        var changes = Changes(since: plan.base, size: entry.size, sectorSize: entry.sectorSize)
        for (index, digest) in entry.segmentDigests.enumerated() {
            guard let sectors = try state.sectors(of: id, segment: index),
                changes.add(sectors, of: index, digest)
            else { return nil }
        }
        return changes
    }

    /// Adds the patch of a file.
    ///
    /// - Returns: `false` if the file ended early or was not still; then nothing is added.
    func add(
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
            try tell(record)
        } else {
            var patched = attributes
            patched.path = manifest.expectPatch(of: record)
            let isGood = try archive?.add(patched, size: layout.size, isStill: isStill) {
                buffer,
                _ in
                try layout.read(into: buffer, from: read)
            }
            guard isGood == true else {
                manifest.dropPatch(of: record)
                return false
            }
        }
        try keep(entry, of: attributes, id: id)
        return true
    }
}
