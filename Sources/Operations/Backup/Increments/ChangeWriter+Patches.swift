internal import Archives
internal import Backups
internal import Files
internal import History

// Files of which only the sectors are written that the base has not.
extension ChangeWriter {
    /// Merges the hashes of a segment with those of the last backup.
    func keep(
        _ scanned: SegmentScanner.Scanned,
        of path: RelativePath,
        id: Int64,
        _ old: BackupState.Entry?,
        _ sectorSize: Int
    ) throws {
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
    }

    /// A file's ranges that are not as the base has them.
    struct Changes {
        var ranges: [Range<Int64>] = []
        var segments: [FilePatch.ChangedSegment] = []
    }

    /// Returns what is different from the base; `nil` if the whole file is as good.
    func patch(_ entry: BackupState.Entry, id: Int64) throws -> Changes? {
        var changes = Changes()
        var bytes: Int64 = 0
        for (index, digest) in entry.segmentDigests.enumerated() {
            guard let sectors = try state.sectors(of: id, segment: index) else { return nil }
            if sectors.digested > plan.base {
                changes.segments.append(.init(index: index, digest: digest))
            }
            let start = Int64(index) * Int64(Segment.size)
            for (sector, version) in sectors.versions.enumerated() where Int(version) > plan.base {
                let low = start + Int64(sector * entry.sectorSize)
                let high = min(low + Int64(entry.sectorSize), entry.size)
                if let last = changes.ranges.last, last.upperBound == low {
                    changes.ranges[changes.ranges.count - 1] = last.lowerBound..<high
                } else {
                    changes.ranges.append(low..<high)
                }
                bytes += high - low
            }
            guard bytes <= entry.size / 2 else { return nil }
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
