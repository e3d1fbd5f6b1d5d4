public import Backups
internal import Files
internal import Remotes
internal import Stores
public import SystemPackage

extension StoresDirectory {
    /// Opens a directory that must exist.
    ///
    /// - Throws: `OperationError.noStores`, `FileError`.
    init(existing path: FilePath) throws {
        do {
            try self.init(path)
        } catch let error as FileError where error.isMissing {
            throw OperationError.noStores(path)
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
    /// Throws if the remote folder, or a directory of the program, is the stores directory or inside it.
    ///
    /// Every archive would contain the ones before it, and a restore would remove them all.
    ///
    /// - Throws: `OperationError.remoteInsideStores`, `.ownDirectoryInsideStores`; `CancellationError`.
    public func refuse(_ folder: BackupFolder, in stores: FilePath) async throws {
        try refuseOwnDirectories(in: stores)
        let stores = stores.resolvedIfPresent
        var places = [
            (folder.staging, folder.address), (folder.workplace, printable(folder.workplace)),
        ]
        places += [folder.outbox?.path].compactMap(\.self).map { ($0, printable($0)) }
        places += try await folder.remote.service?.directories().map { ($0, folder.address) } ?? []
        for (place, name) in places where place.resolvedIfPresent.starts(with: stores) {
            throw OperationError.remoteInsideStores(name, stores)
        }
    }

    /// Throws if a directory of the program is the stores directory, or inside it.
    ///
    /// A backup would contain it, with the keys, and a restore would replace it. A run creates a directory that is missing.
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
