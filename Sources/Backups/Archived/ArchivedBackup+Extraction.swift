internal import Archives
package import Files
internal import Foundation
internal import Stores

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

extension ArchivedBackup {
    /// For more files than these, one flush of the whole file system takes a fraction of the time.
    private static let filesToSyncOneByOne = 64

    /// Whether files may be given to their owners: only root may.
    package static var mayGiveAway: Bool { geteuid() == 0 }

    /// Verifies the data; of an increment that was opened without what it needs, its own.
    ///
    /// - Parameters:
    ///   - paths: the paths of the entries to verify; `nil` for all.
    ///   - subset: the part of the data to read.
    ///   - directory: an empty directory to extract everything into, and to be thrown away afterwards:
    ///     nothing is flushed to the disk. `nil` to write nothing.
    ///   - threads: how many threads work.
    ///   - progressed: told of bytes that were read; it throws to stop.
    /// - Returns: remarks about entries that a restore would leave out.
    /// - Throws: `ArchiveError`, `ArchivedBackupError.badManifest`, `FileError`.
    package func verify(
        only paths: Set<RelativePath>? = nil,
        reading subset: DataSubset = .all,
        into directory: Directory? = nil,
        threads: Int,
        progressed: @escaping (Int64) throws -> Void
    ) throws -> [String] {
        try run(paths, into: directory, syncing: .never, reading: subset, threads, progressed)
    }

    /// Extracts everything, or some entries, into an empty directory; see `verify`.
    ///
    /// - Parameters:
    ///   - paths: the paths of the entries to extract; `nil` for all.
    ///   - directory: where they go.
    ///   - threads: how many threads work.
    ///   - progressed: told of bytes that were extracted; it throws to stop.
    /// - Returns: remarks, and the flush to the disk, which may still be under way: the data is restored
    ///   only once that has ended.
    /// - Throws: see `verify`.
    package func extract(
        only paths: Set<RelativePath>? = nil,
        into directory: Directory,
        threads: Int,
        progressed: @escaping (Int64) throws -> Void
    ) throws -> (remarks: [String], flush: BackgroundWork<Void>) {
        let count = paths?.count ?? files
        let syncsEach = count <= Self.filesToSyncOneByOne || !Directory.canSyncFileSystem
        let syncing: ArchiveExtractor.Syncing = syncsEach ? .each : .byCaller
        let remarks = try run(
            paths,
            into: directory,
            syncing: syncing,
            reading: .all,
            threads,
            progressed
        )
        if syncsEach { return (remarks, BackgroundWork(value: ())) }
        return (remarks, BackgroundWork { _ in try directory.syncFileSystem() })
    }

    /// Returns whether an entry is never restored: it would be taken for a leftover of a restore.
    package static func isReserved(_ path: RelativePath) -> Bool { Remarks.isReserved(path) }

    /// Calls `body` for every entry of an increment's own archive.
    private func forEachOwn(
        _ body: (ArchiveExtractor.Item) throws -> Void
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
        syncing: ArchiveExtractor.Syncing,
        reading subset: DataSubset,
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
        var remarks = Remarks()
        let isAlone = header?.isIncrement == true && needs.isEmpty
        // To be extracted, it has to be put together.
        _ = try (isAlone && directory == nil ? forEachOwn : forEach) { item in
            guard paths?.contains(item.attributes.path) ?? true, !remarks.leavesOut(item) else {
                return
            }
            if directory != nil, try isStray(item) {
                remarks.addStray(item.attributes.path)
                return
            }
            var item = item
            if !Self.mayGiveAway {
                if let owner = item.attributes.owner, owner.user != geteuid() {
                    remarks.foreignOwners += 1
                }
                item.attributes.owner = nil
            }
            try extractor.extract(item)
        }
        try extractor.finish()
        return remarks.texts(isExtracted: directory != nil)
    }
}

/// Entries that do not come back as they are in the archive.
private struct Remarks {
    var foreignOwners = 0
    private var reserved = 0
    private var special: (count: Int, first: RelativePath?) = (0, nil)
    private var strays: (count: Int, first: RelativePath?) = (0, nil)

    /// Returns whether an entry is not restored.
    mutating func leavesOut(_ item: ArchiveExtractor.Item) -> Bool {
        if Self.isReserved(item.attributes.path) {
            reserved += 1
            return true
        }
        guard item.entry.isSpecial else { return false }
        special = (special.count + 1, special.first ?? item.attributes.path)
        return true
    }

    /// Notes a file of SQLite's that is left out beside its store.
    mutating func addStray(_ path: RelativePath) {
        strays = (strays.count + 1, strays.first ?? path)
    }

    /// Returns whether an entry would be taken for a leftover of a restore, on any file system: some
    /// make no difference between cases.
    static func isReserved(_ path: RelativePath) -> Bool {
        let reserved = StoresDirectory.restoreArea.bytes
        guard path.bytes.count >= reserved.count, let first = path.components.first?.bytes else {
            return false
        }
        return first.count == reserved.count && zip(first, reserved).allSatisfy { $0 | 0x20 == $1 }
    }

    func texts(isExtracted: Bool) -> [String] {
        var texts: [String] = []
        if reserved > 0 {
            let area = StoresDirectory.restoreArea
            texts.append("'\(area)' is left out: a restore journal in it is not to be obeyed")
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
        if foreignOwners > 0, isExtracted {
            let count = counted(foreignOwners, "name belongs", "names belong")
            let reason = "only root can give them back, so they are yours now"
            texts.append("\(count) to other users; \(reason)")
        }
        return texts
    }
}
