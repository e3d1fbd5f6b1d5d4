internal import Files
internal import SystemPackage

/// Bytes that are made now and wanted later: in memory while they are few, then in a file without a
/// name, so that memory does not grow with the number of an archive's entries.
final class Spool {
    private static let chunk = 1 << 20

    private let directory: FilePath
    private var tail: [UInt8] = []
    private var file: File?
    private var fileSize: Int64 = 0

    /// - Parameter directory: where to make the file, if one is needed.
    init(in directory: FilePath) {
        self.directory = directory
        tail.reserveCapacity(4096)
    }

    /// Bytes so far.
    var count: Int64 { fileSize + Int64(tail.count) }

    func append(_ bytes: some Collection<UInt8>) throws {
        tail.append(contentsOf: bytes)
        guard tail.count >= Self.chunk else { return }
        let file = try file ?? makeFile()
        self.file = file
        try tail.withUnsafeBytes { try file.write($0, at: fileSize) }
        fileSize += Int64(tail.count)
        tail.removeAll(keepingCapacity: true)
    }

    private func makeFile() throws -> File {
        // Its name goes with the directory, and its bytes with the last reference.
        try ScratchDirectory.with(in: directory) { try File.create($0.appending("spool")) }
    }

    /// Gives all bytes to `body`, in order, in parts.
    func forEachPart(_ body: ([UInt8]) throws -> Void) throws {
        var offset: Int64 = 0
        while let file, offset < fileSize {
            let count = Int(min(Int64(Self.chunk), fileSize - offset))
            try body(file.readExactly(count: count, at: offset))
            offset += Int64(count)
        }
        try body(tail)
    }
}
