internal import Archives
internal import Backups
internal import Files
internal import Foundation
internal import History
internal import Stores

/// Writes what is different from an earlier backup, and keeps what the next one has to know.
///
/// Everything that goes into the backup is told to it, changed or not: only so does it know what is gone, and
/// the digest of the whole. A file whose times stand as they did is not read; any other is hashed, and
/// written only if it is not as it was.
final class ChangeWriter {
    /// Bytes of the least store whose sectors are kept.
    private static let leastSectored: Int64 = 128 << 10
    /// The same of another file, which cannot be held still: most are written anew as a whole.
    private static let leastSectoredFile: Int64 = 8 << 20
    /// The most records of an increment: a reader has them in memory.
    private static let recordsLimit = 100_000

    let plan: LineagePlan
    let state: BackupState
    var archive: ArchiveWriter?
    let manifest: ManifestWriter
    private let scanner: SegmentScanner
    private let rereads: Bool
    /// A file that is being written in whole.
    private struct Pending {
        /// The number of its row; `nil` for a new one.
        var id: Int64?
        /// What is to be kept of it.
        var entry: BackupState.Entry
        /// Whether it was hashed before; else its content is known once it is in the archive.
        var isScanned = true
    }

    private var pending: [RelativePath: Pending] = [:]
    private var seen: Set<Int64> = []
    private(set) var tally = BackupTally()
    private var records = 0
    private var writtenBytes: Int64 = 0
    /// Told of a store whose hashes contradict each other.
    let warn: (String) -> Void

    init(
        _ plan: LineagePlan,
        _ state: BackupState,
        telling manifest: ManifestWriter,
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

    /// Has entries go into an archive, which calls `take` with each that it has.
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

    /// Adds a file without reading it, if it stands as it did when it was read, and the base has its content.
    ///
    /// - Parameters:
    ///   - attributes: those to write.
    ///   - size: bytes.
    ///   - identity: how it stands on the disk; `nil` if that tells nothing of its content.
    /// - Returns: `false` if it has to be read.
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
    ///   - attributes: those to write.
    ///   - size: bytes.
    ///   - identity: how it stood on the disk before it was read; `nil` if that tells nothing of its content.
    ///   - isSnapshot: whether it reads the same however often it is read.
    ///   - isStill: whether the file has not changed.
    ///   - read: fills the buffer from an offset on, and returns how many bytes there were.
    /// - Returns: `false` if it ended early or was not still.
    /// - Throws: `FullNeeded`, `HistoryError`; the error of `isStill` or `read`.
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
        var entry: BackupState.Entry
        var scanned: ScannedFile?
        if !rereads, let old, let identity, old.identity == identity, old.size == size {
            // Its times stand as they did when it was read.
            entry = old
            Self.touch(&entry, attributes, number: plan.number)
        } else {
            let file = UnreadFile(attributes: attributes, size: size, isSnapshot: isSnapshot)
            scanned = try scan(file, &known, isStill: isStill, read: read)
            guard let scanned else { return false }
            entry = scanned.entry
            entry.identity = identity
        }
        let id = known.id
        var isGood = true
        // What is read again has to be what was hashed: no later change of it may stay unseen.
        let mayPatch = isSnapshot || identity != nil
        try write(entry, attributes, id: id, after: old) {
            if mayPatch, entry.sectorSize > 0, entry.born <= plan.base, let id,
                let changes = try changes(of: entry, id: id, in: scanned)
            {
                isGood = try add(
                    changes,
                    of: attributes,
                    entry,
                    id: id,
                    isStill: isStill,
                    read: read
                )
            } else {
                pending[attributes.path] = Pending(id: id, entry: entry)
                isGood = try addWhole(attributes, size: size, isStill: isStill, read: read)
            }
        }
        return isGood
    }

    /// Expects a file that goes into the archive whole, and is not hashed before: the backups know nothing of it, and
    /// its sectors are not kept.
    ///
    /// - Parameters:
    ///   - attributes: those to write.
    ///   - size: bytes.
    ///   - identity: how it stood on the disk before it was read; `nil` if that tells nothing of its content.
    /// - Returns: `false` if it has to be looked at.
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

    /// Adds a file whole, which is expected.
    private func addWhole(
        _ attributes: EntryAttributes,
        size: Int64,
        isStill: () throws -> Bool,
        read: (UnsafeMutableRawBufferPointer, Int64) throws -> Int
    ) throws -> Bool {
        let isGood = try archive?.add(attributes, size: size, isStill: isStill, read: read) ?? false
        if !isGood { pending[attributes.path] = nil }
        return isGood
    }

    /// Returns the bytes of the sectors whose hashes are kept; 0 if none are.
    private static func sectorSize(_ size: Int64, _ isSnapshot: Bool) -> Int {
        size >= (isSnapshot ? leastSectored : leastSectoredFile)
            ? SectorHasher.sectorSize(forSize: size) : 0
    }

    private struct UnreadFile {
        var attributes: EntryAttributes
        var size: Int64
        var isSnapshot: Bool
    }

    struct ScannedFile {
        /// What is to be kept of it.
        var entry: BackupState.Entry
        /// What is different from the base; `nil` if the whole file is as good.
        var changes: Changes?
    }

    /// Hashes a file, and keeps the hashes of its sectors if it is large.
    ///
    /// - Returns: `nil` if it was not still.
    private func scan(
        _ file: UnreadFile,
        _ known: inout Known,
        isStill: () throws -> Bool,
        read: (UnsafeMutableRawBufferPointer, Int64) throws -> Int
    ) throws -> ScannedFile? {
        let (attributes, size, old) = (file.attributes, file.size, known.entry)
        let sectorSize = Self.sectorSize(size, file.isSnapshot)
        if known.id == nil, sectorSize > 0 {
            // Its segments are kept under its number.
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
            sectorSize > 0 ? Changes(since: plan.base, size: size, sectorSize: sectorSize) : nil
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

    /// Writes as much of a file as is not in the base; nothing if all is.
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
            try tell(ManifestRecord(attributes, size: entry.size, patch: nothing))
        }
        try keep(entry, of: attributes, id: id, after: old)
    }

    /// Takes an entry that is in the archive by now.
    ///
    /// What was written is what counts: a file that never holds still may have been scanned otherwise.
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

    /// Keeps an entry for the next backup, unless that is as it was, and adds it to the whole.
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

    /// Tells what is gone, and adds what helps to restore without this program.
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
            // The base may have had one before the last.
            guard let end = entry.gone, end > plan.base, entry.first <= plan.base else { return }
            // What removes it by hand stands there itself.
            if relative.components.first == Manifest.reserved.name {
                throw FullNeeded(reason: "'\(relative)' is left out of it")
            }
            removed.insert(relative)
        }
        for (id, path, entry) in gone { try state.put(entry, at: path, id: id) }
        for path in removed.sorted() where !path.hasAncestor(in: removed) {
            try tell(ManifestRecord(removed: path))
        }
        guard plan.isIncrement else { return }
        for helper in IncrementHelper.all(needs: plan.needs.map(\.name)) {
            try archive?.add(helper.attributes, content: Array(helper.text.utf8))
        }
    }

    func tell(_ record: ManifestRecord) throws {
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
