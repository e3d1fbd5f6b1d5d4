public import Backups
internal import Files
public import Foundation
internal import Mounts
public import SystemPackage

/// Shows the backups of a folder as read-only directories, as long as somebody wants that.
public struct MountBackups: Sendable {
    /// Who may look into them, and what is not to be covered.
    public struct Options: Sendable {
        /// Whether other users may, too.
        public var allowsOthers = false
        /// The stores directory: nothing is mounted in it.
        public var stores: FilePath

        public init(stores: FilePath) { self.stores = stores }
    }

    private let folder: BackupFolder
    private let options: Options
    private let context: OperationContext
    private let now: @Sendable () -> Date

    /// Names the folder.
    ///
    /// - Parameters:
    ///   - folder: the folder.
    ///   - options: who may look into it.
    ///   - context: where scratch files go, who hears of failures, and when to end.
    ///   - now: tells the time, to know which backup is the latest.
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

    /// Mounts the folder, and answers the kernel until somebody unmounts it or the user wants to stop.
    ///
    /// - Parameters:
    ///   - path: an empty directory.
    ///   - mounted: called once it is mounted, with the number of backups.
    /// - Throws: `MountError`, `FileError`; `RemoteError` if the folder cannot be listed; what `mounted` throws.
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

    /// Throws if a directory is within one that has other tasks: what is mounted would be taken for a part of it.
    private func refuse(_ place: FilePath) throws {
        for other in [options.stores, folder.staging, folder.workplace, folder.outbox?.path] {
            guard let other = try? other?.resolved(), place.starts(with: other) else { continue }
            throw MountError.inside(place, of: other)
        }
    }

    /// Has the passphrase asked for now, if one is needed for the newest backup that is encrypted: later nobody may
    /// be there to say it.
    private func askForKey(of tree: MountedFolder) async throws {
        let encrypted = tree.backups.filter(\.isEncrypted)
        guard let newest = Array(encrypted).newestFirst.first else { return }
        do {
            try await folder.home(of: newest).checkKey(of: newest)
        } catch let error where error.isOfKeys {
            _ = tree.troubles.errno(error)
        } catch let error as CancellationError {
            throw error
        } catch {
            // Whoever looks into it is told.
        }
    }
}
