public import Files
internal import Synchronization
public import SystemPackage

/// The content of an encrypted file.
///
/// Each chunk is decrypted and verified when it is read.
public final class DecryptedSource: ByteSource {
    /// A decrypted chunk that may be read again.
    private struct Chunk {
        var index: Int64
        var bytes: [UInt8]
    }

    /// The number of chunks that are kept: readers of records read one again, and readers of segments share one.
    private static let keptChunks = 8

    public let path: FilePath
    public let size: Int64

    private let source: any ByteSource
    private let start: Int64
    private let key: PayloadKey
    /// The number of chunks in the file, at least one.
    private let count: Int64
    /// The chunks, newest last.
    private let kept = Mutex<[Chunk]>([])

    /// Opens the data, and verifies the last chunk, so that a truncated file is recognized at once.
    init(
        _ source: any ByteSource,
        named path: FilePath,
        from start: Int64,
        key: PayloadKey
    ) throws {
        self.source = source
        self.path = path
        self.start = start
        self.key = key
        let length = try source.size - start
        let sealed = Int64(PayloadKey.sealedSize)
        let tag = Int64(FileKey.tagSize)
        count = max(1, (length + sealed - 1) / sealed)
        size = length - count * tag
        // An empty chunk is allowed only if it is the only one.
        let last = length - (count - 1) * sealed
        guard last > tag || count == 1 && last == tag else {
            throw AgeError.wrongEnd(path)
        }
        _ = try chunk(count - 1)
    }

    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        let wanted = (offset..<offset + Int64(buffer.count)).clamped(to: 0..<max(0, size))
        guard !wanted.isEmpty else { return 0 }
        var position = wanted.lowerBound
        while position < wanted.upperBound {
            let rest = UnsafeMutableRawBufferPointer(
                rebasing: buffer[Int(position - offset)..<Int(wanted.upperBound - offset)]
            )
            position += Int64(try readSome(into: rest, at: position))
        }
        return wanted.count
    }

    /// Reads all available whole chunks, or a part of one.
    private func readSome(
        into buffer: UnsafeMutableRawBufferPointer,
        at offset: Int64
    ) throws -> Int {
        let chunkSize = PayloadKey.chunkSize
        let index = offset / Int64(chunkSize)
        let start = Int(offset % Int64(chunkSize))
        let whole = buffer.count / chunkSize
        if start == 0, whole > 0 {
            try open(index..<index + Int64(whole), into: buffer)
            return whole * chunkSize
        }
        let part = try chunk(index)[start...].prefix(buffer.count)
        buffer.copyBytes(from: part)
        return part.count
    }

    /// Returns a chunk, from memory if possible.
    private func chunk(_ index: Int64) throws -> [UInt8] {
        if let chunk = kept.withLock({ $0.first { $0.index == index } }) { return chunk.bytes }
        let length = plainLength(of: index)
        let bytes = try [UInt8](unsafeUninitializedCapacity: length) { buffer, initialized in
            try open(index..<index + 1, into: UnsafeMutableRawBufferPointer(buffer))
            initialized = length
        }
        kept.withLock { kept in
            if kept.count >= Self.keptChunks { kept.removeFirst() }
            kept.append(Chunk(index: index, bytes: bytes))
        }
        return bytes
    }

    private func plainLength(of index: Int64) -> Int {
        Int(min(Int64(PayloadKey.chunkSize), size - index * Int64(PayloadKey.chunkSize)))
    }

    /// Reads consecutive chunks, and decrypts each into its place.
    private func open(
        _ indices: Range<Int64>,
        into buffer: UnsafeMutableRawBufferPointer
    ) throws {
        let lengths = indices.map(plainLength)
        let total = lengths.reduce(0) { $0 + $1 + FileKey.tagSize }
        let offset = start + indices.lowerBound * Int64(PayloadKey.sealedSize)
        let sealed = try source.readExactly(count: total, at: offset)
        try sealed.withUnsafeBytes { sealed in
            var (from, to) = (0, 0)
            for (index, length) in zip(indices, lengths) {
                let end = from + length + FileKey.tagSize
                let isGood = try key.open(
                    UnsafeRawBufferPointer(rebasing: sealed[from..<end]),
                    into: UnsafeMutableRawBufferPointer(rebasing: buffer[to..<to + length]),
                    index: index,
                    isLast: index == count - 1
                )
                guard isGood else { throw try damage(at: index) }
                (from, to) = (end, to + length)
            }
        }
    }

    /// Returns the error for a chunk that does not open.
    ///
    /// The last chunk may be intact: if the file was truncated behind it, it opens as one that others follow. If data
    /// was added, the chunk before the last one no longer opens as one that others follow.
    private func damage(at index: Int64) throws -> AgeError {
        guard index == count - 1 else { return .damaged(path, chunk: index, of: count) }
        let isCutOff = try opensBeforeEnd(index)
        let isEnd = try isCutOff || index > 0 && !opensBeforeEnd(index - 1)
        return isEnd ? .wrongEnd(path) : .damaged(path, chunk: index, of: count)
    }

    /// Returns whether a chunk opens as one that others follow.
    private func opensBeforeEnd(_ index: Int64) throws -> Bool {
        let length = plainLength(of: index)
        guard length == PayloadKey.chunkSize else { return false }
        let offset = start + index * Int64(PayloadKey.sealedSize)
        let sealed = try source.readExactly(count: length + FileKey.tagSize, at: offset)
        var plain = [UInt8](repeating: 0, count: length)
        return try sealed.withUnsafeBytes { sealed in
            try plain.withUnsafeMutableBytes {
                try key.open(sealed, into: $0, index: index, isLast: false)
            }
        }
    }
}
