public import Files

/// A file of this process that nobody else can read: its key is nowhere but in memory.
public final class SealedFile {
    private let file: File
    private let identity: Identity
    private let sink: EncryptingSink
    /// Bytes in it, before encryption.
    public private(set) var size: Int64 = 0

    /// Begins with an empty file.
    ///
    /// - Parameter file: the file, which the caller may have unlinked.
    /// - Throws: what writing throws.
    public init(_ file: File) throws {
        self.file = file
        identity = try .generate()
        sink = try EncryptingSink(to: file, for: [identity.recipient], threads: 0)
    }

    /// Appends bytes.
    ///
    /// - Throws: what writing throws.
    public func append(_ bytes: UnsafeRawBufferPointer) throws {
        try sink.write(bytes, at: size)
        size += Int64(bytes.count)
    }

    /// Ends the file.
    ///
    /// - Returns: its bytes.
    /// - Throws: what writing and reading throw.
    public func finish() throws -> any ByteSource {
        _ = try sink.finish()
        return try EncryptedFile(file).decrypted(with: [identity])
    }
}
