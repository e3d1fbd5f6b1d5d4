internal import Backups
internal import Files
internal import Remotes
internal import SystemPackage

/// An archive that is being made: a file of this machine, or a stream to its folder.
enum ArchiveDraft {
    case file(File)
    case stream(RemoteStream)

    /// Begins one; it is the caller's to end with `finish()` or `discard()`.
    static func begin(
        in folder: BackupFolder,
        streamingTo remote: (any StreamingFolder)?,
        ofAbout size: Int64
    ) async throws -> ArchiveDraft {
        guard let remote else {
            return .file(try File.create(folder.workplace.appending(PartialName.make())))
        }
        return .stream(try await remote.beginUpload(ofAbout: size))
    }

    /// Writes the archive.
    ///
    /// - Throws: what the writer throws; if the stream broke, why.
    func write(_ writer: BackupWriter) async throws -> WrittenArchive {
        guard case .stream(let stream) = self else { return try writer.run() }
        do {
            return try await WorkThread.run { try writer.run() }
        } catch FileError.failed(.write, stream.sink.path, let errno) {
            throw await stream.failure() ?? FileError.failed(.write, stream.sink.path, errno)
        }
    }

    var sink: any ByteSink {
        switch self {
        case .file(let file): file
        case .stream(let stream): stream.sink
        }
    }

    /// Ends the archive; it is on the disk, or the remote has it.
    func finish() async throws -> BackupFolder.Finished {
        switch self {
        case .file(let file):
            try file.sync()
            return .file(file.path)
        case .stream(let stream): return .stream(stream, try await stream.finish())
        }
    }

    /// Removes the archive.
    func discard() async {
        switch self {
        case .file(let file): try? LocalFileSystem().remove(file.path)
        case .stream(let stream): await stream.giveUp()
        }
    }
}
