internal import Files

/// One thread's buffers and decompressor.
final class ExtractWorker {
    private let reader: ArchiveReader
    private let syncing: ArchiveExtractor.Syncing
    private let inflater = SegmentInflater()
    private let input = UnsafeMutableRawBufferPointer.allocate(
        byteCount: Segment.compressedLimit,
        alignment: 64
    )
    private let output = UnsafeMutableRawBufferPointer.allocate(
        byteCount: Segment.size,
        alignment: 64
    )

    init(reader: ArchiveReader, syncing: ArchiveExtractor.Syncing) {
        self.syncing = syncing
        self.reader = reader
    }

    deinit {
        input.deallocate()
        output.deallocate()
    }

    /// The bytes of a small file that is worth a request of its own to the disk.
    private static let writebackThreshold = 1 << 16

    func run(_ job: ExtractJob) throws {
        switch job.work {
        case .part(let part): try restore(part)
        case .files(let files):
            for (item, directory) in files {
                do {
                    try restore(item, in: directory)
                } catch let error as FileError {
                    throw reader.explain(error, item)
                }
            }
        case .stream(let item, let target):
            var offset: Int64 = 0
            try reader.read(item.entry) { bytes in
                try target?.write(bytes, at: offset)
                offset += Int64(bytes.count)
                return true
            }
        }
    }

    private func restore(_ part: ExtractJob.Part) throws {
        let bytes = try expand(
            try data(at: part.source, length: part.compressedLength),
            length: part.length,
            isLast: part.isLast,
            entry: part.item.entry
        )
        guard Digest(of: bytes) == part.digest else {
            throw reader.damage(part.item.entry, "its SHA-256 is wrong")
        }
        try part.target?.write(bytes, at: part.destination)
        if syncing != .never {
            part.target?.beginWriteback(from: part.destination, length: Int64(part.length))
        }
    }

    private func restore(_ item: ArchiveExtractor.Item, in directory: Directory?) throws {
        let entry = item.entry
        let bytes = try expand(
            try data(at: reader.dataOffset(entry), length: Int(entry.compressedSize)),
            length: Int(entry.size),
            isLast: true,
            entry: entry
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
        try file.write(bytes, at: 0)
        if syncing != .never, bytes.count >= Self.writebackThreshold {
            file.beginWriteback(from: 0, length: Int64(bytes.count))
        }
        try item.finish(file, syncing)
    }

    private func data(at offset: Int64, length: Int) throws -> UnsafeRawBufferPointer {
        let buffer = UnsafeMutableRawBufferPointer(rebasing: input[..<length])
        try reader.source.readExactly(into: buffer, at: offset)
        return UnsafeRawBufferPointer(buffer)
    }

    private func expand(
        _ data: UnsafeRawBufferPointer,
        length: Int,
        isLast: Bool,
        entry: ArchiveReader.Entry
    ) throws -> UnsafeRawBufferPointer {
        guard entry.record.method == ZipRecords.deflated else {
            guard data.count == length else {
                throw reader.damage(entry, "its sizes contradict each other")
            }
            return data
        }
        let space = UnsafeMutableRawBufferPointer(rebasing: output[..<length])
        guard inflater.inflate(data, into: space, isLast: isLast) else {
            throw reader.damage(entry, "its data does not inflate to what it declares")
        }
        return UnsafeRawBufferPointer(space)
    }
}
