internal import Files
internal import Remotes
internal import Stores
internal import SystemPackage

extension StoresDirectory {
    /// Throws where the remote folder is the stores directory or in it: every archive would hold
    /// the ones before it, and a restore would take them all away.
    func refuseRemote(_ remote: any RemoteFolder) throws {
        guard let folder = try? remote.staging.resolved(), folder.starts(with: path) else { return }
        throw OperationError.remoteInsideStores(remote.address, path)
    }

    /// Refuses to be replaced where that would take with it what is not its own: what is mounted in it, and
    /// the remote folder, which may be mounted elsewhere from here.
    func refuseToBeReplaced(withBackupsIn remote: any RemoteFolder) throws {
        let folder = remote.identity
        try Directory.open(path).walk(failed: { _, _ in }) { file in
            if file.path.parent == nil, leavesOut(file.name, file.info) { return .skip }
            guard file.info.kind == .directory else { return .descend }
            guard file.info.identity != folder else {
                throw OperationError.remoteInsideStores(remote.address, path)
            }
            do {
                guard try !file.directory.isMountPoint(file.name) else {
                    throw RestoreError.mountInside(file.path.below(path))
                }
            } catch let error as FileError where error.isMissing {
                // An application may still be running, and have removed it.
                return .skip
            }
            return .descend
        }
    }
}

extension RemoteFolder {
    /// The directory that stands for it here; `nil` where there is none.
    var identity: FileInfo.Identity? {
        (try? staging.resolved()).flatMap { try? FileInfo(of: $0) }?.identity
    }
}
