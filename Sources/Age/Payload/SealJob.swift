/// Chunks of a file that a thread encrypts.
///
/// Only one thread uses it at a time; the pipeline hands it over.
final class SealJob: @unchecked Sendable {
    static let chunks = 4

    private let plain = UnsafeMutableRawBufferPointer.allocate(
        byteCount: chunks * PayloadKey.chunkSize,
        alignment: 64
    )
    private var filled = 0
    private var sealed: [SealedChunk] = []
    /// The index of its first chunk in the file.
    var firstChunk: Int64 = 0
    /// Whether its last chunk is the file's last one.
    var isLast = false

    deinit {
        plain.deallocate()
    }

    var hasRoom: Bool { filled < plain.count }

    /// Copies as many bytes as fit.
    ///
    /// - Returns: the number of copied bytes.
    func fill(with bytes: UnsafeRawBufferPointer) -> Int {
        let part = bytes.prefix(plain.count - filled)
        UnsafeMutableRawBufferPointer(rebasing: plain[filled...])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: part))
        filled += part.count
        return part.count
    }

    func empty() {
        filled = 0
        sealed.removeAll(keepingCapacity: true)
    }

    /// Encrypts its chunks.
    func seal(with key: PayloadKey) throws {
        var (start, index) = (0, firstChunk)
        repeat {
            let end = min(start + PayloadKey.chunkSize, filled)
            sealed.append(
                try key.seal(
                    UnsafeRawBufferPointer(rebasing: plain[start..<end]),
                    index: index,
                    isLast: isLast && end == filled
                )
            )
            (start, index) = (end, index + 1)
        } while start < filled
    }

    /// Passes the encrypted chunks in order.
    func forEachSealed(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        for chunk in sealed { try chunk.withBytes(body) }
    }
}
