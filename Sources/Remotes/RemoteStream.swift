public import Files
internal import Synchronization
public import SystemPackage

/// A file that is uploaded under a hidden name while it is made.
public final class RemoteStream: Sendable {
    /// The hidden name.
    public var name: String { hiddenName.withLock(\.self) }
    private let hiddenName: Mutex<String>
    /// Takes the bytes; a write fails once the upload has.
    public let sink: OutgoingStream
    private let upload: Task<RemoteHash?, any Error>
    private let remove: @Sendable (String) async throws -> Void

    init(
        as name: String,
        to sink: OutgoingStream,
        upload: Task<RemoteHash?, any Error>,
        remove: @escaping @Sendable (String) async throws -> Void
    ) {
        hiddenName = Mutex(name)
        self.sink = sink
        self.upload = upload
        self.remove = remove
    }

    func rename(to name: String) { hiddenName.withLock { $0 = name } }

    /// Ends the file, and waits until the remote has all of it.
    ///
    /// - Returns: the hash by which both ends were found the same, if the remote knows one.
    /// - Throws: `RemoteError`.
    public func finish() async throws -> RemoteHash? {
        sink.close()
        return try await upload.value
    }

    /// Returns why the upload failed, once it has.
    public func failure() async -> (any Error)? {
        if case .failure(let error) = await upload.result { error } else { nil }
    }

    /// Ends the upload at once, and removes what there is of the file; once the user wants to stop, the
    /// next run removes it.
    public func giveUp() async {
        // Before the stream is closed: its end would look like the file's.
        upload.cancel()
        _ = await upload.result
        sink.close()
        try? await remove(name)
    }
}

/// A remote folder that may take files while they are made.
public protocol StreamingFolder: RemoteFolder {
    /// Asks the remote whether it takes a file of which the size is not known.
    func takesStreams() async throws -> Bool

    /// Begins to upload a file under a hidden name.
    ///
    /// - Parameters:
    ///   - name: the name that it may get.
    ///   - size: about how many bytes it will have.
    ///   - directory: the sink's path is in it: a place on this machine for what belongs to the file.
    /// - Returns: the file, to be written; its caller ends with `finish()` or `giveUp()`.
    /// - Throws: `FileError`.
    func beginUpload(
        as name: String,
        ofAbout size: Int64,
        from directory: FilePath
    ) async throws -> RemoteStream

    /// Gives a file that was uploaded whole, and has that many bytes, its name.
    ///
    /// - Throws: `RemoteError.exists` if the name is taken; the file is then where it was.
    func publish(_ stream: RemoteStream, of size: Int64, as name: String) async throws
}
