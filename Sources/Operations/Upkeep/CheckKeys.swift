public import Backups
public import Foundation

/// Finds the backups that the available keys open.
public struct CheckKeys: Sendable {
    /// The result for one backup.
    public struct Item: Sendable {
        public var backup: Backup
        /// The reason why it cannot be opened; `nil` if it can.
        public var failure: (any Error)?
    }

    private let folder: BackupFolder
    private let context: OperationContext

    /// Creates a check of a folder's backups.
    ///
    /// - Parameters:
    ///   - folder: the backups' folder, with the keys.
    ///   - context: the context of the operation.
    public init(in folder: BackupFolder, context: OperationContext) {
        self.folder = folder
        self.context = context
    }

    /// Reads the beginning of each archive.
    ///
    /// - Parameters:
    ///   - names: see `[Backup].matching`; `nil` for all.
    ///   - now: the current time.
    /// - Returns: an item for each backup, the newest first; and the error if the folder is unreachable and only
    ///   waiting backups are known.
    /// - Throws: `BackupFolderError`, `RemoteError`, `CancellationError`.
    public func run(
        _ names: [String]?,
        now: Date
    ) async throws -> (items: [Item], unreachable: (any Error)?) {
        let (listing, unreachable) = try await folder.listWithWaiting()
        if let unreachable { context.warnOfUnknown(unreachable) }
        let all = listing.backups
        guard !all.isEmpty else { throw BackupFolderError.noBackups(folder.address) }
        let wanted =
            try names.map { names in
                try names.map { try all.matching($0, address: folder.address, now: now) }
            } ?? all
        var items: [Item] = []
        for backup in wanted {
            try context.checkCancellation()
            do {
                for needed in all.withNeeds(of: [backup]) {
                    try await folder.home(of: needed).checkKey(of: needed)
                }
                items.append(Item(backup: backup))
            } catch let error as CancellationError {
                throw error
            } catch {
                items.append(Item(backup: backup, failure: error))
            }
        }
        return (items, unreachable)
    }
}
