public import Files
internal import Synchronization
public import SystemPackage

/// A file of a remote folder.
///
/// First its end is fetched, and then the requested ranges.
///
/// It is for readers that need a little of a large file: fetched bytes stay in memory.
public final class RemoteRange: ByteSource {
    /// An error that keeps a file from being read in parts; the whole file may still be readable.
    public enum Failure: ExplainedError, Equatable {
        /// The file is shorter than listed.
        case changed(FilePath)
        /// The requested bytes exceed the memory limit.
        case tooMuch(FilePath)
        /// These bytes were not fetched.
        case notFetched(FilePath, Range<Int64>)

        public var description: String {
            switch self {
            case .changed(let path): "'\(printable(path))' has changed while it was read"
            case .tooMuch(let path): "too much of '\(printable(path))' would be in memory"
            case .notFetched(let path, let range):
                "the bytes from \(range.lowerBound) to \(range.upperBound) of '\(printable(path))' were not fetched"
            }
        }

        public var hint: String? { nil }
    }

    /// The bytes from an offset on.
    struct Piece {
        var start: Int64
        var bytes: [UInt8]

        var end: Int64 { start + Int64(bytes.count) }

        func contains(_ offset: Int64) -> Bool { start <= offset && offset < end }
    }

    /// The number of bytes to fetch at the end.
    ///
    /// The end records, the central directory and the manifest of an archive of a thousand files take half as many.
    private static let tail: Int64 = 512 << 10
    /// The number of bytes to fetch at the beginning.
    ///
    /// The header of an encrypted archive for two recipients takes a tenth as many.
    private static let beginning: Int64 = 4 << 10
    /// The maximum number of bytes to fetch at once.
    private static let most: Int64 = 16 << 20
    /// The maximum number of bytes that are kept; an archive of a million files takes most of them.
    private static let limit: Int64 = 256 << 20

    public let path: FilePath
    public let size: Int64
    let folder: any RemoteFolder
    /// The fetched pieces, in order; there are gaps between them.
    private let pieces = Mutex<[Piece]>([])
    /// The pieces fetched for a waiting reader, newest last; `nil` if no reader waits.
    let awaited = Mutex<[Piece]?>(nil)

    /// Creates a source from a listed file.
    public init(_ file: RemoteFile, in folder: any RemoteFolder) {
        path = FilePath(file.name)
        // Some remotes do not know the size, and report -1.
        size = max(0, file.size)
        self.folder = folder
    }

    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        let wanted = (offset..<offset + Int64(buffer.count)).clamped(to: 0..<size)
        guard !wanted.isEmpty else { return 0 }
        let count: Int? = pieces.withLock { pieces in
            guard
                let piece = pieces.first(where: {
                    $0.start <= wanted.lowerBound && wanted.upperBound <= $0.end
                })
            else { return nil }
            let start = Int(wanted.lowerBound - piece.start)
            buffer.copyBytes(from: piece.bytes[start..<start + wanted.count])
            return wanted.count
        }
        if let count { return count }
        guard awaited.withLock({ $0 != nil }) else { throw Failure.notFetched(path, wanted) }
        try wait(for: wanted, into: buffer)
        return wanted.count
    }

    /// Returns the piece with the byte at an offset, and the start of the next piece.
    func piece(at offset: Int64) -> (piece: Piece?, next: Int64) {
        pieces.withLock { pieces in
            (
                pieces.first { $0.contains(offset) },
                pieces.first { $0.start > offset }?.start ?? size
            )
        }
    }

    /// Fetches the first bytes, for a reader that does not need the gap behind them.
    ///
    /// - Throws: `RemoteError`; `Failure`.
    public func fetchBeginning() async throws {
        try await fetch(0..<min(size, Self.beginning))
    }

    /// Runs `body`, and repeats it as long as it reads missing bytes, which are fetched in between.
    ///
    /// - Parameters:
    ///   - beyondTail: whether to fetch the end in any case.
    ///   - body: reads the file.
    /// - Returns: the result of `body`.
    /// - Throws: what `body` throws; `RemoteError`; `Failure`.
    public func fetching<Result>(
        beyondTail: Bool = true,
        _ body: () throws -> Result
    ) async throws -> Result {
        let end = pieces.withLock { $0.last?.end ?? 0 }
        if beyondTail, end < size { try await fetch(max(end, size - Self.tail)..<size) }
        while true {
            do {
                return try body()
            } catch Failure.notFetched(path, let range) {
                try await fetch(extended(range))
            }
        }
    }

    /// Returns a range extended over the gap behind it, since reads usually end where the last piece begins.
    private func extended(_ range: Range<Int64>) -> Range<Int64> {
        pieces.withLock { pieces in
            // The beginning or the end of the range may have been fetched already.
            let before = pieces.last { $0.start <= range.lowerBound && range.lowerBound < $0.end }
            let start = before?.end ?? range.lowerBound
            let next = pieces.first { $0.start > start }?.start ?? size
            return start..<min(next, start + Self.most)
        }
    }

    private func fetch(_ range: Range<Int64>) async throws {
        guard !range.isEmpty else { return }
        let fetched = pieces.withLock { $0.reduce(0) { $0 + Int64($1.bytes.count) } }
        guard fetched + Int64(range.count) <= Self.limit else { throw Failure.tooMuch(path) }
        let bytes = try await folder.download(path.string, range: range)
        guard bytes.count == range.count else { throw Failure.changed(path) }
        pieces.withLock { pieces in
            pieces.append(Piece(start: range.lowerBound, bytes: bytes))
            pieces.sort { $0.start < $1.start }
            pieces = pieces.reduce(into: []) { joined, piece in
                guard let last = joined.indices.last, joined[last].end == piece.start else {
                    return joined.append(piece)
                }
                joined[last].bytes += piece.bytes
            }
        }
    }
}
