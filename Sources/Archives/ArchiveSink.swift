internal import Files

/// A file that grows at its end, with a buffer, so that many small entries cost few calls, and the
/// sizes of an entry can be put into its record afterwards.
final class ArchiveSink {
    private static let capacity = 1 << 20
    private static let writebackStep: Int64 = 8 << 20
    private static let writebackLag: Int64 = 24 << 20

    private let file: File
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    private var buffered = 0
    private var flushed: Int64 = 0
    private var writtenBack: Int64 = 0
    private var dropped: Int64 = 0

    /// Where the next byte goes.
    var position: Int64 { flushed + Int64(buffered) }

    init(_ file: File) {
        self.file = file
    }

    deinit {
        buffer.deallocate()
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws {
        let isLarge = bytes.count >= buffer.count / 2
        // What is written directly must not overtake what is still in the buffer.
        if isLarge || bytes.count > buffer.count - buffered { try flush() }
        if isLarge {
            try file.write(bytes, at: flushed)
            flushed += Int64(bytes.count)
        } else if let base = buffer.baseAddress, let source = bytes.baseAddress {
            (base + buffered).copyMemory(from: source, byteCount: bytes.count)
            buffered += bytes.count
        }
        beginWriteback()
    }

    func append(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try append($0) }
    }

    /// Overwrites bytes that were appended before.
    func patch(_ bytes: [UInt8], at offset: Int64) throws {
        if offset < flushed { try flush() }
        try bytes.withUnsafeBytes { source in
            if offset < flushed {
                try file.write(source, at: offset)
            } else if let base = buffer.baseAddress, let start = source.baseAddress {
                (base + Int(offset - flushed)).copyMemory(from: start, byteCount: source.count)
            }
        }
    }

    /// Takes back all bytes from an offset on.
    func truncate(to offset: Int64) throws {
        try flush()
        try file.truncate(to: offset)
        flushed = offset
        writtenBack = min(writtenBack, offset)
        dropped = min(dropped, offset)
    }

    func flush() throws {
        guard buffered > 0 else { return }
        try file.write(UnsafeRawBufferPointer(rebasing: buffer[..<buffered]), at: flushed)
        flushed += Int64(buffered)
        buffered = 0
    }

    /// Lets the disk work while we compress; the sync at the end then has little left to do.
    ///
    /// What it has done is waited for a few steps later, when that takes no time.
    private func beginWriteback() {
        guard flushed - writtenBack >= Self.writebackStep else { return }
        file.beginWriteback(from: writtenBack, length: flushed - writtenBack)
        writtenBack = flushed
        let end = writtenBack - Self.writebackLag
        guard end - dropped >= Self.writebackStep else { return }
        file.finishWriteback(from: dropped, length: end - dropped)
        dropped = end
    }
}
