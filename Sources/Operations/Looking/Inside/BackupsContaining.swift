internal import Archives
public import Backups
internal import Files

/// Finds the backups in which there is a file or a directory.
public struct BackupsContaining {
    /// Which have it.
    public struct Outcome: Sendable {
        /// In the order in which they were given.
        public var backups: [Backup] = []
        /// The backups that could not be looked into.
        public var problems: [Problem] = []
    }

    private let folder: BackupFolder
    private let context: OperationContext

    public init(in folder: BackupFolder, context: OperationContext) {
        self.folder = folder
        self.context = context
    }

    /// Looks into backups, the directory and the manifest of each.
    ///
    /// - Parameters:
    ///   - path: of a file or a directory, as it is printed.
    ///   - backups: those to look into.
    /// - Returns: those that have it.
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

/// That no more needs to be read.
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
