public import Files
internal import SystemPackage

/// Writes a zip archive by appending to a file: entries go in from one thread, are compressed and
/// hashed on all cores, and are written in the order in which they came.
///
/// Nothing that was written is written again. An entry of one segment is written once all of it is
/// known. A larger one has its checksum and sizes behind its data. If its file vanishes or changes
/// under way, it is given up: it is ended as a reader of a stream expects, and the central directory
/// does not name it.
///
/// libzip's writer does not serve: it wants to know all entries before it reads the first, so that no
/// file could be left out. This one needs a few MiB for each core.
///
/// The caller ends with `finish()`, and with `close()` in any case.
public final class ArchiveWriter {
    /// An entry whose local record has been written, and what has been written of its data.
    private struct OpenEntry {
        var record: EntryRecord
        var content: WrittenEntry
        var checksum = Checksum()
    }

    /// The most bytes that a path may have: a record has 16 bits for its length.
    public static let pathLimit = Int(UInt16.max)

    private let sink: AppendingSink
    private let pipeline: OrderedPipeline<WriteJob>
    private let written: (WrittenEntry) throws -> Void
    private var filling: WriteJob?
    private var open: OpenEntry?
    /// How many large entries were begun, and which of them is being given up.
    private(set) var largeEntries = 0
    private var givenUp: Int?
    private let central: Spool
    private var entryCount: UInt64 = 0
    /// Files that were not as they were to be read, and are not in the archive.
    private var refused: [EntryAttributes] = []

    /// Starts an archive at the beginning of an empty file, or of a stream.
    ///
    /// - Parameters:
    ///   - sink: the file, which the caller syncs, or the stream; beside its path is kept what is written
    ///     last, if that is much.
    ///   - compression: how hard to compress.
    ///   - threads: how many threads compress.
    ///   - segments: how many segments may be in flight; `nil` for enough that no thread waits for the caller.
    ///   - written: called on the caller's thread for each entry once it is in the archive, in order.
    public init(
        to sink: any ByteSink,
        compression: Compression,
        threads: Int,
        segments: Int? = nil,
        written: @escaping (WrittenEntry) throws -> Void
    ) {
        self.sink = AppendingSink(sink)
        central = Spool(in: sink.path.removingLastComponent())
        pipeline = OrderedPipeline(threads: threads, capacity: segments, makeJob: { WriteJob() }) {
            let worker = WriteWorker(compression)
            return { try worker.run($0) }
        }
        self.written = written
    }

    /// Adds an entry whose content is at hand, and at most one segment: a directory, a link with its
    /// target, a short file.
    public func add(_ attributes: EntryAttributes, content: [UInt8] = []) throws {
        let wasAdded = try add(attributes, size: Int64(content.count)) { buffer, _ in
            buffer.copyBytes(from: content)
            return content.count
        }
        precondition(wasAdded)
    }

    /// Adds a file by reading it from its beginning to its end.
    ///
    /// - Parameters:
    ///   - attributes: those to write.
    ///   - size: its size in bytes.
    ///   - isStill: whether the file has not changed; called after each segment, so that an entry is given
    ///     up early.
    ///   - read: fills the buffer from an offset on, and returns how many bytes there were.
    /// - Returns: `false` if the file ended early or was not still. It is then not in the archive.
    /// - Throws: the error of `isStill` or `read`, and then too the file is not in the archive; `FileError`
    ///   if the archive cannot be written.
    public func add(
        _ attributes: EntryAttributes,
        size: Int64,
        isStill: () throws -> Bool = { true },
        read: (UnsafeMutableRawBufferPointer, Int64) throws -> Int
    ) throws -> Bool {
        var piece = WriteJob.Piece(begins: attributes, entrySize: size, isLast: true)
        if size <= Int64(Segment.size) {
            return try addSmall(piece, size: Int(size), isStill: isStill, read: read)
        }
        beginLarge()
        let count = Segment.count(forSize: size)
        for index in 0..<count {
            let job = try jobToFill()
            let length = Segment.length(at: index, ofSize: size)
            let isGood = Result {
                try read(job.space(length), Int64(index) * Int64(Segment.size)) == length
                    && isStill()
            }
            guard case .success(true) = isGood else {
                try giveUp()
                return try isGood.get()
            }
            piece.largeEntry = largeEntries
            piece.isLast = index == count - 1
            job.append(piece, length: length)
            piece.begins = nil
            submitFilling()
        }
        return true
    }

    /// Adds a short file that another thread opens and reads.
    ///
    /// It may turn out later that it cannot be read, is another by then, or changes meanwhile. Then it is not in the
    /// archive, and `takeRefused()` names it.
    ///
    /// - Parameters:
    ///   - attributes: those to write.
    ///   - file: the file, of at most one segment; its directory stays open as long as it waits.
    ///   - accepts: whether it may come in, by all of its bytes; called on another thread.
    /// - Throws: `FileError` if the archive cannot be written.
    public func add(
        _ attributes: EntryAttributes,
        opening file: WalkedFile,
        accepts: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool
    ) throws {
        precondition(file.info.size <= Int64(Segment.size))
        if let job = filling, !job.hasRoom(for: file) { submitFilling() }
        var piece = WriteJob.Piece(begins: attributes, entrySize: file.info.size, isLast: true)
        piece.source = .file(file, accepts: accepts)
        try jobToFill().append(piece, length: Int(file.info.size))
    }

    /// How many files were refused, and were not taken yet.
    public var refusedCount: Int { refused.count }

    /// Returns the files that were refused until now, once; after `drain()`, all of them.
    public func takeRefused() -> [EntryAttributes] {
        defer { refused = [] }
        return refused
    }

    private func addSmall(
        _ piece: WriteJob.Piece,
        size: Int,
        isStill: () throws -> Bool,
        read: (UnsafeMutableRawBufferPointer, Int64) throws -> Int
    ) throws -> Bool {
        let job = try jobToFill(withRoomFor: size)
        let got = size == 0 ? 0 : try read(job.space(size), 0)
        guard try got == size && isStill() else { return false }
        job.append(piece, length: size)
        return true
    }

    /// Adds an entry that was compressed while it was made.
    public func add(_ deferred: DeferredEntry) throws {
        try drain()
        let data = try deferred.close()
        var record = makeRecord(deferred.attributes, size: deferred.size, isDeflated: true)
        record.checksum = deferred.checksum.value
        record.compressedSize = UInt64(data.count)
        try sink.append(record.local())
        try data.forEachPart(sink.append)
        try appendCentral(record)
    }

    /// Writes all that is in flight, and the central directory.
    ///
    /// - Returns: the archive's size in bytes. It is not on the disk before the caller syncs it.
    public func finish() throws -> Int64 {
        try drain()
        let start = sink.position
        try central.forEachPart(sink.append)
        let end = EndRecord(
            entries: entryCount,
            directoryOffset: UInt64(start),
            directorySize: UInt64(sink.position - start)
        )
        try sink.append(end.encoded())
        try sink.finish()
        return sink.position
    }

    /// Ends the threads; what was not written yet is dropped.
    public func close() {
        pipeline.close()
    }

    // MARK: - In order

    /// Begins a large entry, whose segments come one by one.
    func beginLarge() {
        submitFilling()
        largeEntries += 1
    }

    func jobToFill() throws -> WriteJob {
        let job = try filling ?? pipeline.vacantJob(commit)
        filling = job
        return job
    }

    func jobToFill(withRoomFor size: Int) throws -> WriteJob {
        if let job = filling, !job.hasRoom(for: size) { submitFilling() }
        return try jobToFill()
    }

    func submitFilling() {
        guard let job = filling, !job.isEmpty else { return }
        filling = nil
        pipeline.submit(job)
    }

    /// Waits until all entries so far are in the archive, and `written` was called with each.
    public func drain() throws {
        submitFilling()
        while try pipeline.takeOldest(commit) != nil {}
    }

    /// Gives up the large entry whose segments are being submitted.
    ///
    /// Those in flight are dropped, and often none was written. If some were, the entry is ended
    /// properly, so that a reader of a stream finds the next one.
    private func giveUp() throws {
        // The job that was not submitted is empty: it stays for the next entry.
        givenUp = largeEntries
        try drain()
        givenUp = nil
        guard var entry = open else { return }
        open = nil
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        let length = try StoredBlocks.write(nothing, isLast: true, to: sink.append)
        entry.content.compressedSize += Int64(length)
        try appendDescriptor(to: &entry)
    }

    private func commit(_ job: WriteJob) throws {
        defer { job.clear() }
        for piece in job.pieces where piece.largeEntry == nil || piece.largeEntry != givenUp {
            if piece.isRefused {
                if let attributes = piece.begins { refused.append(attributes) }
                continue
            }
            if let attributes = piece.begins { try begin(attributes, piece: piece) }
            try appendData(of: piece, in: job)
            if piece.isLast { try end() }
        }
    }

    private func begin(_ attributes: EntryAttributes, piece: WriteJob.Piece) throws {
        let isLarge = piece.largeEntry != nil
        var record = makeRecord(
            attributes,
            size: piece.entrySize,
            // A stored entry cannot have a descriptor: nothing else says where its data ends.
            isDeflated: isLarge || piece.deflated != nil
        )
        record.hasDescriptor = isLarge
        if !isLarge {
            record.checksum = piece.checksum
            record.compressedSize = UInt64(piece.deflated?.count ?? piece.range.count)
        }
        try sink.append(record.local())
        let content = WrittenEntry(attributes: attributes, size: 0, segments: [], compressedSize: 0)
        open = OpenEntry(record: record, content: content)
    }

    private func appendData(of piece: WriteJob.Piece, in job: WriteJob) throws {
        guard var entry = open else { preconditionFailure("a segment without its entry") }
        open = nil
        var length = piece.range.count
        if let range = piece.deflated {
            try sink.append(job.deflated(range))
            length = range.count
        } else if entry.record.hasDescriptor {
            length = try StoredBlocks.write(job.raw(piece), isLast: piece.isLast, to: sink.append)
        } else {
            try sink.append(job.raw(piece))
        }
        entry.checksum.append(piece.checksum, length: piece.range.count)
        entry.content.size += Int64(piece.range.count)
        entry.content.compressedSize += Int64(length)
        if !piece.range.isEmpty {
            entry.content.segments.append(SegmentRecord(digest: piece.digest, length: length))
        }
        open = entry
    }

    private func end() throws {
        guard var entry = open else { preconditionFailure("an end without its entry") }
        open = nil
        if entry.record.hasDescriptor { try appendDescriptor(to: &entry) }
        try appendCentral(entry.record)
        try written(entry.content)
    }

    private func appendDescriptor(to entry: inout OpenEntry) throws {
        entry.record.checksum = entry.checksum.value
        entry.record.compressedSize = UInt64(entry.content.compressedSize)
        entry.record.size = UInt64(entry.content.size)
        try sink.append(entry.record.descriptor.encoded())
    }

    private func makeRecord(
        _ attributes: EntryAttributes,
        size: Int64,
        isDeflated: Bool
    ) -> EntryRecord {
        let type: UInt32 =
            switch attributes.kind {
            case .file: 0o100000
            case .directory: 0o040000
            case .link: 0o120000
            }
        let isDirectory = attributes.kind == .directory
        // A segment that does not shrink grows by five bytes in each 64 KiB, and an entry that is given up
        // by an end.
        let largest = UInt64(size) + UInt64(size) / 8192 + 1024
        return EntryRecord(
            name: attributes.path.bytes + (isDirectory ? [UInt8(ascii: "/")] : []),
            method: isDeflated ? ZipRecords.deflated : ZipRecords.stored,
            checksum: 0,
            compressedSize: 0,
            size: UInt64(size),
            mode: type | UInt32(attributes.mode),
            modified: attributes.modified,
            offset: UInt64(sink.position),
            hasWideSizes: largest >= UInt64(UInt32.max)
        )
    }

    private func appendCentral(_ record: EntryRecord) throws {
        try central.append(record.central())
        entryCount += 1
    }
}
