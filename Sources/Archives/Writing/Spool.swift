internal import Age
internal import Files
internal import SystemPackage

/// Bytes that are produced now and needed later.
///
/// Few bytes are kept in memory, many in a file without a name, so that memory does not grow with the number of
/// entries.
///
/// The bytes contain the names of all files, so the file is always encrypted.
final class Spool {
    private static let chunk = 1 << 20

    private let directory: FilePath
    private var tail: [UInt8] = []
    private var file: SealedFile?

    /// - Parameter directory: the directory for the file, if one is needed.
    init(in directory: FilePath) {
        self.directory = directory
        tail.reserveCapacity(4096)
    }

    /// The number of bytes so far.
    var count: Int64 { (file?.size ?? 0) + Int64(tail.count) }

    func append(_ bytes: some Collection<UInt8>) throws {
        tail.append(contentsOf: bytes)
        guard tail.count >= Self.chunk else { return }
        let file = try file ?? makeFile()
        self.file = file
        try tail.withUnsafeBytes { try file.append($0) }
        tail.removeAll(keepingCapacity: true)
    }

    private func makeFile() throws -> SealedFile {
        // The name is deleted with the directory, and the bytes with the last reference.
        try ScratchDirectory.with(in: directory) {
            try SealedFile(File.create($0.appending("spool")))
        }
    }

    /// Passes all bytes to `body`, in parts and in order; afterwards nothing may be appended.
    func forEachPart(_ body: ([UInt8]) throws -> Void) throws {
        if let source = try file?.finish() {
            let size = try source.size
            for offset in stride(from: 0, to: size, by: Self.chunk) {
                let count = Int(min(Int64(Self.chunk), size - offset))
                try body(source.readExactly(count: count, at: offset))
            }
            file = nil
        }
        try body(tail)
    }
}
