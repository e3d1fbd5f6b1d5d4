internal import Changes
internal import Files
internal import Foundation
internal import GRDB
internal import Remotes
public import Stores
public import SystemPackage

extension Sidecar {
    /// Returns the number of changes that were not sent, with those of the store that no run has captured.
    ///
    /// These are captured on a copy of the sidecar; of a store that has begun to leave, or to join, none are counted.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - options: the options of an exchange.
    /// - Returns: the number.
    /// - Throws: `SyncDecision`, `SyncRefusal`, `StoreError`, `SidecarError`, `FileError`.
    public func unsentChanges(
        of store: Store,
        _ options: StoreExchange.Options
    ) throws -> Int64 {
        guard try read({ try $0.membership.phase == .on }) else {
            return try SyncOverview(of: self).unsentChanges
        }
        let scratch = try ScratchDirectory(in: options.scratch)
        defer { withExtendedLifetime(scratch) {} }
        let copy = try copy(to: scratch.path.appending("sync"))
        defer { try? copy.close() }
        var options = options
        options.acceptsChanges = true
        let (group, now) = try copy.read { (try $0.membership.group, try $0.integer("now") ?? 0) }
        let exchange = StoreExchange(
            of: store,
            sidecar: copy,
            container: Container(LocalFolder(scratch.path), group: group, scratch: scratch.path),
            now: Date(milliseconds: now),
            options: options
        )
        try exchange.recover()
        try exchange.capture(seeds: false)
        return try SyncOverview(of: copy).unsentChanges
    }

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
