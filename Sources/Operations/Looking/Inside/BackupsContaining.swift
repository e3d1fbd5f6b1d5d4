internal import Archives
public import Backups
internal import Files

/// Finds the backups that contain a file or a directory.
public struct BackupsContaining {
    /// The result of a search.
    public struct Outcome: Sendable {
        /// The backups that contain the path, in the given order.
        public var backups: [Backup] = []
        /// The backups that could not be read.
        public var problems: [Problem] = []
    }

    private let folder: BackupFolder
    private let context: OperationContext

    public init(in folder: BackupFolder, context: OperationContext) {
        self.folder = folder
        self.context = context
    }

    /// Searches the directory and the manifest of each backup.
    ///
    /// - Parameters:
    ///   - path: the path of a file or a directory, as it is printed.
    ///   - backups: the backups to search.
    /// - Returns: the backups that contain the path.
    /// - Throws: `CancellationError`.
    public func run(_ path: String, among backups: [Backup]) async throws -> Outcome {
        let wanted = NamedPaths([path])
        var outcome = Outcome()
        for backup in backups {
            try context.checkCancellation()
            do {
                let isThere = try await context.look(at: backup, in: folder.home(of: backup)) {
                    try $0.contains(wanted)
                }
                if isThere { outcome.backups.append(backup) }
            } catch let error as CancellationError {
                throw error
            } catch {
                outcome.problems.append(Problem(unreadable: backup.name, explain(error)))
            }
        }
        return outcome
    }
}

/// A signal that the path was found, so that reading can stop.
private struct Found: Error {}

extension ArchivedBackup {
    fileprivate func contains(_ paths: NamedPaths) throws -> Bool {
        do {
            try forEach { if paths.match($0.attributes.path) != nil { throw Found() } }
            return false
        } catch is Found {
            return true
        }
    }
}
