public import Backups
public import Foundation

/// Pins a backup, so that nothing removes it, or takes its pin away; its archive stays as it is.
public struct PinBackup: Sendable {
    private let folder: BackupFolder
    private let context: OperationContext

    public init(in folder: BackupFolder, context: OperationContext) {
        self.folder = folder
        self.context = context
    }

    /// Changes the pin of the backup that a person means, and returns the backup as it is now.
    public func run(_ name: String, isPinned: Bool, at date: Date) async throws -> Backup {
        do {
            return try await run(name, in: folder, isPinned: isPinned, at: date)
        } catch let error where Self.mayWait(error) {
            // Perhaps it waits for the folder.
            guard let outbox = folder.outbox, try await !outbox.waiting().isEmpty,
                var backup = try? await run(name, in: outbox.folder, isPinned: isPinned, at: date)
            else { throw error }
            backup.isWaiting = true
            return backup
        }
    }

    private static func mayWait(_ error: any Error) -> Bool {
        switch error {
        case BackupFolderError.noBackup, BackupFolderError.noBackups: true
        default: error.isUnreachable
        }
    }

    private func run(
        _ name: String,
        in folder: BackupFolder,
        isPinned: Bool,
        at date: Date
    ) async throws -> Backup {
        try await context.withLock(folder) {
            let backup = try await folder.find(name, now: date)
            return try await folder.annotate(backup, at: date) { $0.isPinned = isPinned }.backup
        }
    }
}
