internal import Files

/// One thread's compressor and buffers: hashes and compresses the pieces of jobs.
final class WriteWorker {
    private let deflater: SegmentDeflater
    /// For what is copied out of other archives.
    private lazy var buffers = SegmentBuffers()

    init(_ compression: Compression) {
        deflater = SegmentDeflater(compression)
    }

    /// Hashes and compresses all pieces; one that is to be copied is verified, and compressed only if it is not as
    /// it was.
    ///
    /// - Throws: `ArchiveError`, `FileError` if what is to be copied cannot be read.
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
            piece.checksum = Checksum(of: bytes).value
            piece.digest = Digest(of: bytes)
            return deflate(bytes, of: piece, into: output)
        }
    }

    /// Reads a file, if it is the one that was come upon, and stays so.
    ///
    /// - Returns: `false` if anything is otherwise: the caller then tries again, and tells.
    private static func read(
        _ walked: WalkedFile,
        into space: UnsafeMutableRawBufferPointer,
        _ accepts: (UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
        guard let file = try? walked.directory.fileOfAnyKind(walked.name),
            (try? file.read(into: space, at: 0)) == space.count
        else { return false }
        // Its record tells after the reading that it was that file, and the same, all the time.
        return accepts(UnsafeRawBufferPointer(space)) && (try? file.info()) == walked.info
    }

    /// Copies a segment of another archive: its bytes there, if they are the segment as it is in the end.
    private func copy(
        _ source: ExtractJob.Part,
        as piece: inout WriteJob.Piece,
        through space: UnsafeMutableRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws -> Int? {
        let bytes = try buffers.verifiedContent(of: source)
        piece.checksum = Checksum(of: bytes).value
        piece.digest = source.digest
        switch source.copiedLength {
        case nil:
            if let length = deflate(bytes, of: piece, into: output) { return length }
        case .some(let length) where length < bytes.count:
            output.copyMemory(from: buffers.compressed(length))
            return length
        // It did not shrink then.
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
        // It has to become smaller, so the input's length is room enough.
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

extension ExtractJob.Part {
    /// Bytes of its archive, if they are the segment as it is in the end.
    fileprivate var copiedLength: Int? {
        guard let base, overlay == nil, base.length == length, base.isLast == isLast else {
            return nil
        }
        return base.compressedLength
    }
}
