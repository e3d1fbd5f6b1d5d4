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
        as name: String,
        ofAbout size: Int64
    ) async throws -> ArchiveDraft {
        guard let remote else {
            return .file(try File.create(folder.workplace.appending(PartialName.make())))
        }
        return .stream(
            try await remote.beginUpload(as: name, ofAbout: size, from: folder.workplace)
        )
    }

    /// Runs what writes the archive to its sink.
    ///
    /// - Throws: what the body throws; if the stream broke, why.
    func write<Result>(_ body: @escaping () throws -> Result) async throws -> Result {
        guard case .stream(let stream) = self else { return try body() }
        do {
            // Meanwhile the task's thread looks after the upload.
            return try await WorkThread.run(body)
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
