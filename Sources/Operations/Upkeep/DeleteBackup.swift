internal import Files
public import Foundation
public import Remotes

/// Removes a backup from a remote folder, and brings it back.
public struct DeleteBackup: Sendable {
    private let remote: any RemoteFolder
    private let catalog: BackupCatalog
    private let timeZone: TimeZone
    private let context: OperationContext

    public init(
        from remote: any RemoteFolder,
        catalog: BackupCatalog,
        timeZone: TimeZone,
        context: OperationContext
    ) {
        self.remote = remote
        self.catalog = catalog
        self.timeZone = timeZone
        self.context = context
    }

    /// The backup that a person means, for asking before it is deleted.
    ///
    /// - Parameters:
    ///   - name: what the person said.
    ///   - now: what is later is `latest` only where there is nothing else.
    /// - Returns: the backup.
    /// - Throws: `OperationError.noBackup` and its like; `RemoteError`.
    public func find(_ name: String, now: Date? = nil) async throws -> Backup {
        let list = ListBackups(in: remote, catalog: catalog, timeZone: timeZone)
        return try await list.find(name, now: now)
    }

    /// Deletes a backup that was found.
    ///
    /// The trash is left alone: only `PruneBackups` empties it.
    ///
    /// - Parameters:
    ///   - backup: the backup.
    ///   - date: now.
    ///   - trash: `.zero` for a backup that cannot come back; else it can, until a prune finds that it is
    ///     over.
    /// - Returns: what is not as it should be although the backup was deleted.
    /// - Throws: `RemoteError`, `FileError.locked`; `OperationError.pinned`.
    @discardableResult
    public func run(
        _ backup: Backup,
        at date: Date,
        keepingTrash trash: Duration
    ) async throws -> [Problem] {
        let lock = try await context.lock(remote.staging)
        defer { withExtendedLifetime(lock) {} }
        // Only now that nobody else changes it.
        var annotations = try await Annotations(of: remote)
        if annotations.annotation(of: backup.file)?.isPinned ?? false {
            throw OperationError.pinned(backup.displayName)
        }
        let problem = try await remove(backup.name, at: date, keepingTrash: trash)
        var problems = problem.map { [$0] } ?? []
        // That this one is not to come back says nothing of those deleted before.
        if trash <= .zero {
            do {
                try await annotations.forget([backup.name])
            } catch {
                problems.append(
                    Problem(
                        kind: .notRemoved,
                        path: Annotations.subfolder,
                        reason: explain(error)
                    )
                )
            }
        }
        for problem in problems { context.report(.problem(problem)) }
        return problems
    }

    /// Moves a backup into the trash, or removes it.
    ///
    /// - Returns: what is to be told of a removal that a loss of power may undo.
    func remove(
        _ name: String,
        at date: Date,
        keepingTrash trash: Duration
    ) async throws -> Problem? {
        try await RemoteError.problem {
            if trash > .zero {
                try await Trash(remote: remote).put(name, at: date)
            } else {
                try await remote.delete(name)
            }
        }
    }

    /// The deleted backups that can come back, the last one first.
    public func trash() async throws -> [TrashedBackup] {
        try await Trash(remote: remote).entries().map(TrashedBackup.init)
    }

    /// Brings a deleted backup back.
    ///
    /// - Parameter text: its name, its display name, or a unique part of it; of several of one name
    ///   that which was deleted last.
    /// - Returns: what came back, and what is not as it should be although it did.
    /// - Throws: `OperationError.notInTrash`, `.ambiguous`, `.nameTaken`; `RemoteError`.
    public func undo(_ text: String) async throws -> (backup: TrashedBackup, problems: [Problem]) {
        let lock = try await context.lock(remote.staging)
        defer { withExtendedLifetime(lock) {} }
        let trash = Trash(remote: remote)
        let entries = try await trash.entries()
        let names = Set(entries.map(\.name)).filter {
            $0 == text || BackupName.display($0) == text
        }
        let found =
            names.isEmpty
            ? Set(entries.map(\.name)).filter { !text.isEmpty && $0.contains(text) } : names
        guard found.count < 2 else {
            throw OperationError.ambiguous(text, matches: found.map(BackupName.display).sorted())
        }
        guard let entry = entries.first(where: { found.contains($0.name) }) else {
            throw OperationError.notInTrash(text, address: remote.address)
        }
        var problem: Problem?
        do {
            problem = try await RemoteError.problem { try await trash.takeOut(entry) }
        } catch RemoteError.exists {
            throw OperationError.nameTaken(entry.name, address: remote.address)
        }
        // Not as it was called in the trash.
        problem?.path = entry.name
        let problems = problem.map { [$0] } ?? []
        for problem in problems { context.report(.problem(problem)) }
        return (TrashedBackup(entry), problems)
    }

    /// Removes for good what has been in the trash for long enough.
    ///
    /// - Returns: what could not be removed.
    func emptyTrash(
        at date: Date,
        keeping trash: Duration,
        _ annotations: inout Annotations
    ) async throws -> [Problem] {
        let limit = date - Double(trash.components.seconds)
        let (removed, problems) = try await Trash(remote: remote).empty(before: limit)
        guard !removed.isEmpty else { return problems }
        let left = try await Set(remote.list().map(\.name)).union(
            Trash(remote: remote).entries().map(\.name)
        )
        try await annotations.forget(Set(removed.map(\.name)).subtracting(left))
        return problems
    }
}

/// A backup that was deleted and can come back.
public struct TrashedBackup: Sendable, Equatable {
    /// What it was called.
    public var name: String
    /// When it was deleted.
    public var deleted: Date
    /// Bytes in the archive.
    public var size: Int64

    /// The name without ` Stores.zip`.
    public var displayName: String { BackupName.display(name) }

    init(_ entry: Trash.Entry) {
        name = entry.name
        deleted = entry.removed
        size = entry.file.size
    }
}
