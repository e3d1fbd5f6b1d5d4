internal import Archives
package import Files
internal import Foundation
internal import Stores

extension ArchivedBackup {
    /// The most files that are synced one by one.
    ///
    /// For more, one sync of the whole file system is much faster.
    private static let filesToSyncOneByOne = 64

    /// Verifies the data.
    ///
    /// If an increment was opened without the backups that it needs, verifies its own data only.
    ///
    /// - Parameters:
    ///   - paths: the paths of the entries to verify; `nil` for all.
    ///   - subset: the part of the data to read.
    ///   - directory: an empty directory to extract everything into. The caller deletes it afterwards, so nothing is
    ///     synced to the disk. `nil` to write nothing.
    ///   - threads: the number of threads.
    ///   - progressed: called with the number of bytes just read; throws to stop.
    /// - Returns: remarks about entries that a restore would leave out.
    /// - Throws: `ArchiveError`, `ArchivedBackupError.badManifest`, `FileError`.
    package func verify(
        only paths: Set<RelativePath>? = nil,
        reading subset: DataSubset = .all,
        into directory: Directory? = nil,
        threads: Int,
        progressed: @escaping (Int64) throws -> Void
    ) throws -> [String] {
        if paths == nil { try reader.checkLocalRecords() }
        return try run(
            paths,
            into: directory,
            syncing: .never,
            reading: subset,
            AttributeRules(),
            threads,
            progressed
        )
    }

    /// Extracts everything, or some entries, into an empty directory; see `verify`.
    ///
    /// - Parameters:
    ///   - paths: the paths of the entries to extract; `nil` for all.
    ///   - directory: the target directory.
    ///   - rules: the rules for owners and modes.
    ///   - threads: the number of threads.
    ///   - progressed: called with the number of bytes just extracted; throws to stop.
    /// - Returns: remarks, and the sync to the disk, which may still be running: the data is restored only once the
    ///   sync has ended.
    /// - Throws: see `verify`.
    package func extract(
        only paths: Set<RelativePath>? = nil,
        into directory: Directory,
        by rules: AttributeRules = AttributeRules(),
        threads: Int,
        progressed: @escaping (Int64) throws -> Void
    ) throws -> (remarks: [String], flush: BackgroundWork<Void>) {
        let count = paths?.count ?? files
        let syncsEach = count <= Self.filesToSyncOneByOne || !Directory.canSyncFileSystem
        let syncing: ArchiveItem.Syncing = syncsEach ? .each : .byCaller
        let remarks = try run(
            paths,
            into: directory,
            syncing: syncing,
            reading: .all,
            rules,
            threads,
            progressed
        )
        if syncsEach { return (remarks, BackgroundWork(value: ())) }
        return (remarks, BackgroundWork { _ in try directory.syncFileSystem() })
    }

    /// Returns whether an entry is never restored because its name is reserved for leftovers of a restore.
    package static func isReserved(_ path: RelativePath) -> Bool { Remarks.isReserved(path) }

    /// Calls `body` for every entry of an increment's own archive.
    private func forEachOwn(
        _ body: (ArchiveItem) throws -> Void
    ) throws -> ManifestTrailer? {
        try forEachRecord { record, entry in
            guard let entry else { return }
            var segments = record.segments
            if case .patched(let patch) = record.change { segments = patch.segments }
            try body(.init(entry: entry, attributes: record.attributes, segments: segments))
        }
    }

    private func run(
        _ paths: Set<RelativePath>?,
        into directory: Directory?,
        syncing: ArchiveItem.Syncing,
        reading subset: DataSubset,
        _ rules: AttributeRules,
        _ threads: Int,
        _ progressed: @escaping (Int64) throws -> Void
    ) throws -> [String] {
        let extractor = ArchiveExtractor(
            into: directory,
            syncing: syncing,
            threads: threads,
            selects: subset.selection(),
            progressed: progressed
        )
        defer { extractor.close() }
        var (remarks, rules) = (Remarks(), rules)
        let isAlone = header?.isIncrement == true && needs.isEmpty
        // An extraction needs the files put together from all archives.
        _ = try (isAlone && directory == nil ? forEachOwn : forEach) { item in
            guard paths?.contains(item.attributes.path) ?? true, !remarks.leavesOut(item) else {
                return
            }
            if directory != nil, try isStray(item) {
                remarks.addStray(item.attributes.path)
                return
            }
            var item = item
            if directory != nil { try rules.apply(to: &item.attributes) }
            if syncing != .never { extracting?(item.attributes.path) }
            try extractor.extract(item)
        }
        try extractor.finish()
        return remarks.texts + (syncing == .never ? [] : rules.remarks)
    }
}

/// The counts of entries that are not restored as they are in the archive.
private struct Remarks {
    private var reserved = 0
    private var special: (count: Int, first: RelativePath?) = (0, nil)
    private var strays: (count: Int, first: RelativePath?) = (0, nil)

    /// Returns whether an entry is not restored.
    mutating func leavesOut(_ item: ArchiveItem) -> Bool {
        if Self.isReserved(item.attributes.path) {
            reserved += 1
            return true
        }
        guard item.entry.isSpecial else { return false }
        special = (special.count + 1, special.first ?? item.attributes.path)
        return true
    }

    /// Notes a file of SQLite's own that is left out beside its store.
    mutating func addStray(_ path: RelativePath) {
        strays = (strays.count + 1, strays.first ?? path)
    }

    /// Returns whether an entry has the reserved name of a restore's leftovers.
    ///
    /// Case is ignored, since some file systems ignore it.
    static func isReserved(_ path: RelativePath) -> Bool {
        let reserved = StoresDirectory.restoreArea.bytes
        guard path.bytes.count >= reserved.count, let first = path.components.first?.bytes else {
            return false
        }
        return first.count == reserved.count && zip(first, reserved).allSatisfy { $0 | 0x20 == $1 }
    }

    var texts: [String] {
        var texts: [String] = []
        if reserved > 0 {
            let area = StoresDirectory.restoreArea
            texts.append("'\(area)' is left out: a restore journal in an archive is never followed")
        }
        if let first = special.first {
            let count = counted(special.count, "entry is", "entries are")
            let reason = "named pipes, sockets and devices are not restored"
            texts.append("\(count) left out, '\(first)' first: \(reason)")
        }
        if let first = strays.first {
            let count = counted(strays.count, "file", "files")
            let reason = "the store beside it is whole, and this is of a later moment"
            texts.append("\(count) of SQLite's left out, '\(first)' first: \(reason)")
        }
        return texts
    }
}
