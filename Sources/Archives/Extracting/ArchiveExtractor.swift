public import Files
internal import SystemPackage

/// An extractor that restores archives' entries into a directory on all cores, and verifies each in the same pass.
///
/// It can also verify without writing.
///
/// It follows no symbolic link below the directory, and replaces no existing file. The caller ends with `finish()`, and
/// with `close()` in any case.
public final class ArchiveExtractor {
    /// An entry with its attributes, segments and patches.
    public struct Item: Sendable {
        public var entry: ArchiveReader.Entry
        /// The attributes for the file.
        ///
        /// They come from the manifest if there is one, since its time is finer.
        public var attributes: EntryAttributes
        /// The manifest's segment table; without one, the CRC-32 is verified.
        public var segments: [SegmentRecord]?
        /// The final file, if entries of later archives patch this one.
        public var patched: PatchedContent?

        public init(
            entry: ArchiveReader.Entry,
            attributes: EntryAttributes,
            segments: [SegmentRecord]? = nil,
            patched: PatchedContent? = nil
        ) {
            self.entry = entry
            self.attributes = attributes
            self.segments = segments
            self.patched = patched
        }

        /// The size of the final file in bytes.
        public var size: Int64 { patched?.size ?? entry.size }

        /// The bytes that it needs on a disk.
        ///
        /// Whole segments of zeros become holes if the manifest has their digests.
        public var allocatedSize: Int64 {
            let digests = patched?.digests ?? segments?.map(\.digest) ?? []
            let zeros = digests.lazy.filter { $0 == ZeroSegment.digest }.count
            return size - Int64(zeros) * Int64(Segment.size)
        }

        /// Sets a file's length and its attributes once its content is written.
        func finish(_ file: File, _ syncing: Syncing) throws {
            // A look is cheaper than setting the same attributes again.
            let info = try file.info()
            // The file may end in a hole.
            if info.size < size { try file.truncate(to: size) }
            if let owner = attributes.owner, owner.user != info.owner || owner.group != info.group {
                try file.setOwner(owner.user, group: owner.group)
            }
            // A change of the owner clears the set-user-id bit.
            if attributes.mode != info.mode || attributes.mode & 0o7000 != 0 {
                try file.setMode(attributes.mode)
            }
            try file.setModified(attributes.modified)
            if syncing == .each { try file.sync() }
        }
    }

    /// The moment at which restored files are synced to the disk.
    public enum Syncing: Sendable {
        /// Never, because the files are deleted afterwards.
        case never
        /// At the end, by the caller, while the disk is already writing. For many files, one call for the whole file
        /// system is faster.
        case byCaller
        /// After each file and each directory.
        case each
    }

    private static let batchLimit = 256
    /// The maximum number of directories in a batch.
    ///
    /// Each holds a descriptor until its batch is done, and many batches are in flight.
    private static let batchDirectoriesLimit = 16

    let target: ExtractionTarget?
    private let syncing: Syncing
    private let pipeline: OrderedPipeline<ExtractJob>
    private let selects: (UInt32) -> Bool
    let progressed: (Int64) throws -> Void
    private var batch: [(Item, Directory?)] = []
    private var batchSize: Int64 = 0
    private var batchDirectories = 0

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - directory: the directory for the files; `nil` to verify only.
    ///   - syncing: the moment at which files are synced to the disk.
    ///   - threads: the number of threads.
    ///   - selects: whether to read a piece of data that is only verified. It receives some bits of the digest, or the
    ///     checksum if there is no digest.
    ///   - progressed: called on the caller's thread with the number of bytes just restored.
    public init(
        into directory: Directory?,
        syncing: Syncing,
        threads: Int,
        selects: @escaping (UInt32) -> Bool = { _ in true },
        progressed: @escaping (Int64) throws -> Void
    ) {
        self.syncing = syncing
        target = directory.map { ExtractionTarget($0, syncing: syncing == .each) }
        pipeline = OrderedPipeline(threads: threads, makeJob: { ExtractJob() }) {
            let worker = ExtractWorker(syncing: syncing)
            return { try worker.run($0) }
        }
        self.selects = selects
        self.progressed = progressed
    }

    /// Restores one entry.
    ///
    /// It may be in place only after `finish()`.
    public func extract(_ item: Item) throws {
        do {
            if let segments = item.segments { try Self.checkTable(segments, of: item.entry) }
            switch item.attributes.kind {
            case .directory: try target?.makeDirectory(item)
            case .link: try makeLink(item)
            case .file: try extractFile(item)
            }
        } catch let error as FileError {
            throw item.entry.archive.explain(error, item)
        }
    }

    /// Waits for all entries, and sets the attributes of directories.
    public func finish() throws {
        try flush()
        try target?.finishDirectories()
    }

    /// Waits for all entries so far.
    func flush() throws {
        try submitBatch()
        while try pipeline.takeOldest(commit) != nil {}
    }

    /// Ends the threads.
    public func close() {
        pipeline.close()
    }

    // MARK: - Files

    /// Returns whether to read a piece of data.
    ///
    /// All pieces are read unless they are only verified.
    private func isSelected(_ key: UInt32) -> Bool { target != nil || selects(key) }

    private func extractFile(_ item: Item) throws {
        if let patched = item.patched {
            let path = item.attributes.path
            let file = try target?.parent(of: path).createFile(path.name)
            if patched.digests.isEmpty, let file { return try item.finish(file, syncing) }
            return try submitParts(of: item, to: file)
        }
        let isSmall =
            item.entry.size <= Int64(Segment.size)
            && item.entry.compressedSize <= Int64(Segment.compressedLimit)
        let isInSegments = item.segments != nil && item.entry.isPlain
        if isSmall || !isInSegments {
            let key = item.segments?.first?.digest.key ?? item.entry.record.checksum
            guard isSelected(key) else { return }
        }
        if isSmall, item.entry.isPlain {
            let directory = try target?.parent(of: item.attributes.path)
            if batch.isEmpty || directory !== batch.last?.1 { batchDirectories += 1 }
            batch.append((item, directory))
            batchSize += item.entry.size
            let isFull = batch.count >= Self.batchLimit || batchSize >= Int64(Segment.size)
            if isFull || batchDirectories >= Self.batchDirectoriesLimit { try submitBatch() }
            return
        }
        let path = item.attributes.path
        let file = try target?.parent(of: path).createFile(path.name)
        if isInSegments {
            try submitParts(of: item, to: file)
        } else {
            try submit(.stream(item, file), size: item.entry.size)
        }
    }

    private func submitParts(of item: Item, to file: File?) throws {
        try item.forEachPart(to: file) { part in
            guard isSelected(part.digest.key) else { return }
            try submit(.part(part), size: Int64(part.length))
        }
    }

    private func submitBatch() throws {
        guard !batch.isEmpty else { return }
        defer { (batch, batchSize, batchDirectories) = ([], 0, 0) }
        try submit(.files(batch), size: batchSize)
    }

    private func submit(_ work: ExtractJob.Work, size: Int64) throws {
        let job = try pipeline.vacantJob(commit)
        job.work = work
        job.size = size
        pipeline.submit(job)
    }

    private func commit(_ job: ExtractJob) throws {
        // The file's last reference closes it, so an idle job must not keep it.
        let work = job.work
        job.work = .files([])
        switch work {
        case .part(let part) where part.isLast:
            if let file = part.target { try part.item.finish(file, syncing) }
        case .stream(let item, let file?): try item.finish(file, syncing)
        default: break
        }
        try progressed(job.size)
    }

    // MARK: - Links

    private func makeLink(_ item: Item) throws {
        let bytes = try item.linkTarget()
        try target?.makeLink(item, to: bytes)
    }
}

extension ArchiveExtractor.Item {
    /// Reads and verifies the target of a symbolic link.
    ///
    /// - Returns: the bytes of the target, at least one and none of them NUL.
    /// - Throws: `ArchiveError`, `FileError`.
    public func linkTarget() throws -> [UInt8] {
        let reader = entry.archive
        guard entry.size <= 4096 else {
            throw reader.damage(entry, "a link's target cannot be so long")
        }
        var bytes: [UInt8] = []
        try reader.read(entry) {
            bytes.append(contentsOf: $0)
            return true
        }
        guard !bytes.isEmpty, !bytes.contains(0) else {
            throw reader.damage(entry, "it has no target")
        }
        let digest = bytes.withUnsafeBytes { Digest(of: $0) }
        guard segments?.first.map({ $0.digest == digest }) ?? true else {
            throw reader.damage(entry, "its SHA-256 is wrong")
        }
        return bytes
    }
}

extension ArchiveReader {
    /// Returns the archive's error if an entry made the file system refuse it, or else the same error.
    func explain(_ error: FileError, _ item: ArchiveExtractor.Item) -> any Error {
        let name = item.attributes.path.description
        return switch error {
        case .exists: ArchiveError.duplicateEntry(path, entry: name, other: name)
        case .failed(.open, _, .notDirectory), .failed(.open, _, .tooManySymbolicLinkLevels), .notA:
            obstructed(name)
        default: error
        }
    }
}
