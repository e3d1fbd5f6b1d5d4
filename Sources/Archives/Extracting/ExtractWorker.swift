internal import Files

/// The work of one thread: a segment of a large file, many small files, or one indivisible stream.
///
/// No lock is needed inside: the pipeline's lock hands it from the thread that fills it to the one that works on it,
/// and back.
final class ExtractJob: @unchecked Sendable {
    enum Work {
        case part(FileSegment)
        /// Whole files, each with its directory.
        case files([(ArchiveItem, Directory?)])
        case stream(ArchiveItem, File?)
    }

    var work: Work = .files([])
    /// The number of bytes before compression, for the progress.
    var size: Int64 = 0
}

/// One thread's buffers and decompressor.
final class ExtractWorker {
    private let syncing: ArchiveItem.Syncing
    private let buffers = SegmentBuffers()

    init(syncing: ArchiveItem.Syncing) {
        self.syncing = syncing
    }

    /// The minimum size in bytes of a small file that gets its own write request to the disk.
    private static let writebackThreshold = 1 << 16

    func run(_ job: ExtractJob) throws {
        switch job.work {
        case .part(let part): try restore(part)
        case .files(let files):
            for (item, directory) in files {
                do {
                    try restore(item, in: directory)
                } catch let error as FileError {
                    throw item.entry.archive.explain(error, item)
                }
            }
        case .stream(let item, let target):
            var offset: Int64 = 0
            try item.entry.archive.read(item.entry) { bytes in
                try target?.writeLeavingHoles(bytes, at: offset)
                offset += Int64(bytes.count)
                return true
            }
        }
    }

    private func restore(_ part: FileSegment) throws {
        let bytes = try buffers.verifiedContent(of: part)
        try part.target?.writeLeavingHoles(bytes, at: part.destination)
        if syncing != .never {
            part.target?.beginWriteback(from: part.destination, length: Int64(part.length))
        }
    }

    private func restore(_ item: ArchiveItem, in directory: Directory?) throws {
        let entry = item.entry
        let reader = entry.archive
        let bytes = try UnsafeRawBufferPointer(
            buffers.read(
                at: reader.dataOffset(entry),
                length: Int(entry.compressedSize),
                inflatingTo: Int(entry.size),
                isLast: true,
                of: entry
            )
        )
        if let segments = item.segments {
            guard segments.first.map({ $0.digest == Digest(of: bytes) }) ?? bytes.isEmpty else {
                throw reader.damage(entry, "its SHA-256 is wrong")
            }
        } else if Checksum(of: bytes).value != entry.record.checksum {
            throw reader.damage(entry, "its CRC-32 is wrong")
        }
        guard let directory else { return }
        let file = try directory.createFile(item.attributes.path.name)
        try file.writeLeavingHoles(bytes, at: 0)
        if syncing != .never, bytes.count >= Self.writebackThreshold {
            file.beginWriteback(from: 0, length: Int64(bytes.count))
        }
        try item.finish(file, syncing)
    }
}
