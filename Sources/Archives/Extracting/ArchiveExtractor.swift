public import Files
internal import SystemPackage

/// An extractor that restores archives' entries into a directory on all cores, and verifies each in the same pass.
///
/// It can also verify without writing.
///
/// It follows no symbolic link below the directory, and replaces no existing file. The caller ends with `finish()`, and
/// with `close()` in any case.
public final class ArchiveExtractor {
    private static let batchLimit = 256
    /// The maximum number of directories in a batch.
    ///
    /// Each holds a descriptor until its batch is done, and many batches are in flight.
    private static let batchDirectoriesLimit = 16

    let target: ExtractionTarget?
    private let syncing: ArchiveItem.Syncing
    private let pipeline: OrderedPipeline<ExtractJob>
    private let selects: (UInt32) -> Bool
    let progressed: (Int64) throws -> Void
    private var batch: [(ArchiveItem, Directory?)] = []
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
        syncing: ArchiveItem.Syncing,
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
    public func extract(_ item: ArchiveItem) throws {
        do {
            if let segments = item.segments { try item.entry.check(segments) }
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

    private func extractFile(_ item: ArchiveItem) throws {
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

    private func submitParts(of item: ArchiveItem, to file: File?) throws {
        try item.forEachSegment(to: file) { part in
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

    private func makeLink(_ item: ArchiveItem) throws {
        let bytes = try item.linkTarget()
        try target?.makeLink(item, to: bytes)
    }
}
