public import Files

/// A file that only this process can read, since its key exists only in memory.
public final class SealedFile {
    private let file: File
    private let identity: Identity
    private let sink: EncryptingSink
    /// The size in bytes before encryption.
    public private(set) var size: Int64 = 0

    /// Starts with an empty file.
    ///
    /// - Parameter file: the file, which may be unlinked.
    /// - Throws: errors of writing.
    public init(_ file: File) throws {
        self.file = file
        identity = try .generate()
        sink = try EncryptingSink(to: file, for: [identity.recipient], threads: 0)
    }

    /// Appends bytes.
    ///
    /// - Throws: errors of writing.
    public func append(_ bytes: UnsafeRawBufferPointer) throws {
        try sink.write(bytes, at: size)
        size += Int64(bytes.count)
    }

    /// Ends the file.
    ///
    /// - Returns: the decrypted content.
    /// - Throws: errors of writing and reading.
    public func finish() throws -> any ByteSource {
        _ = try sink.finish()
        return try EncryptedFile(file).decrypted(with: [identity])
    }
}
