internal import Backups
internal import Files
internal import Foundation
internal import Remotes

// The newest backup may have the same content.
extension CreateBackup {
    /// Returns the newest backup, if it has everything that was written, and no more.
    ///
    /// It must be good as far as is known, and still be there. On this machine it is opened: a backup
    /// that cannot be opened is no reason to make none.
    func unchanged(_ written: WrittenArchive, since backups: [Backup]) async throws -> Backup? {
        guard options.skipsUnchanged, written.trailer.problems.isEmpty,
            written.header.anomalies == nil,
            let newest = backups.ordinary.notFromFuture(options.date).first,
            newest.damage == nil, !newest.isPartial
        else { return nil }
        var root = newest.root
        var exclusions = newest.exclusions
        if let location = newest.file.location {
            do {
                let keys = folder.keys
                let archived = try ArchivedBackup(location, name: newest.name, keys: keys)
                root = archived.header?.root
                exclusions = archived.header?.excluded?.key
            } catch let error where error.isOfKeys {
                // What is remembered is of this very file.
            } catch {
                return nil
            }
        }
        let home = folder.home(of: newest)
        // A restore leaves other files alone then.
        guard root == written.header.root, exclusions == written.header.excluded?.key,
            home.content(of: newest) == written.trailer.content,
            // Another machine may have deleted it, which our lock does not keep out.
            try await home.remote.list().contains(where: {
                $0.name == newest.name && $0.size == newest.size
            }),
            try await home.isThere(newest)
        else { return nil }
        return newest
    }

    /// Adds the tags and the note to the backup that makes a new one unnecessary.
    ///
    /// - Returns: the backup as it is now, whether that is a change, and a problem if a loss of power may
    ///   undo that.
    func annotate(_ backup: Backup) async throws -> (Backup, Bool, Problem?) {
        guard !options.tags.isEmpty || options.note != nil else { return (backup, false, nil) }
        return try await folder.home(of: backup).annotate(backup, at: options.date) {
            for tag in options.tags where !$0.tags.contains(tag) { $0.tags.append(tag) }
            $0.note = options.note ?? $0.note
        }
    }
}

// Two backups of one minute would like to have one name.
extension CreateBackup {
    /// Throws if the name is taken and that is not wanted: better told before the work than after it.
    ///
    /// - Throws: `BackupFolderError.taken`, `.pinned`, `.needed`.
    func refuseTakenName(among backups: [Backup]) throws {
        // If nothing has changed, no name is needed.
        guard !options.skipsUnchanged else { return }
        switch options.sameName {
        case .number: return
        case .fail:
            // People see all kinds without their ends.
            let name = BackupName.display(name(isIncrement: false))
            if let other = backups.first(where: { $0.displayName == name }) {
                throw BackupFolderError.taken(other.displayName, address: folder.address)
            }
        case .replace:
            // Whether it is an increment, and of which name, shows only while it is written.
            guard options.increments == nil else { return }
            guard let other = rival(ofIncrement: false, among: backups) else { return }
            try refuseToReplace(other, among: backups)
        }
    }

    private func refuseToReplace(_ other: Backup, among backups: [Backup]) throws {
        if other.isPinned { throw BackupFolderError.pinned(other.displayName) }
        try folder.refuseNeeded(other, among: backups)
    }

    /// The name that a new backup would like.
    private func name(isIncrement: Bool) -> String {
        BackupName.make(
            options.date,
            in: folder.timeZone,
            isIncrement: isIncrement,
            isEncrypted: folder.keys.encrypts || options.isAlwaysEncrypted
        )
    }

    /// The backup that has the name which a new one would like.
    private func rival(ofIncrement isIncrement: Bool, among backups: [Backup]) -> Backup? {
        let name = name(isIncrement: isIncrement)
        return backups.first { $0.name == name }
    }

    /// Returns the backups that a new one may be built on: not one whose place it is to take.
    func bases(among backups: [Backup]) -> [Backup] {
        guard options.sameName == .replace,
            let other = rival(ofIncrement: true, among: backups)
        else { return backups }
        return backups.filter { $0.name != other.name }
    }

    /// Has a new backup take the place of the one whose name it would like, if that is wanted.
    ///
    /// Both are in the folder by now. If it fails, the new one stays under its number, and that is a problem.
    /// - Parameters:
    ///   - outcome: the new backup.
    ///   - backups: those that were there before.
    func replaceRival(with outcome: inout Outcome, among backups: [Backup]) async {
        guard options.sameName == .replace,
            let other = rival(ofIncrement: outcome.backup.isIncrement, among: backups),
            other.name != outcome.backup.name
        else { return }
        do {
            try await refuseToReplace(other, among: folder.list().backups)
            let (backup, problems) = try await folder.replace(
                other,
                by: outcome.backup,
                at: options.date
            )
            outcome.backup = backup
            outcome.replaced = other
            outcome.backups -= 1
            outcome.problems += problems
            context.tell(problems)
        } catch {
            let problem = Problem(
                kind: .notRemoved,
                path: other.name,
                reason: "not replaced: \(explain(error))"
            )
            outcome.problems.append(problem)
            context.tell([problem])
        }
    }
}
