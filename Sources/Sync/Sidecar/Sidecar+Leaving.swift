internal import Files
internal import Foundation
internal import GRDB
public import Stores
public import SystemPackage

extension Sidecar {
    /// Ends the store's part in its group, so that no run exchanges it any more.
    ///
    /// - Throws: `SidecarError`.
    public func leave() throws {
        try write { try $0.set("phase", "leaving") }
    }

    /// Restores the content that the store had before it took part, in one transaction of SQLite.
    ///
    /// Applications that have the store open see the change as by any other writer. The copy stays, and so do older
    /// ones.
    ///
    /// - Throws: `StoreError`, which is `.busyWriting` if another writer does not finish. The store is unchanged if
    ///   it throws.
    public func putBack(_ store: Store) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        var source = configuration
        source.readonly = true
        guard let copy = try copyBefore else { return }
        do {
            let before = try DatabaseQueue(path: copy.string, configuration: source)
            defer { try? before.close() }
            let queue = try DatabaseQueue(path: store.location.string, configuration: configuration)
            defer { try? queue.close() }
            // This copies in one step, which is one transaction (https://www.sqlite.org/backup.html).
            try before.backup(to: queue, pagesPerStep: -1)
        } catch let error as DatabaseError {
            throw StoreError(
                store.path.description,
                code: error.resultCode.rawValue,
                message: error.message
            ).ofWriting
        }
    }

    /// Removes the data of a store that no longer takes part; copies of the store stay.
    ///
    /// It removes the database first, since the rest is useless without it.
    ///
    /// - Throws: `FileError`.
    public static func remove(in directory: FilePath) throws {
        let fileSystem = LocalFileSystem()
        let names = [fileName, fileName + "-wal", fileName + "-shm", storeFileName]
        for name in names + ["outbox", "blobs", KeptFiles.directoryName] {
            try fileSystem.remove(directory.appending(name))
        }
        try fileSystem.sync(directory)
    }
}
