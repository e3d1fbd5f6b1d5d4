public import Backups
internal import Files
public import Foundation

/// Removes a backup from its folder, and brings it back.
public struct DeleteBackup: Sendable {
    private let folder: BackupFolder
    private let context: OperationContext

    public init(from folder: BackupFolder, context: OperationContext) {
        self.folder = folder
        self.context = context
    }

    /// Deletes a backup; only `PruneBackups` empties the trash.
    ///
    /// - Parameters:
    ///   - backup: the backup.
    ///   - date: now.
    ///   - trash: for how long it can come back; a prune ends that.
    /// - Returns: everything that is not as it should be although the backup was deleted.
    /// - Throws: `RemoteError`, `FileError.locked`; `BackupFolderError.pinned`.
    @discardableResult
    public func run(
        _ backup: Backup,
        at date: Date,
        keepingTrash trash: Duration
    ) async throws -> [Problem] {
        // One that waits is nowhere else: from there it goes for good.
        let folder = folder.home(of: backup)
        let trash = backup.isWaiting ? .zero : trash
        return try await context.withLock(folder) {
            // Only now that nobody else changes the folder.
            if try await folder.annotations().annotation(of: backup)?.isPinned ?? false {
                throw BackupFolderError.pinned(backup.displayName)
            }
            let problem = try await folder.remove(backup, at: date, keepingTrash: trash)
            var problems = problem.map { [$0] } ?? []
            if trash <= .zero {
                do {
                    problems += try await [folder.forget([backup.name])].compactMap(\.self)
                } catch {
                    let path = Annotations.subfolder
                    problems.append(Problem(kind: .notRemoved, path: path, reason: explain(error)))
                }
            }
            context.tell(problems)
            return problems
        }
    }

    /// Brings a deleted backup back; see `BackupFolder.bringBack`.
    ///
    /// - Returns: the backup, and everything that is not as it should be although it is back.
    public func undo(_ text: String) async throws -> (backup: TrashedBackup, problems: [Problem]) {
        try await context.withLock(folder) {
            let (backup, problem) = try await folder.bringBack(text)
            let problems = problem.map { [$0] } ?? []
            context.tell(problems)
            return (backup, problems)
        }
    }
}
