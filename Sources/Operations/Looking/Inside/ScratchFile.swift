internal import Files
internal import SystemPackage

/// A file in a scratch directory that goes with it.
final class ScratchFile: ByteSource {
    private let file: File
    private let directory: ScratchDirectory

    /// Opens a file.
    ///
    /// - Throws: `FileError`.
    init(_ path: FilePath, in directory: ScratchDirectory) throws {
        file = try File.open(path)
        self.directory = directory
    }

    var path: FilePath { file.path }

    var size: Int64 { get throws { try file.size } }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try file.read(into: buffer, at: offset)
    }
}
