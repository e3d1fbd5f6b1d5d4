internal import Archives
internal import Files

/// A backup put together from an increment and the archives that it is built on.
///
/// The increments' records are in memory, by path. The full backup's records are read one by one, and are replaced,
/// patched or dropped. In the end the digest of all entries must equal the writer's.
struct Assembly {
    /// The state of a path after the increments.
    private struct Layers {
        /// The latest attributes, and the latest size.
        var attributes: EntryAttributes
        var size: Int64
        /// The last complete entry in an increment; `nil` if the base is the full backup's entry.
        var base: (entry: ArchiveReader.Entry, segments: [SegmentRecord])?
        /// The patches on top of the base, oldest first.
        var patches: [Patch] = []
        /// The digests of the segments that patches changed, by index.
        var digests: [Int: Digest] = [:]
    }

    /// The maximum number of records of an increment, since they are in memory.
    static let recordsLimit = 100_000

    private let backup: ArchivedBackup
    private var layers: [RelativePath: Layers] = [:]
    /// The paths that an increment removed, with everything below them.
    private var removed: Set<RelativePath> = []
    private var trailer: ManifestTrailer?

    /// Reads the records of all increments.
    ///
    /// - Throws: `ArchivedBackupError.badManifest`; `.otherState` if an archive has another state than the one that was
    ///   built on; `ArchiveError`.
    init(of backup: ArchivedBackup) throws {
        self.backup = backup
        guard backup.needs.first?.header?.isIncrement == false else {
            throw backup.bad("the backups that it is built on were not opened")
        }
        for increment in backup.needs.dropFirst() + [backup] {
            let trailer = try add(increment)
            if increment === backup {
                self.trailer = trailer
            } else {
                try check(trailer, of: increment)
            }
        }
    }

    /// Reads the records of an increment if some backups that it is built on are missing.
    ///
    /// - Parameter backup: the increment, with the available backups directly before it.
    /// - Throws: `ArchivedBackupError.badManifest`, `ArchiveError`.
    init(ofRestOf backup: ArchivedBackup) throws {
        self.backup = backup
        for increment in backup.needs + [backup] { trailer = try add(increment) }
    }

    /// Calls `body` for every entry that is complete without the missing backups.
    ///
    /// - Throws: `ArchivedBackupError`; what `body` throws.
    func forEachComplete(_ body: (ArchiveItem) throws -> Void) throws {
        for layer in layers.values.sorted(by: { $0.attributes.path < $1.attributes.path })
        where layer.base != nil {
            try body(item(layer, over: nil))
        }
    }

    /// The paths of files that have patches only.
    var incomplete: [RelativePath] {
        layers.filter { $0.value.base == nil }.map(\.key).sorted()
    }

    /// Reads an increment's records.
    ///
    /// Removals are applied first.
    private mutating func add(_ increment: ArchivedBackup) throws -> ManifestTrailer {
        var count = 0
        var gone: Set<RelativePath> = []
        var news: [RelativePath: Layers] = [:]
        let trailer = try increment.forEachRecord { record, entry in
            count += 1
            guard count <= Self.recordsLimit else { throw increment.bad("it has too many records") }
            let path = record.attributes.path
            guard news[path] == nil else { throw increment.bad("'\(path)' is in it twice") }
            if record.change == .removed {
                gone.insert(path)
            } else {
                news[path] = try layers(record, entry, of: increment)
            }
        }
        if !gone.isEmpty { layers = layers.filter { !$0.key.isIn(gone) } }
        layers.merge(news) { $1 }
        removed.formUnion(gone)
        return trailer
    }

    /// Returns a path's layers after a record.
    private func layers(
        _ record: ManifestRecord,
        _ entry: ArchiveReader.Entry?,
        of increment: ArchivedBackup
    ) throws -> Layers {
        var layer = Layers(attributes: record.attributes, size: record.size)
        guard case .patched(let patch) = record.change else {
            guard let entry else { throw increment.bad("an entry is missing") }
            layer.base = (entry, record.segments)
            return layer
        }
        if let old = layers[record.attributes.path] {
            (layer.base, layer.patches, layer.digests) = (old.base, old.patches, old.digests)
        }
        let count = Segment.count(forSize: record.size)
        layer.digests = layer.digests.filter { $0.key < count }
        for segment in patch.changed { layer.digests[segment.index] = segment.digest }
        if let entry {
            layer.patches.append(Patch(entry, segments: patch.segments, fileSize: record.size))
        }
        return layer
    }

    /// Throws unless an archive has the state that the backup is built on.
    private func check(_ trailer: ManifestTrailer, of archive: ArchivedBackup) throws {
        let need = backup.header?.needs?.first { $0.number == archive.header?.number }
        guard let need, trailer.state == need.state else {
            throw ArchivedBackupError.otherState(backup.name, need: archive.name)
        }
    }

    // MARK: - Assembly

    /// Calls `body` for every entry of the assembled backup.
    ///
    /// - Returns: the increment's last line.
    /// - Throws: `ArchivedBackupError`, `ArchiveError`; what `body` throws.
    func forEach(_ body: (ArchiveItem) throws -> Void) throws -> ManifestTrailer {
        guard let trailer, let full = backup.needs.first else {
            preconditionFailure("a whole backup was opened")
        }
        var tally = BackupTally()
        func take(_ item: ArchiveItem) throws {
            let digests =
                item.patched?.digests ?? (item.segments ?? []).map(\.digest)
            tally.add(item.attributes, size: item.size, digests: digests)
            try body(item)
        }
        var left = layers
        let end = try full.forEachRecord { record, entry in
            let path = record.attributes.path
            guard let entry, record.change == .whole else {
                throw full.bad("only an increment has parts of files")
            }
            if let layer = left.removeValue(forKey: path) {
                let base = path.isIn(removed) ? nil : (entry: entry, segments: record.segments)
                try take(item(layer, over: base))
            } else if !path.isIn(removed) {
                let (attributes, segments) = (record.attributes, record.segments)
                try take(.init(entry: entry, attributes: attributes, segments: segments))
            }
        }
        try check(end, of: full)
        for layer in left.sorted(by: { $0.key < $1.key }) { try take(item(layer.value, over: nil)) }
        guard tally.state.description == trailer.state else {
            throw backup.bad("checksum mismatch after applying the increment to its base")
        }
        return trailer
    }

    private func item(
        _ layer: Layers,
        over whole: (entry: ArchiveReader.Entry, segments: [SegmentRecord])?
    ) throws -> ArchiveItem {
        guard let base = layer.base ?? whole else {
            throw backup.bad("'\(layer.attributes.path)' is a part of nothing")
        }
        var item = ArchiveItem(
            entry: base.entry,
            attributes: layer.attributes,
            segments: base.segments
        )
        guard !layer.patches.isEmpty || !layer.digests.isEmpty || layer.size != base.entry.size
        else { return item }
        guard base.entry.attributes.kind == .file else {
            throw backup.bad("'\(layer.attributes.path)' is no file that can be patched")
        }
        let digests = try (0..<Segment.count(forSize: layer.size)).map { index in
            if let digest = layer.digests[index] { return digest }
            guard index < base.segments.count else {
                throw backup.bad("'\(layer.attributes.path)' lacks a segment")
            }
            return base.segments[index].digest
        }
        item.patched = PatchedContent(size: layer.size, digests: digests, patches: layer.patches)
        return item
    }
}

extension RelativePath {
    /// Returns whether the path is one of some paths, or lies below one.
    fileprivate func isIn(_ paths: Set<RelativePath>) -> Bool {
        paths.contains(self) || hasAncestor(in: paths)
    }
}
