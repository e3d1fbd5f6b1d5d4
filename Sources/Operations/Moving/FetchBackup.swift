public import Backups
internal import Archives
internal import Files
public import SystemPackage

/// Gets the archive of a backup out of its folder, as a file of its own name.
public struct FetchBackup: Sendable {
    /// The result of a fetch.
    public struct Outcome: Sendable {
        public var backup: Backup
        /// The new file.
        public var path: FilePath
        /// Bytes in it.
        public var size: Int64
        /// The damage in it, if that was no reason to leave it.
        public var damage: String?
        /// Everything that is not as it should be although the file is there.
        public var problems: [Problem] = []
    }

    private let folder: BackupFolder
    private let allowsDamage: Bool
    private let context: OperationContext

    /// - Parameters:
    ///   - folder: the folder that it is in.
    ///   - allowsDamage: whether to fetch a damaged one too.
    ///   - context: the world around it.
    public init(from folder: BackupFolder, allowsDamage: Bool, context: OperationContext) {
        self.folder = folder
        self.allowsDamage = allowsDamage
        self.context = context
    }

    /// Fetches a backup into a directory, where it appears once it is verified and on the disk.
    ///
    /// - Throws: `FileError.exists` before anything is fetched: nothing is overwritten;
    ///   `MovingError.damaged`, `RemoteError`, `FileError`: nothing is left in the directory then.
    public func run(_ backup: Backup, into directory: FilePath) async throws -> Outcome {
        let path = directory.appending(backup.name)
        _ = try Directory.open(directory)
        guard try FileInfo.ifPresent(path) == nil else { throw FileError.exists(path) }
        // A killed run leaves it; the next one here removes it.
        let scratch = try ScratchDirectory(in: directory)
        defer { withExtendedLifetime(scratch) {} }
        let partial = scratch.path.appending("archive.zip")
        try await context.fetch(backup, from: folder, to: partial)
        let damage = try verify(partial, backup)
        let fileSystem = LocalFileSystem()
        try fileSystem.sync(partial)
        try fileSystem.move(partial, to: path)
        var outcome = Outcome(
            backup: backup,
            path: path,
            size: try FileInfo(of: path).size,
            damage: damage
        )
        do {
            try fileSystem.sync(directory)
        } catch {
            outcome.problems = [
                Problem(kind: .notSynced, path: printable(path), reason: explain(error))
            ]
            context.tell(outcome.problems)
        }
        return outcome
    }

    /// Verifies what was fetched, and returns its damage if that is allowed.
    private func verify(_ path: FilePath, _ backup: Backup) throws -> String? {
        do {
            try context.verifyQuietly(
                ArchivedBackup(path, name: backup.name, keys: folder.keys)
            )
            return nil
        } catch let error where error.isOfKeys {
            context.warn("'\(backup.displayName)' is not verified: \(explain(error))")
            return nil
        } catch let error where CheckBackups.isDamage(error) {
            guard allowsDamage else {
                throw MovingError.damaged(backup.displayName, reason: explain(error))
            }
            context.warn(
                "'\(backup.displayName)' is damaged, and fetched as it is: \(explain(error))"
            )
            return explain(error)
        }
    }
}
