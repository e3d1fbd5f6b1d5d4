public import Files
internal import Synchronization
public import SystemPackage

/// A file that is uploaded under a hidden name while it is produced.
public final class RemoteStream: Sendable {
    /// The hidden name.
    public var name: String { hiddenName.withLock(\.self) }
    private let hiddenName: Mutex<String>
    /// The sink for the bytes; a write fails after the upload has failed.
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

    /// Ends the file, and waits until the remote has received all of it.
    ///
    /// - Returns: the hash that rclone compared on both sides, if the remote has one.
    /// - Throws: `RemoteError`.
    public func finish() async throws -> RemoteHash? {
        sink.close()
        return try await upload.value
    }

    /// Returns the error of the upload if it failed.
    public func failure() async -> (any Error)? {
        if case .failure(let error) = await upload.result { error } else { nil }
    }

    /// Cancels the upload, and removes the incomplete file.
    ///
    /// If the user wants to stop, the next run removes it.
    public func giveUp() async {
        // This precedes the end of the stream, which would look like the end of the file.
        upload.cancel()
        _ = await upload.result
        sink.close()
        try? await remove(name)
    }
}

/// A remote folder that may accept files while they are produced.
public protocol StreamingFolder: RemoteFolder {
    /// Returns whether the remote accepts a file of unknown size.
    func takesStreams() async throws -> Bool

    /// Starts to upload a file under a hidden name.
    ///
    /// - Parameters:
    ///   - name: the name that it may get.
    ///   - size: the approximate size in bytes.
    ///   - directory: the directory of the sink's path, for local data of the file.
    /// - Returns: the file to write; the caller ends it with `finish()` or `giveUp()`.
    /// - Throws: `FileError`.
    func beginUpload(
        as name: String,
        ofAbout size: Int64,
        from directory: FilePath
    ) async throws -> RemoteStream

    /// Gives its name to a completely uploaded file of the given size in bytes.
    ///
    /// - Throws: `RemoteError.exists` if the name is taken; the file keeps its hidden name then.
    func publish(_ stream: RemoteStream, of size: Int64, as name: String) async throws
}
