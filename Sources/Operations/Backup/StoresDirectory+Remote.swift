internal import Backups
internal import Files
internal import Stores
public import SystemPackage

extension StoresDirectory {
    /// Opens a directory to back it up or to look into it.
    ///
    /// - Throws: `OperationError.noStores`, `FileError`.
    init(backingUp path: FilePath) throws {
        do {
            try self.init(path)
        } catch let error as FileError where error.isMissing {
            throw OperationError.noStores(path)
        }
    }

    /// Throws if the remote folder, or a directory of the program, is the stores directory or inside it.
    ///
    /// Every archive would contain the ones before it, and a restore would remove them all.
    func refuseRemote(_ folder: BackupFolder, _ context: OperationContext) throws {
        try context.refuseOwnDirectories(in: path)
        for (place, name) in [
            (folder.staging, folder.address),
            (folder.workplace, printable(folder.workplace)),
            (folder.outbox?.path, folder.outbox?.path.string ?? ""),
        ] {
            guard let place, place.resolvedIfPresent.starts(with: path) else { continue }
            throw OperationError.remoteInsideStores(name, path)
        }
    }

    /// Throws if anything is mounted in the stores directory, or in a part of it, or if the remote folder is in it.
    ///
    /// They would disappear with the replaced directory. A mount may also be a single file.
    func refuseToBeReplaced(
        withBackupsIn folder: BackupFolder,
        part: RestoredPart? = nil
    ) throws {
        let identity = folder.identity
        try Directory.open(path).walk(failed: { _, _ in }) { file in
            if file.path.parent == nil, leavesOut(file.name, file.info) { return .skip }
            if let part, !part.contains(file.path) {
                return part.isBelow(file.path) ? .descend : .skip
            }
            guard file.info.kind != .directory || file.info.identity != identity else {
                throw OperationError.remoteInsideStores(folder.address, path)
            }
            do {
                guard try !file.directory.isMountPoint(file.name) else {
                    throw RestoreError.mountInside(file.path.below(path))
                }
            } catch let error as FileError where error.isMissing {
                // A running application may have removed the file.
                return .skip
            }
            return .descend
        }
    }
}

extension OperationContext {
    /// Throws if a directory of the program is the stores directory, or inside it.
    ///
    /// A backup would contain the keys, and a restore would replace them. A run creates a directory that is missing.
    ///
    /// - Throws: `OperationError.ownDirectoryInsideStores`.
    public func refuseOwnDirectories(in stores: FilePath) throws {
        let stores = stores.resolvedIfPresent
        for (variable, directory) in ownDirectories
        where directory.resolvedIfPresent.starts(with: stores) {
            throw OperationError.ownDirectoryInsideStores(directory, stores, variable: variable)
        }
    }
}
