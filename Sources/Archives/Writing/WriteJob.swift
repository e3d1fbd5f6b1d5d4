internal import Files

/// The work of one thread: one segment of a large file, or many small entries.
///
/// Nothing in it is guarded: the pipeline's lock hands it from the thread that fills it to the one that
/// works on it, and back.
final class WriteJob: @unchecked Sendable {
    /// A whole small entry, or one segment of a large one.
    struct Piece {
        /// The entry that begins here; `nil` in the later segments of a large one.
        var begins: EntryAttributes?
        /// The entry's size before compression.
        var entrySize: Int64
        /// The number of the large entry that it is a segment of; `nil` in a small one.
        var largeEntry: Int?
        var isLast: Bool
        /// Where it is in `input`.
        var range = 0..<0
        /// The segment of another archive that is to be copied there; `nil` if its bytes are there.
        var source: ExtractJob.Part?

        // The result.
        /// Where it is in `output`; `nil` if it did not shrink.
        var deflated: Range<Int>?
        var checksum: UInt32 = 0
        var digest = Digest.ofNothing
    }

    private static let piecesLimit = 512

    private let input = UnsafeMutableRawBufferPointer.allocate(
        byteCount: Segment.size,
        alignment: 64
    )
    private let output = UnsafeMutableRawBufferPointer.allocate(
        byteCount: Segment.size,
        alignment: 64
    )
    private(set) var pieces: [Piece] = []
    private var filled = 0

    deinit {
        input.deallocate()
        output.deallocate()
    }

    var isEmpty: Bool { pieces.isEmpty }

    func hasRoom(for size: Int) -> Bool {
        pieces.count < Self.piecesLimit && filled + size <= input.count
    }

    /// The part of the input that the next piece fills.
    func space(_ size: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: input[filled..<(filled + size)])
    }

    /// Adds a piece whose bytes stand in the space for it.
    func append(_ piece: Piece, length: Int) {
        var piece = piece
        piece.range = filled..<(filled + length)
        pieces.append(piece)
        filled += length
    }

    func clear() {
        pieces.removeAll(keepingCapacity: true)
        filled = 0
    }

    /// Hashes and compresses all pieces; one that is to be copied is verified, and compressed only if it is not as
    /// it was.
    ///
    /// - Throws: `ArchiveError`, `FileError` if what is to be copied cannot be read.
    func work(_ deflater: SegmentDeflater, _ buffers: () -> SegmentBuffers) throws {
        var used = 0
        for index in pieces.indices {
            if let source = pieces[index].source {
                pieces[index].source = nil
                let buffers = buffers()
                try space(at: pieces[index].range).copyBytes(
                    from: buffers.verifiedContent(of: source)
                )
                if let length = source.copiedLength {
                    UnsafeMutableRawBufferPointer(rebasing: output[used...]).copyBytes(
                        from: buffers.compressed(length)
                    )
                    pieces[index].deflated = used..<(used + length)
                }
            }
            let bytes = UnsafeRawBufferPointer(rebasing: input[pieces[index].range])
            pieces[index].checksum = Checksum(of: bytes).value
            pieces[index].digest = Digest(of: bytes)
            if let copied = pieces[index].deflated {
                used = copied.upperBound
                continue
            }
            // It has to become smaller, so the input's length is room enough.
            guard bytes.count > 1, let base = output.baseAddress,
                let length = deflater.deflate(
                    bytes,
                    into: base + used,
                    capacity: bytes.count - 1,
                    isLast: pieces[index].isLast
                )
            else { continue }
            pieces[index].deflated = used..<(used + length)
            used += length
        }
    }

    private func space(at range: Range<Int>) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: input[range])
    }

    func raw(_ piece: Piece) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: input[piece.range])
    }

    func deflated(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: output[range])
    }
}

extension ExtractJob.Part {
    /// Bytes of its archive, if they can stand in another one as they are.
    fileprivate var copiedLength: Int? {
        guard let base, overlays.isEmpty, base.length == length, base.isLast == isLast,
            item.entry.record.method == ZipRecords.deflated, base.compressedLength < length
        else { return nil }
        return base.compressedLength
    }
}
