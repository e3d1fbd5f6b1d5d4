internal import Archives
internal import Files
internal import Foundation
internal import Stores
internal import SystemPackage

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Restores all of an archive into an empty directory, or verifies it.
struct Extraction {
    /// An archive that was looked at and may be extracted.
    struct Plan {
        let contents: BackupContents
        let name: String
        let files: Int
        /// Bytes in all files.
        let bytes: Int64

        /// Opens an archive and holds it to the limits.
        init(_ path: FilePath, name: String, limits: RestoreLimits) throws {
            self.name = name
            contents = try BackupContents(path, name: name)
            var entries = 0
            var files = 0
            var bytes: Int64 = 0
            let reader = contents.reader
            for index in 0..<reader.count {
                let entry = try reader.entry(at: index)
                // The manifest is read, and not restored; a pipe or a device is not made.
                if entry.attributes.path == ManifestPlace.path || entry.isSpecial { continue }
                entries += 1
                if entry.attributes.kind == .file { files += 1 }
                bytes += entry.size
                try entry.checkRatio(path)
            }
            self.files = files
            self.bytes = bytes
            guard entries > 0 else {
                throw ArchiveError.notAnArchive(path, reason: "there is nothing in it")
            }
            if contents.header == nil { try checkForeign(limits) }
        }

        private func checkForeign(_ limits: RestoreLimits) throws {
            let reader = contents.reader
            func refuse(_ reason: String, _ limit: RestoreLimits.Kind) -> OperationError {
                .beyondLimit(name, reason: reason, limit)
            }
            guard reader.count <= limits.entries else {
                throw refuse("it has \(reader.count) entries", .entries)
            }
            guard bytes <= limits.bytes else {
                throw refuse("it would unpack to \(byteCount(bytes))", .size)
            }
            guard bytes <= limits.freeBytes || (bytes - 1) / limits.ratio < reader.size else {
                let sizes = "its \(byteCount(reader.size)) would unpack to \(byteCount(bytes))"
                throw refuse("\(sizes), as a zip bomb does", .ratio)
            }
            for index in 0..<reader.count {
                let depth = try reader.entry(at: index).attributes.path.components.count
                guard depth <= limits.depth else {
                    throw refuse("a path has \(depth) components", .depth)
                }
            }
            try reader.checkNamesIgnoringCase()
        }

        /// Says where an archive is not what its manifest describes.
        func tellOrigin(_ context: OperationContext) {
            guard contents.reader.isPackedAnew else { return }
            context.report(
                .note(
                    "another program packed this backup anew: its manifest describes it no longer, so each file is held to its CRC-32 instead of its SHA-256"
                )
            )
        }

        /// Throws where the files would not fit, which is better told before than half-way.
        func checkSpace(at path: FilePath) throws {
            let available = try Directory.open(path).availableSpace()
            guard bytes <= available else {
                throw OperationError.tooLarge(path, needed: bytes, available: available)
            }
        }
    }

    /// Whether files may be given to their owners: only root may.
    static var mayGiveAway: Bool { geteuid() == 0 }

    /// Whether an entry would be taken for what a restore left there.
    ///
    /// In what case it is written makes no difference, since some file systems make none.
    private static func isReserved(_ path: RelativePath) -> Bool {
        let reserved = StoresDirectory.restoreArea.bytes
        guard path.bytes.count >= reserved.count, let first = path.components.first?.bytes else {
            return false
        }
        return first.count == reserved.count && zip(first, reserved).allSatisfy { $0 | 0x20 == $1 }
    }

    /// A few files are flushed one by one; for many, one call for the whole file system takes a
    /// fraction of the time.
    private static let filesToSyncOneByOne = 64

    private let plan: Plan
    private let context: OperationContext

    init(_ plan: Plan, _ context: OperationContext) {
        self.plan = plan
        self.context = context
    }

    /// Verifies the data, and writes nothing.
    ///
    /// - Parameter subset: what to read of it.
    /// - Throws: `ArchiveError`, `OperationError.badManifest`, `FileError`, `CancellationError`.
    func verify(reading subset: DataSubset = .all) throws {
        try run(into: nil, syncing: .never, reading: subset)
    }

    /// Extracts into a directory that is thrown away afterwards: nothing is flushed to the disk.
    ///
    /// - Throws: see `verify(reading:)`.
    func rehearse(into directory: Directory) throws {
        try run(into: directory, syncing: .never)
    }

    /// Extracts into a directory.
    ///
    /// - Returns: the flush to the disk, which may still be under way; it may only be taken for
    ///   restored once that has ended.
    /// - Throws: see `verify(reading:)`.
    func run(into directory: Directory) throws -> BackgroundWork<Void> {
        let syncsEach = plan.files <= Self.filesToSyncOneByOne || !Directory.canSyncFileSystem
        try run(into: directory, syncing: syncsEach ? .each : .byCaller)
        if syncsEach { return BackgroundWork(value: ()) }
        return BackgroundWork { _ in try directory.syncFileSystem() }
    }

    private func run(
        into directory: Directory?,
        syncing: ArchiveExtractor.Syncing,
        reading subset: DataSubset = .all
    ) throws {
        context.report(.began(directory == nil ? .verifying : .extracting, total: plan.bytes))
        let extractor = ArchiveExtractor(
            plan.contents.reader,
            into: directory,
            syncing: syncing,
            threads: context.threads,
            selects: subset.selection()
        ) { count in
            try context.checkCancellation()
            context.report(.advanced(count))
        }
        defer { extractor.close() }
        var foreignOwners = 0
        var reserved = 0
        var special: (count: Int, first: RelativePath?) = (0, nil)
        try plan.contents.forEach { item in
            guard !Self.isReserved(item.attributes.path) else {
                reserved += 1
                return
            }
            guard !item.entry.isSpecial else {
                special = (special.count + 1, special.first ?? item.attributes.path)
                return
            }
            var item = item
            if !Self.mayGiveAway {
                if let owner = item.attributes.owner, owner.user != geteuid() { foreignOwners += 1 }
                item.attributes.owner = nil
            }
            try extractor.extract(item)
        }
        try extractor.finish()
        if reserved > 0 {
            context.report(
                .note(
                    "'\(StoresDirectory.restoreArea)' is left out: a journal in it is not to be obeyed"
                )
            )
        }
        if let first = special.first {
            context.report(
                .note(
                    "\(counted(special.count, "entry is", "entries are")) left out, '\(first)' first: named pipes, sockets and devices are not restored"
                )
            )
        }
        if foreignOwners > 0, directory != nil {
            context.report(
                .note(
                    "\(counted(foreignOwners, "name belongs", "names belong")) to other users; only root can give them back, so they are yours now"
                )
            )
        }
    }
}

extension ArchiveReader.Entry {
    /// Deflate makes data at most 1,032 times as small: an entry that declares more is a lie.
    fileprivate func checkRatio(_ path: FilePath) throws {
        guard isPlain, size > 1 << 20, size / 1032 > compressedSize else { return }
        throw ArchiveError.beyondLimit(
            path,
            reason: "'\(attributes.path)' declares more than its data can hold"
        )
    }
}
