public import Backups
internal import Files
public import Foundation
internal import Mounts
public import SystemPackage

/// Shows the backups of a folder as read-only directories until they are unmounted.
public struct MountBackups: Sendable {
    /// The access of other users, and the directory that may not contain the mount.
    public struct Options: Sendable {
        /// Whether other users may also access the mount.
        public var allowsOthers = false
        /// The stores directory, in which nothing may be mounted.
        public var stores: FilePath

        public init(stores: FilePath) { self.stores = stores }
    }

    private let folder: BackupFolder
    private let options: Options
    private let context: OperationContext
    private let now: @Sendable () -> Date

    /// Creates an operation that mounts a folder.
    ///
    /// - Parameters:
    ///   - folder: the folder.
    ///   - options: the options of the mount.
    ///   - context: the scratch directory, the receiver of failure reports, and the check for cancellation.
    ///   - now: returns the current time, to determine the latest backup.
    public init(
        of folder: BackupFolder,
        options: Options,
        context: OperationContext,
        now: @escaping @Sendable () -> Date
    ) {
        self.folder = folder
        self.options = options
        self.context = context
        self.now = now
    }

    /// Mounts the folder, and answers the kernel until a user unmounts it or cancels.
    ///
    /// - Parameters:
    ///   - path: an empty directory.
    ///   - mounted: called with the number of backups once the folder is mounted.
    /// - Throws: `MountError`, `FileError`; `RemoteError` if the folder cannot be listed; errors of `mounted`.
    public func run(at path: FilePath, mounted: (Int) throws -> Void) async throws {
        try Mount.check()
        let place = try resolved(path)
        try Mount.check(place)
        try refuse(place)
        let tree = try await MountedFolder(of: folder, context: context, now: now)
        try await askForKey(of: tree)
        let mount = try Mount(tree, at: place, allowingOthers: options.allowsOthers)
        try mounted(tree.backups.count)
        try await WorkThread.run { [context] in
            try mount.serve { (try? context.checkCancellation()) == nil }
        }
    }

    private func resolved(_ path: FilePath) throws -> FilePath {
        do {
            return try path.resolved()
        } catch FileError.failed(_, _, .socketNotConnected) {
            throw MountError.abandoned(path)
        } catch let error as FileError where error.isMissing {
            throw MountError.noDirectory(path)
        }
    }

    /// Throws if the mount would lie in a directory with another purpose, whose content the mount would seem to be.
    private func refuse(_ place: FilePath) throws {
        for other in [options.stores, folder.staging, folder.workplace, folder.outbox?.path] {
            guard let other = try? other?.resolved(), place.starts(with: other) else { continue }
            throw MountError.inside(place, of: other)
        }
    }

    /// Asks for the passphrase now if the newest encrypted backup needs one; later, no user may be there to answer.
    private func askForKey(of tree: MountedFolder) async throws {
        let encrypted = tree.backups.filter(\.isEncrypted)
        guard let newest = Array(encrypted).newestFirst.first else { return }
        do {
            try await folder.home(of: newest).checkKey(of: newest)
        } catch let error where error.isOfKeys {
            _ = tree.troubles.errno(error)
        } catch  where !(error is CancellationError) {
            // A program that opens the backup gets the error then.
        }
    }
}
