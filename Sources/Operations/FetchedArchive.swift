internal import Files
internal import Remotes
internal import SystemPackage

/// An archive on this machine: where it is already, or a copy that goes with the last reference.
final class FetchedArchive {
    let path: FilePath
    private let scratch: ScratchDirectory?

    private init(_ path: FilePath, in scratch: ScratchDirectory?) {
        self.path = path
        self.scratch = scratch
    }

    static func fetch(
        _ backup: Backup,
        from remote: any RemoteFolder,
        _ context: OperationContext
    ) async throws -> FetchedArchive {
        if let location = backup.file.location { return FetchedArchive(location, in: nil) }
        context.report(.began(.fetching, total: backup.size))
        let scratch = try ScratchDirectory(in: remote.staging)
        let path = scratch.path.appending("archive.zip")
        try await remote.download(backup.name, to: path)
        return FetchedArchive(path, in: scratch)
    }
}
