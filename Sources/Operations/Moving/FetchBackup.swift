public import Backups
internal import Archives
internal import Files
public import Foundation
public import SystemPackage

/// Copies the archive of a backup out of its folder, into a file.
public struct FetchBackup: Sendable {
    /// The result of a fetch.
    public struct Outcome: Sendable {
        public var backup: Backup
        /// The new file.
        public var path: FilePath
        /// The size of the file in bytes.
        public var size: Int64
        /// The damage found, if damage is allowed.
        public var damage: String?
        /// Whether it was verified; without the key, that is not possible.
        public var isVerified = true
        /// The base backups, if they were requested, the full backup first.
        public var needs: [Needed] = []
        /// The problems that occurred although the file is there.
        public var problems: [Problem] = []
    }

    /// The archive of a base backup of an increment.
    public struct Needed: Sendable {
        /// The file.
        public var path: FilePath
        /// The size of the file in bytes.
        public var size: Int64
        /// Whether the same file already existed.
        public var wasThere: Bool
    }

    let folder: BackupFolder
    private let allowsDamage: Bool
    private let date: Date
    let context: OperationContext

    /// - Parameters:
    ///   - folder: the folder that contains the backup.
    ///   - allowsDamage: whether to fetch a damaged backup too.
    ///   - date: the current time, with which found damage is recorded.
    ///   - context: the context of the operation.
    public init(
        from folder: BackupFolder,
        allowsDamage: Bool,
        at date: Date,
        context: OperationContext
    ) {
        self.folder = folder
        self.allowsDamage = allowsDamage
        self.date = date
        self.context = context
    }

    /// Fetches a backup to a file, which appears once it is verified and on the disk.
    ///
    /// The base backups of an increment appear beside it under their own names. If damage is allowed and one of them is
    /// missing, it is fetched alone.
    ///
    /// - Throws: `FileError.exists` before anything is fetched, because nothing is overwritten; `MovingError.damaged`,
    ///   `BackupFolderError.missingNeed`, `RemoteError`, `FileError`: nothing is left in the directory then.
    public func run(_ backup: Backup, to path: FilePath) async throws -> Outcome {
        let directory = path.removingLastComponent()
        _ = try Directory.open(directory)
        guard try FileInfo.ifPresent(path) == nil else { throw FileError.exists(path) }
        // A killed run leaves this directory; the next run here removes it.
        let scratch = try ScratchDirectory(in: directory)
        defer { withExtendedLifetime(scratch) {} }
        let isAlone = !backup.isIncrement || allowsDamage && backup.lack?.isGone == true
        do {
            let outcome =
                try await isAlone
                ? runAlone(backup, to: path, scratch.path)
                : runWithNeeds(backup, to: path, scratch.path)
            if let damage = outcome.damage {
                await context.note(damage, of: backup, in: folder, at: date)
            }
            return outcome
        } catch MovingError.damaged(let name, let reason) {
            await context.note(reason, of: backup, in: folder, at: date)
            throw MovingError.damaged(name, reason: reason)
        }
    }

    private func runAlone(
        _ backup: Backup,
        to path: FilePath,
        _ scratch: FilePath
    ) async throws -> Outcome {
        if backup.isIncrement, !backup.needs.isEmpty {
            let count = counted(backup.needs.count, "other backup", "other backups")
            context.note("'\(backup.displayName)' can be restored only with \(count)")
        }
        let partial = scratch.appending("archive.zip")
        try await context.fetch(backup, from: folder, to: partial)
        let finding = try verify(backup) {
            try ArchivedBackup(partial, name: backup.name, keys: folder.keys)
        }
        let fileSystem = LocalFileSystem()
        try fileSystem.sync(partial)
        try fileSystem.move(partial, to: path)
        let size = try FileInfo(of: path).size
        return sync(Outcome(backup: backup, path: path, size: size).with(finding))
    }

    /// Flushes the directory's names to the disk; adds a problem if that fails.
    func sync(_ fetched: Outcome) -> Outcome {
        var outcome = fetched
        do {
            try LocalFileSystem().sync(fetched.path.removingLastComponent())
        } catch {
            outcome.problems = [
                Problem(kind: .notSynced, path: printable(outcome.path), reason: explain(error))
            ]
            context.reportProblems(outcome.problems)
        }
        return outcome
    }

    /// The result of the verification.
    enum Finding {
        case verified
        case damaged(String)
        /// No key opens the archive.
        case unread
    }

    /// Verifies the fetched archive; damage may be allowed.
    ///
    /// - Throws: `MovingError.damaged` if it is not allowed; an error that keeps the archive from being read.
    func verify(_ backup: Backup, opening: () throws -> ArchivedBackup) throws -> Finding {
        do {
            try context.verifyQuietly(opening())
            return .verified
        } catch let error where error.isOfKeys {
            context.warn("'\(backup.displayName)' is not verified: \(explain(error))")
            return .unread
        } catch let error where error.reportsDamage {
            guard allowsDamage else {
                throw MovingError.damaged(backup.displayName, reason: explain(error))
            }
            context.warn(
                "'\(backup.displayName)' is damaged, and fetched as it is: \(explain(error))"
            )
            return .damaged(explain(error))
        }
    }
}

extension FetchBackup.Outcome {
    /// Returns the same outcome with the result of the verification.
    func with(_ finding: FetchBackup.Finding) -> Self {
        var outcome = self
        if case .damaged(let reason) = finding { outcome.damage = reason }
        if case .unread = finding { outcome.isVerified = false }
        return outcome
    }
}
