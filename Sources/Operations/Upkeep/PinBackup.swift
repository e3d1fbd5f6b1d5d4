public import Backups
public import Foundation

/// Pins a backup, so that nothing removes it, or unpins it; its archive stays as it is.
public struct PinBackup: Sendable {
    private let folder: BackupFolder
    private let context: OperationContext

    public init(in folder: BackupFolder, context: OperationContext) {
        self.folder = folder
        self.context = context
    }

    /// Changes the pin of the named backup.
    ///
    /// - Returns: the backup as it is now, and a problem if a power loss may undo the change.
    public func run(
        _ name: String,
        isPinned: Bool,
        at date: Date
    ) async throws -> (backup: Backup, problems: [Problem]) {
        do {
            return try await run(name, in: folder, isPinned: isPinned, at: date)
        } catch let error where Self.mayWait(error) {
            // The backup may still wait for upload.
            guard let outbox = folder.outbox, try await !outbox.waiting().isEmpty,
                var done = try? await run(name, in: outbox.folder, isPinned: isPinned, at: date)
            else { throw error }
            done.backup.isWaiting = true
            return done
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
    ) async throws -> (backup: Backup, problems: [Problem]) {
        try await context.withLock(folder) {
            let backup = try await folder.find(name, now: date)
            let done = try await folder.notes.annotate(backup, at: date) { $0.isPinned = isPinned }
            let problems = [done.problem].compactMap(\.self)
            context.reportProblems(problems)
            return (done.backup, problems)
        }
    }
}
