public import Files
internal import SystemPackage

/// A writer of a zip archive, which only appends to a file.
///
/// Entries come from one thread, are compressed and hashed on all cores, and are written in their order.
///
/// Written bytes never change. An entry of one segment is written after all of it is known. A larger entry has its
/// checksum and sizes behind its data. If its file vanishes or changes meanwhile, the entry is given up: it ends as a
/// stream reader expects, and the central directory does not contain it.
///
/// libzip's writer cannot be used: it needs all entries before it reads the first, so no file could be left out. This
/// writer needs a few MiB for each core.
///
/// The caller ends with `finish()`, and with `close()` in any case.
public final class ArchiveWriter {
    /// An entry whose local record was written, and the part of its data that was written.
    private struct OpenEntry {
        var record: EntryRecord
        var content: WrittenEntry
        var checksum = Checksum()
    }

    /// The maximum length of a path in bytes, since a record has 16 bits for it.
    public static let pathLimit = Int(UInt16.max)

    private let sink: AppendingSink
    private let pipeline: OrderedPipeline<WriteJob>
    private let written: (WrittenEntry) throws -> Void
    private var filling: WriteJob?
    private var open: OpenEntry?
    /// The number of large entries so far, and the number of the one that is being given up.
    private(set) var largeEntries = 0
    private var givenUp: Int?
    private let central: Spool
    private var entryCount: UInt64 = 0
    /// The hashes of all entries' names, of which no two are the same.
    private var names: Set<Int> = []
    /// The files that changed before they were read, and are not in the archive.
    private var refused: [EntryAttributes] = []

    /// Starts an archive at the beginning of an empty file, or of a stream.
    ///
    /// - Parameters:
    ///   - sink: the file, which the caller syncs, or the stream. Large data for the end of the archive is kept beside
    ///     its path.
    ///   - compression: the compression level.
    ///   - threads: the number of threads that compress.
    ///   - segments: the maximum number of segments in flight; `nil` for enough to keep all threads busy.
    ///   - written: called on the caller's thread for each entry that was written, in order.
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

    /// Adds an entry with available content of at most one segment: a directory, a link with its target, or a short
    /// file.
    public func add(_ attributes: EntryAttributes, content: [UInt8] = []) throws {
        let wasAdded = try add(attributes, size: Int64(content.count)) { buffer, _ in
            buffer.copyBytes(from: content)
            return content.count
        }
        precondition(wasAdded)
    }

    /// Adds a file by reading it from beginning to end.
    ///
    /// - Parameters:
    ///   - attributes: the attributes to write.
    ///   - size: the file's size in bytes.
    ///   - isStill: whether the file is unchanged; called after each segment, so that an entry can be given up early.
    ///   - read: fills the buffer from an offset, and returns the number of bytes.
    /// - Returns: `false` if the file ended early or changed. It is not in the archive then.
    /// - Throws: the error of `isStill` or `read`, so that the file is not in the archive; `FileError` if the archive
    ///   cannot be written.
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
    /// The thread may find that the file cannot be read, was replaced, or changes. Then the file is not in the archive,
    /// and `takeRefused()` returns it.
    ///
    /// - Parameters:
    ///   - attributes: the attributes to write.
    ///   - file: the file, of at most one segment; its directory stays open while it waits.
    ///   - accepts: whether to add the file, given all of its bytes; called on another thread.
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

    /// The number of refused files that were not returned yet.
    public var refusedCount: Int { refused.count }

    /// Returns the files refused so far, each only once; after `drain()`, all of them.
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

    /// Adds an entry whose content was compressed while it was produced.
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

    /// Writes everything in flight, and the central directory.
    ///
    /// - Returns: the archive's size in bytes. The caller has to sync it to the disk.
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

    /// Ends the threads, and drops data that was not written yet.
    public func close() {
        pipeline.close()
    }

    // MARK: - Writing in order

    /// Begins a large entry, whose segments are submitted one by one.
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
    /// Segments in flight are dropped. Often none was written; otherwise the entry is ended properly, so that a stream
    /// reader finds the next one.
    private func giveUp() throws {
        // The job that was not submitted is empty, and stays for the next entry.
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
            // A stored entry cannot have a descriptor, since nothing else marks the end of its data.
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
        // An incompressible segment grows by five bytes for each 64 KiB, and an entry that is given up gets an end.
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
        // A file and a directory with one name exclude each other, too.
        let name = record.name.last == UInt8(ascii: "/") ? record.name.dropLast() : record.name[...]
        guard names.insert(name.hashValue).inserted else {
            throw ArchiveError.addedTwice(entry: String(decoding: name, as: UTF8.self))
        }
        try central.append(record.central())
        entryCount += 1
    }
}

/// A written entry, for the manifest.
public struct WrittenEntry: Sendable {
    public var attributes: EntryAttributes
    /// The size in bytes before compression.
    public var size: Int64
    /// The segments of its data, in order.
    public var segments: [SegmentRecord]
    /// The size in bytes in the archive.
    public var compressedSize: Int64
}
