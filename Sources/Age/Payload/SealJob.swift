/// Chunks of a file, on their way through a thread that encrypts them.
///
/// One thread has it at a time; the pipeline hands it on.
final class SealJob: @unchecked Sendable {
    static let chunks = 4

    private let plain = UnsafeMutableRawBufferPointer.allocate(
        byteCount: chunks * PayloadKey.chunkSize,
        alignment: 64
    )
    private let sealed = UnsafeMutableRawBufferPointer.allocate(
        byteCount: chunks * PayloadKey.sealedSize,
        alignment: 64
    )
    private var filled = 0
    private var sealedCount = 0
    /// The place of its first chunk in the file.
    var firstChunk: Int64 = 0
    /// Whether its last chunk is the file's.
    var isLast = false

    deinit {
        plain.deallocate()
        sealed.deallocate()
    }

    var hasRoom: Bool { filled < plain.count }

    /// Copies bytes into it, as many as it takes.
    ///
    /// - Returns: how many those are.
    func fill(with bytes: UnsafeRawBufferPointer) -> Int {
        let part = bytes.prefix(plain.count - filled)
        UnsafeMutableRawBufferPointer(rebasing: plain[filled...])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: part))
        filled += part.count
        return part.count
    }

    func empty() {
        (filled, sealedCount) = (0, 0)
    }

    /// Encrypts its chunks.
    func seal(with key: PayloadKey) throws {
        sealedCount = 0
        var (start, index) = (0, firstChunk)
        repeat {
            let length = min(PayloadKey.chunkSize, filled - start)
            let end = sealedCount + length + FileKey.tagSize
            try key.seal(
                UnsafeRawBufferPointer(rebasing: plain[start..<start + length]),
                into: UnsafeMutableRawBufferPointer(rebasing: sealed[sealedCount..<end]),
                index: index,
                isLast: isLast && start + length == filled
            )
            (start, index, sealedCount) = (start + length, index + 1, end)
        } while start < filled
    }

    var sealedBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: sealed[..<sealedCount])
    }
}
