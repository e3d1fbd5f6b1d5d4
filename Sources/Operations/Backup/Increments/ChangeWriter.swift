internal import Archives
internal import Backups
internal import Files
internal import Foundation
internal import History
internal import Stores

/// A writer of the differences from an earlier backup; it also records the state for the next backup.
///
/// It must get every entry of the backup, changed or not: only then can it determine the removed entries, and the
/// digest of the whole state. It does not read a file whose times are unchanged. It hashes any other file, and writes
/// it only if its content has changed.
final class ChangeWriter {
    /// The least size of a store whose sectors are recorded, in bytes.
    private static let leastSectored: Int64 = 128 << 10
    /// The same for another file, which is not a snapshot: most of these are rewritten as a whole.
    private static let leastSectoredFile: Int64 = 8 << 20
    /// The greatest number of records in an increment: a reader keeps them in memory.
    private static let recordsLimit = 100_000

    let plan: LineagePlan
    let state: BackupState
    var archive: ArchiveWriter?
    let manifest: ManifestWriter
    private let scanner: SegmentScanner
    private let rereads: Bool
    /// A file that is being written as a whole.
    struct Pending {
        /// The id of its row; `nil` for a new file.
        var id: Int64?
        /// The entry to record.
        var entry: BackupState.Entry
        /// Whether it was hashed before; if not, its content is known once it is in the archive.
        var isScanned = true
    }

    var pending: [RelativePath: Pending] = [:]
    private var seen: Set<Int64> = []
    private(set) var tally = BackupTally()
    private var records = 0
    private var writtenBytes: Int64 = 0
    /// The receiver of a warning about contradicting hashes.
    let warn: (String) -> Void

    init(
        _ plan: LineagePlan,
        _ state: BackupState,
        into manifest: ManifestWriter,
        threads: Int,
        rereads: Bool,
        warn: @escaping (String) -> Void
    ) {
        self.plan = plan
        self.state = state
        self.manifest = manifest
        self.rereads = rereads || !plan.isIncrement
        self.warn = warn
        scanner = SegmentScanner(threads: threads)
    }

    /// Directs entries to an archive, which calls `take` for each written entry.
    func begin(_ archive: ArchiveWriter) { self.archive = archive }

    /// Ends the threads.
    func close() {
        scanner.close()
        archive = nil
    }

    // MARK: - Entries

    /// Adds a directory, or a link with its target.
    ///
    /// - Throws: `FullNeeded`, `HistoryError`, `FileError`.
    func add(_ attributes: EntryAttributes, content: [UInt8] = []) throws {
        let digests = content.isEmpty ? [] : [content.withUnsafeBytes { Digest(of: $0) }]
        let known = try known(attributes)
        let entry = Self.entry(
            attributes,
            size: Int64(content.count),
            digests,
            after: known,
            number: plan.number
        )
        if entry.touched > plan.base {
            pending[attributes.path] = Pending(id: known.id, entry: entry)
            try archive?.add(attributes, content: content)
        } else {
            try keep(entry, of: attributes, id: known.id, after: known.entry)
        }
    }

    /// Adds a file without reading it, if its disk state is unchanged since it was read, and the base has its content.
    ///
    /// - Parameters:
    ///   - attributes: the attributes to write.
    ///   - size: the size in bytes.
    ///   - identity: the disk state; `nil` if it proves nothing about the content.
    /// - Returns: `false` if the file must be read.
    /// - Throws: `FullNeeded`, `HistoryError`.
    func addUnread(_ attributes: EntryAttributes, size: Int64, identity: String?) throws -> Bool {
        guard !rereads, let identity else { return false }
        let known = try known(attributes)
        guard let id = known.id, let old = known.entry,
            old.identity == identity, old.size == size, max(old.born, old.changed) <= plan.base
        else { return false }
        var entry = old
        Self.touch(&entry, attributes, number: plan.number)
        try write(entry, attributes, id: id, after: old) {
            preconditionFailure("the base has its content")
        }
        return true
    }

    /// Adds a file.
    ///
    /// - Parameters:
    ///   - attributes: the attributes to write.
    ///   - size: the size in bytes.
    ///   - identity: the disk state before the file was read; `nil` if it proves nothing about the content.
    ///   - isSnapshot: whether every read returns the same bytes.
    ///   - isStill: returns whether the file has not changed.
    ///   - read: fills the buffer from an offset on, and returns the number of bytes.
    /// - Returns: `false` if the file ended early or changed.
    /// - Throws: `FullNeeded`, `HistoryError`; errors of `isStill` and `read`.
    func addFile(
        _ attributes: EntryAttributes,
        size: Int64,
        identity: String?,
        isSnapshot: Bool,
        isStill: () throws -> Bool,
        read: (UnsafeMutableRawBufferPointer, Int64) throws -> Int
    ) throws -> Bool {
        var known = try known(attributes)
        if expectWhole(attributes, known, size: size, identity: identity, isSnapshot: isSnapshot) {
            return try addWhole(attributes, size: size, isStill: isStill, read: read)
        }
        let old = known.entry
        let file = UnreadFile(attributes: attributes, size: size, isSnapshot: isSnapshot)
        func add(_ entry: BackupState.Entry, _ scanned: ScannedFile? = nil) throws -> Bool {
            var isGood = true
            try write(entry, attributes, id: known.id, after: old) {
                isGood = try addContent(
                    of: file,
                    entry,
                    id: known.id,
                    in: scanned,
                    isStill: isStill,
                    read: read
                )
            }
            return isGood
        }
        if !rereads, var entry = old, let identity, entry.identity == identity, entry.size == size {
            // Its times are unchanged since it was read.
            Self.touch(&entry, attributes, number: plan.number)
            if try add(entry) { return true }
        }
        guard var scanned = try scan(file, &known, isStill: isStill, read: read) else {
            return false
        }
        scanned.entry.identity = identity
        return try add(scanned.entry, scanned)
    }

    /// Prepares for a file that is written whole without being hashed before.
    ///
    /// The backups have no record of it, and its sectors are not recorded.
    ///
    /// - Parameters:
    ///   - attributes: the attributes to write.
    ///   - size: the size in bytes.
    ///   - identity: the disk state before the file was read; `nil` if it proves nothing about the content.
    /// - Returns: `false` if the file must be examined.
    /// - Throws: `FullNeeded`, `HistoryError`.
    func expectWhole(
        _ attributes: EntryAttributes,
        size: Int64,
        identity: String?
    ) throws -> Bool {
        let known = try known(attributes)
        return expectWhole(attributes, known, size: size, identity: identity, isSnapshot: false)
    }

    private func expectWhole(
        _ attributes: EntryAttributes,
        _ known: Known,
        size: Int64,
        identity: String?,
        isSnapshot: Bool
    ) -> Bool {
        guard known.entry == nil, Self.sectorSize(size, isSnapshot) == 0 else { return false }
        var entry = Self.entry(attributes, size: size, [], after: known, number: plan.number)
        entry.identity = identity
        pending[attributes.path] = Pending(id: known.id, entry: entry, isScanned: false)
        return true
    }

    /// Adds an expected file as a whole.
    func addWhole(
        _ attributes: EntryAttributes,
        size: Int64,
        isStill: () throws -> Bool,
        read: (UnsafeMutableRawBufferPointer, Int64) throws -> Int
    ) throws -> Bool {
        let isGood = try archive?.add(attributes, size: size, isStill: isStill, read: read) ?? false
        if !isGood { pending[attributes.path] = nil }
        return isGood
    }

    /// Returns the size of the recorded sectors in bytes; 0 if none are recorded.
    private static func sectorSize(_ size: Int64, _ isSnapshot: Bool) -> Int {
        size >= (isSnapshot ? leastSectored : leastSectoredFile)
            ? SectorHasher.sectorSize(forSize: size) : 0
    }

    struct UnreadFile {
        var attributes: EntryAttributes
        var size: Int64
        var isSnapshot: Bool
    }

    struct ScannedFile {
        /// The entry to record.
        var entry: BackupState.Entry
        /// The differences from the base; `nil` if the whole file can be written instead.
        var changes: Changes?
    }

    /// Hashes a file, and records the hashes of its sectors if it is large.
    ///
    /// - Returns: the result; `nil` if the file changed.
    private func scan(
        _ file: UnreadFile,
        _ known: inout Known,
        isStill: () throws -> Bool,
        read: (UnsafeMutableRawBufferPointer, Int64) throws -> Int
    ) throws -> ScannedFile? {
        let (attributes, size, old) = (file.attributes, file.size, known.entry)
        let sectorSize = Self.sectorSize(size, file.isSnapshot)
        if known.id == nil, sectorSize > 0 {
            // Its segments are recorded under its id.
            known.id = try state.put(
                BackupState.Entry(
                    attributes: "",
                    size: 0,
                    identity: nil,
                    sectorSize: 0,
                    first: plan.number,
                    born: plan.number,
                    changed: plan.number,
                    touched: plan.number,
                    gone: plan.number,
                    digests: []
                ),
                at: attributes.path.bytes,
                id: nil
            )
        }
        let id = known.id
        var digests: [Digest] = []
        var changes =
            sectorSize > 0 ? Changes(since: plan.base, size: size, plan.hasher(sectorSize)) : nil
        let isWhole = try scanner.scan(
            size: size,
            hasher: sectorSize > 0 ? plan.hasher(sectorSize) : nil,
            isStill: isStill,
            read: read
        ) { scanned in
            digests.append(scanned.digest)
            if sectorSize > 0, let id {
                let sectors = try keep(scanned, of: attributes.path, id: id, old, sectorSize)
                if changes?.add(sectors, of: scanned.index, scanned.digest) == false {
                    changes = nil
                }
            }
        }
        guard isWhole else { return nil }
        if let id, sectorSize > 0 || old?.sectorSize ?? 0 > 0 {
            try state.removeSectors(of: id, from: sectorSize > 0 ? digests.count : 0)
        }
        var entry = Self.entry(attributes, size: size, digests, after: known, number: plan.number)
        entry.sectorSize = sectorSize
        return ScannedFile(entry: entry, changes: changes)
    }

    /// Writes the part of a file that the base lacks; nothing if the base has all of it.
    private func write(
        _ entry: BackupState.Entry,
        _ attributes: EntryAttributes,
        id: Int64?,
        after old: BackupState.Entry?,
        content: () throws -> Void
    ) throws {
        if max(entry.born, entry.changed) > plan.base { return try content() }
        if entry.touched > plan.base {
            let nothing = FilePatch(size: 0, segments: [], changed: [])
            try append(ManifestRecord(attributes, size: entry.size, patch: nothing))
        }
        try keep(entry, of: attributes, id: id, after: old)
    }

    /// Takes an entry that was written to the archive.
    ///
    /// The written bytes count: a file that keeps changing may have had other bytes during the scan.
    func take(_ written: WrittenEntry) throws {
        try count(written.compressedSize)
        guard let expected = pending.removeValue(forKey: written.attributes.path) else { return }
        let id = expected.id
        var entry = expected.entry
        let digests = written.segments.flatMap(\.digest.bytes)
        if !expected.isScanned {
            (entry.digests, entry.size) = (digests, written.size)
        } else if digests != entry.digests || written.size != entry.size {
            entry.digests = digests
            entry.size = written.size
            entry.identity = nil
            entry.changed = plan.number
            if let id, entry.sectorSize > 0 { try state.removeSectors(of: id) }
            entry.sectorSize = 0
            entry.born = plan.number
        }
        try keep(entry, of: written.attributes, id: id)
    }

    /// Records an entry for the next backup, unless it is unchanged, and adds it to the digest of the whole state.
    func keep(
        _ entry: BackupState.Entry,
        of attributes: EntryAttributes,
        id: Int64?,
        after old: BackupState.Entry? = nil
    ) throws {
        tally.add(attributes, size: entry.size, digests: entry.segmentDigests)
        if let id, old == entry {
            seen.insert(id)
        } else {
            seen.insert(try state.put(entry, at: attributes.path.bytes, id: id))
        }
    }

    // MARK: - The end

    /// Writes the removed entries, and adds files that help to restore without this program.
    ///
    /// - Throws: `FullNeeded`, `HistoryError`, `FileError`.
    func finish() throws {
        var gone: [(id: Int64, path: [UInt8], entry: BackupState.Entry)] = []
        var removed: Set<RelativePath> = []
        try state.forEachEntry(besides: seen) { id, path, entry in
            var entry = entry
            if entry.gone == nil {
                entry.gone = plan.number
                gone.append((id, path, entry))
            }
            let relative = try RelativePath(validating: path)
            // The base may have a file that the last backup no longer had.
            guard let end = entry.gone, end > plan.base, entry.first <= plan.base else { return }
            // The helper that removes files by hand is in this directory itself.
            if relative.components.first == Manifest.reserved.name {
                throw FullNeeded(reason: "'\(relative)' is left out of it")
            }
            removed.insert(relative)
        }
        for (id, path, entry) in gone { try state.put(entry, at: path, id: id) }
        for path in removed.sorted() where !path.hasAncestor(in: removed) {
            try append(ManifestRecord(removed: path))
        }
        guard plan.isIncrement else { return }
        for helper in IncrementHelper.all(needs: plan.needs.map(\.name)) {
            try archive?.add(helper.attributes, content: Array(helper.text.utf8))
        }
    }

    func append(_ record: ManifestRecord) throws {
        try manifest.append(record)
        try count(0)
    }

    /// Counts a record and the bytes of its entry.
    private func count(_ bytes: Int64) throws {
        records += 1
        writtenBytes += bytes
        guard plan.isIncrement else { return }
        guard records <= Self.recordsLimit else { throw FullNeeded(reason: "much has changed") }
        guard writtenBytes <= plan.sizeLimit else { throw FullNeeded(reason: "much has changed") }
    }
}

/// The reason why a full backup is made instead of an increment.
struct FullNeeded: Error {
    var reason: String
}
