internal import Age
internal import Backups
internal import Files
internal import Remotes
internal import SystemPackage

/// An archive that is being made: a file of this machine, or a stream to its folder; perhaps encrypted on its way.
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
    /// Encrypts everything before it leaves this process.
    private let encrypting: EncryptingSink?

    /// Begins one; it is the caller's to end with `finish()` or `discard()`.
    ///
    /// - Parameters:
    ///   - folder: the folder that it belongs to.
    ///   - remote: takes it while it is made; `nil` to make a file.
    ///   - name: the name that it may get.
    ///   - size: about how many bytes it will have.
    ///   - recipients: those who may read it; `nil` for everybody.
    ///   - threads: how many threads encrypt.
    /// - Returns: an empty one.
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

    /// Runs what writes the archive to its sink, and ends it.
    ///
    /// - Parameter body: writes it.
    /// - Returns: what the body returns, with the size of what was written for others to read.
    /// - Throws: what the body throws; if the stream broke, why.
    func write(_ body: @escaping () throws -> WrittenArchive) async throws -> WrittenArchive {
        let whole = { [encrypting] in
            var written = try body()
            if let encrypting { written.size = try encrypting.finish() }
            return written
        }
        guard case .stream(let stream) = place else { return try whole() }
        do {
            // Meanwhile the task's thread looks after the upload.
            return try await WorkThread.run(whole)
        } catch FileError.failed(.write, stream.sink.path, let errno) {
            throw await stream.failure() ?? FileError.failed(.write, stream.sink.path, errno)
        }
    }

    var sink: any ByteSink { encrypting ?? place.sink }

    /// Ends the archive; it is on the disk, or the remote has it.
    func finish() async throws -> BackupFolder.Finished {
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

/// An archive that is written and has no name yet.
struct WrittenArchive {
    /// Bytes.
    var size: Int64
    var header: ManifestHeader
    var trailer: ManifestTrailer
    /// Its place in its lineage; `nil` if it is in none.
    var place: LineagePlan?
}
