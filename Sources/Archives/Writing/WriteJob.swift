internal import Files

/// The work of one thread: one segment of a large file, or many small entries.
///
/// No lock is needed inside: the pipeline's lock hands it from the thread that fills it to the one that works on it,
/// and back.
final class WriteJob: @unchecked Sendable {
    /// A small entry, or one segment of a large entry.
    struct Piece {
        /// The entry that begins with this piece; `nil` in the later segments of a large entry.
        var begins: EntryAttributes?
        /// The entry's size before compression.
        var entrySize: Int64
        /// The number of the large entry that contains the segment; `nil` for a small entry.
        var largeEntry: Int?
        var isLast: Bool
        /// The range in `input`.
        var range = 0..<0
        /// The source of the bytes; `nil` if they are already there.
        var source: Source?

        // The result.
        /// The range in `output`; `nil` if the piece did not shrink.
        var deflated: Range<Int>?
        var checksum: UInt32 = 0
        var digest = Digest.ofNothing
        /// Whether its file changed before it was read.
        var isRefused = false
    }

    /// A source from which the working thread reads the bytes.
    enum Source {
        /// A segment of another archive.
        case part(FileSegment)
        /// A whole file, if its bytes are accepted.
        case file(WalkedFile, accepts: @Sendable (UnsafeRawBufferPointer) -> Bool)
    }

    private static let piecesLimit = 512

    private let input = UnsafeMutableRawBufferPointer.aligned(byteCount: Segment.size)
    private let output = UnsafeMutableRawBufferPointer.aligned(byteCount: Segment.size)
    private(set) var pieces: [Piece] = []
    private var filled = 0
    private var directories = HeldDirectories()

    deinit {
        input.deallocate()
        output.deallocate()
    }

    var isEmpty: Bool { pieces.isEmpty }

    func hasRoom(for size: Int) -> Bool {
        pieces.count < Self.piecesLimit && filled + size <= input.count
    }

    /// Returns whether there is room for a file that is opened later.
    func hasRoom(for file: WalkedFile) -> Bool {
        hasRoom(for: Int(file.info.size)) && directories.hasRoom(for: file.directory)
    }

    /// Returns the part of the input for the next piece.
    func space(_ size: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: input[filled..<(filled + size)])
    }

    /// Adds a piece whose bytes are in the space for it, or will be read into it.
    func append(_ piece: Piece, length: Int) {
        var piece = piece
        if case .file(let file, _) = piece.source { directories.add(file.directory) }
        piece.range = filled..<(filled + length)
        pieces.append(piece)
        filled += length
    }

    func clear() {
        pieces.removeAll(keepingCapacity: true)
        filled = 0
        directories = HeldDirectories()
    }

    /// Calls `body` with each piece, its part of the input, and the unused part of the output, which is large enough.
    ///
    /// `body` returns how much of the output it used.
    func forEachPiece(
        _ body: (inout Piece, UnsafeMutableRawBufferPointer, UnsafeMutableRawBufferPointer) throws
            -> Int?
    ) rethrows {
        var used = 0
        for index in pieces.indices {
            let space = UnsafeMutableRawBufferPointer(rebasing: input[pieces[index].range])
            let rest = UnsafeMutableRawBufferPointer(rebasing: output[used...])
            guard let length = try body(&pieces[index], space, rest) else { continue }
            pieces[index].deflated = used..<(used + length)
            used += length
        }
    }

    func raw(_ piece: Piece) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: input[piece.range])
    }

    func deflated(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: output[range])
    }
}
