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
        /// The place that its bytes are to be taken from; `nil` if they are there.
        var source: Source?

        // The result.
        /// Where it is in `output`; `nil` if it did not shrink.
        var deflated: Range<Int>?
        var checksum: UInt32 = 0
        var digest = Digest.ofNothing
        /// Whether its file was not as it was to be read.
        var isRefused = false
    }

    /// A place that bytes are taken from by the thread that works on them.
    enum Source {
        /// A segment of another archive.
        case part(ExtractJob.Part)
        /// A whole file, if its beginning is accepted.
        case file(WalkedFile, accepts: @Sendable (UnsafeRawBufferPointer) -> Bool)
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
    private var directories = HeldDirectories()

    deinit {
        input.deallocate()
        output.deallocate()
    }

    var isEmpty: Bool { pieces.isEmpty }

    func hasRoom(for size: Int) -> Bool {
        pieces.count < Self.piecesLimit && filled + size <= input.count
    }

    /// Whether there is room for a file that waits to be opened.
    func hasRoom(for file: WalkedFile) -> Bool {
        hasRoom(for: Int(file.info.size)) && directories.hasRoom(for: file.directory)
    }

    /// The part of the input that the next piece fills.
    func space(_ size: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: input[filled..<(filled + size)])
    }

    /// Adds a piece whose bytes stand in the space for it, or come there.
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

    /// Calls `body` with each piece, its place in the input, and the rest of the output, which is large enough for
    /// it; `body` returns how much of that it used.
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
