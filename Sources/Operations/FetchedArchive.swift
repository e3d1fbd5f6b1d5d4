internal import Files
internal import Remotes
internal import SystemPackage

/// An archive on this machine: where it is already, or a copy that goes with the last reference.
final class FetchedArchive {
    let path: FilePath
    private let isCopy: Bool

    private init(_ path: FilePath, isCopy: Bool) {
        self.path = path
        self.isCopy = isCopy
    }

    deinit {
        if isCopy { try? LocalFileSystem().remove(path) }
    }

    static func fetch(
        _ backup: Backup,
        from remote: any RemoteFolder,
        _ context: OperationContext
    ) async throws -> FetchedArchive {
        if let location = backup.file.location { return FetchedArchive(location, isCopy: false) }
        context.report(.began(.fetching, total: backup.size))
        let path = remote.staging.appending(
            "\(LocalFolder.partialPrefix)\(UInt64.random(in: 0 ... .max))\(LocalFolder.partialSuffix)"
        )
        let archive = FetchedArchive(path, isCopy: true)
        try await remote.download(backup.name, to: path)
        return archive
    }
}
