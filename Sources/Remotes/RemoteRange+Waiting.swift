internal import Files
internal import Synchronization
internal import SystemPackage

// Support for readers with random access that cannot start again, such as SQLite during a query.
extension RemoteRange {
    /// The minimum number of bytes to fetch at once, since a request costs as much time as many bytes.
    private static let leastBlock: Int64 = 256 << 10
    /// The maximum number of bytes to fetch at once for a sequential reader.
    private static let greatestBlock: Int64 = 4 << 20
    /// The number of bytes that are kept, so that a record and the data behind it are available together.
    private static let keptBytes = 8 << 20

    /// Makes reads wait from now on until the requested bytes have been fetched.
    ///
    /// This blocks the thread, which must not be a task's: see `WorkThread.run`. The fetched bytes are released soon,
    /// so that memory does not grow.
    public func beginWaiting() {
        awaited.withLock { $0 = $0 ?? [] }
    }

    /// Fills a buffer with fetched bytes, and fetches the missing ones.
    func wait(for wanted: Range<Int64>, into buffer: UnsafeMutableRawBufferPointer) throws {
        var position = wanted.lowerBound
        while position < wanted.upperBound {
            let part = try part(at: position, upTo: wanted.upperBound)
            let start = Int(position - part.start)
            let count = min(part.bytes.count - start, Int(wanted.upperBound - position))
            let place = Int(position - wanted.lowerBound)
            UnsafeMutableRawBufferPointer(rebasing: buffer[place..<place + count])
                .copyBytes(from: part.bytes[start..<start + count])
            position += Int64(count)
        }
    }

    /// Returns a piece that contains the byte at an offset.
    private func part(at offset: Int64, upTo end: Int64) throws -> Piece {
        let (piece, next) = piece(at: offset)
        if let piece { return piece }
        if let part = awaited.withLock({ $0?.last { $0.contains(offset) } }) { return part }
        let range = offset..<min(max(end, offset + block(at: offset)), next)
        let bytes = try fetchNow(range)
        guard bytes.count == range.count else { throw Failure.changed(path) }
        let part = Piece(start: offset, bytes: bytes)
        awaited.withLock { awaited in
            var parts = awaited ?? []
            parts.append(part)
            while parts.count > 1, parts.reduce(0, { $0 + $1.bytes.count }) > Self.keptBytes {
                parts.removeFirst()
            }
            awaited = parts
        }
        return part
    }

    /// Returns the number of bytes to fetch at an offset; it grows for a sequential reader.
    private func block(at offset: Int64) -> Int64 {
        let last = awaited.withLock { $0?.last }
        guard let last, last.end == offset else { return Self.leastBlock }
        return min(2 * Int64(last.bytes.count), Self.greatestBlock)
    }

    /// Fetches a range while this thread waits.
    private func fetchNow(_ range: Range<Int64>) throws -> [UInt8] {
        let (folder, name) = (folder, path.string)
        return try WorkThread.wait { try await folder.download(name, range: range) }
    }
}
