internal import Age
internal import Backups
internal import Files
internal import Remotes
internal import SystemPackage

/// An archive in the making: a file of this machine, or a stream to its folder, perhaps encrypted.
struct ArchiveDraft {
    private enum Place {
        case file(File)
        case stream(RemoteStream)

        var sink: any ByteSink {
            switch self {
            case .file(let file): file
            case .stream(let stream): stream.sink
            }
        }
    }

    private let place: Place
    /// The sink that encrypts everything before it leaves this process.
    private let encrypting: EncryptingSink?

    /// Begins an archive; the caller must end it with `finish()` or `discard()`.
    ///
    /// - Parameters:
    ///   - folder: the folder that it belongs to.
    ///   - remote: the folder that receives it as a stream; `nil` to make a file.
    ///   - name: the name that it may get.
    ///   - size: its approximate size in bytes.
    ///   - recipients: the recipients who may read it; `nil` for no encryption.
    ///   - threads: the number of threads that encrypt.
    /// - Returns: an empty archive.
    /// - Throws: `FileError`, `AgeError`.
    static func begin(
        in folder: BackupFolder,
        streamingTo remote: (any StreamingFolder)?,
        as name: String,
        ofAbout size: Int64,
        for recipients: [Recipient]?,
        threads: Int
    ) async throws -> ArchiveDraft {
        let place: Place =
            if let remote {
                .stream(
                    try await remote.beginUpload(as: name, ofAbout: size, from: folder.workplace)
                )
            } else {
                .file(try File.create(folder.workplace.appending(PartialName.make())))
            }
        do {
            let encrypting = try recipients.map {
                try EncryptingSink(to: place.sink, for: $0, threads: threads)
            }
            return ArchiveDraft(place: place, encrypting: encrypting)
        } catch {
            await ArchiveDraft(place: place, encrypting: nil).discard()
            throw error
        }
    }

    /// Whether it is a file of this machine.
    var isFile: Bool {
        if case .file = place { true } else { false }
    }

    /// Runs a closure that writes the archive to the sink, and completes the encryption.
    ///
    /// - Parameter body: the closure.
    /// - Returns: the result of the closure, with the size of the encrypted archive.
    /// - Throws: errors of the closure; if the stream broke, the reason.
    func write(_ body: @escaping () throws -> WrittenArchive) async throws -> WrittenArchive {
        let whole = { [encrypting] in
            var written = try body()
            if let encrypting { written.size = try encrypting.finish() }
            return written
        }
        guard case .stream(let stream) = place else { return try whole() }
        do {
            // Meanwhile, this task's thread attends to the upload.
            return try await WorkThread.run(whole)
        } catch FileError.failed(.write, stream.sink.path, let errno) {
            throw await stream.failure() ?? FileError.failed(.write, stream.sink.path, errno)
        }
    }

    var sink: any ByteSink { encrypting ?? place.sink }

    /// Completes the archive; it is then on the disk, or in the remote folder.
    func finish() async throws -> NewBackup.Archive {
        switch place {
        case .file(let file):
            try file.sync()
            return .file(file.path)
        case .stream(let stream): return .stream(stream, try await stream.finish())
        }
    }

    /// Removes the archive.
    func discard() async {
        encrypting?.close()
        switch place {
        case .file(let file): try? LocalFileSystem().remove(file.path)
        case .stream(let stream): await stream.giveUp()
        }
    }
}

/// An archive that is written, but has no name yet.
struct WrittenArchive {
    /// The size in bytes.
    var size: Int64
    var header: ManifestHeader
    var trailer: ManifestTrailer
    var signature: BackupSignature
    /// The archive's place in its lineage; `nil` if it is in none.
    var place: LineagePlan?
}
