internal import Files

/// One thread's compressor and buffers, which hash and compress the pieces of jobs.
final class WriteWorker {
    private let deflater: SegmentDeflater
    /// The buffers for data copied from other archives.
    private lazy var buffers = SegmentBuffers()

    init(_ compression: Compression) {
        deflater = SegmentDeflater(compression)
    }

    /// Hashes and compresses all pieces.
    ///
    /// A piece to copy is verified, and compressed only if it has changed.
    ///
    /// - Throws: `ArchiveError`, `FileError` if data to copy cannot be read.
    func run(_ job: WriteJob) throws {
        try job.forEachPiece { piece, space, output in
            let source = piece.source
            piece.source = nil
            switch source {
            case .part(let part):
                return try copy(part, as: &piece, through: space, into: output)
            case .file(let file, let accepts):
                piece.isRefused = !Self.read(file, into: space, accepts)
                if piece.isRefused { return nil }
            case nil: break
            }
            let bytes = UnsafeRawBufferPointer(space)
            let isZero = ZeroSegment.isEqual(bytes)
            piece.checksum = isZero ? ZeroSegment.checksum : Checksum(of: bytes).value
            piece.digest = isZero ? ZeroSegment.digest : Digest(of: bytes)
            return deflate(bytes, of: piece, into: output)
        }
    }

    /// Reads a file if it is the one found by the walk and does not change.
    ///
    /// - Returns: `false` otherwise; the caller then tries again, and reports it.
    private static func read(
        _ walked: WalkedFile,
        into space: UnsafeMutableRawBufferPointer,
        _ accepts: (UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
        guard let file = try? walked.directory.fileOfAnyKind(walked.name),
            (try? file.read(into: space, at: 0)) == space.count
        else { return false }
        // Equal metadata after the reading proves that it is the same file, unchanged.
        return accepts(UnsafeRawBufferPointer(space)) && (try? file.info()) == walked.info
    }

    /// Copies a segment of another archive.
    ///
    /// Its compressed bytes are copied if the segment has not changed.
    private func copy(
        _ source: FileSegment,
        as piece: inout WriteJob.Piece,
        through space: UnsafeMutableRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws -> Int? {
        let bytes = try buffers.verifiedContent(of: source)
        piece.digest = source.digest
        piece.checksum =
            source.digest == ZeroSegment.digest
            ? ZeroSegment.checksum : Checksum(of: bytes).value
        switch source.copiedLength {
        case nil:
            if let length = deflate(bytes, of: piece, into: output) { return length }
        case .some(let length) where length < bytes.count:
            output.copyMemory(from: buffers.compressed(length))
            return length
        // The segment did not shrink.
        default: break
        }
        space.copyMemory(from: bytes)
        return nil
    }

    /// Returns the compressed length; `nil` if it does not shrink.
    private func deflate(
        _ bytes: UnsafeRawBufferPointer,
        of piece: WriteJob.Piece,
        into output: UnsafeMutableRawBufferPointer
    ) -> Int? {
        if !piece.isLast, piece.digest == ZeroSegment.digest {
            output.copyBytes(from: ZeroSegment.deflated)
            return ZeroSegment.deflated.count
        }
        // The result must be smaller, so the input's length is enough room.
        guard bytes.count > 1, let base = output.baseAddress,
            deflater.mayShrink(bytes, trying: output)
        else { return nil }
        return deflater.deflate(
            bytes,
            into: base,
            capacity: bytes.count - 1,
            isLast: piece.isLast
        )
    }
}

extension FileSegment {
    /// The number of bytes to copy from the archive, if they are the final segment.
    fileprivate var copiedLength: Int? {
        guard let base, overlay == nil, base.length == length, base.isLast == isLast else {
            return nil
        }
        return base.compressedLength
    }
}
