internal import Backups
internal import Files
internal import Foundation
internal import Remotes

// If the newest backup has the same content, no new one is needed.
extension CreateBackup {
    /// Returns the newest backup if its content is exactly the written content.
    ///
    /// It must not be known to be damaged, and must still exist. A backup on this machine is opened: if that fails, a
    /// new one must be made.
    func unchanged(_ written: WrittenArchive, since backups: [Backup]) async throws -> Backup? {
        guard options.skipsUnchanged, written.trailer.problems.isEmpty,
            written.header.anomalies == nil,
            let newest = folder.own(backups).ordinary.notFromFuture(options.date).first,
            newest.damage == nil, !newest.isPartial,
            // What has gone is accepted by a new backup.
            !(newest.isAnomalous && options.acceptsChanges)
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
                // The recorded facts are those of this very file.
            } catch {
                return nil
            }
        }
        let home = folder.home(of: newest)
        // With other exclusions, a restore would keep other files. With other recipients, others can restore.
        guard newest.summary.recipients == written.header.recipients, root == written.header.root,
            exclusions == written.header.excluded?.key,
            home.content(of: newest) == written.trailer.content,
            // Another machine may have deleted it in spite of our lock.
            try await home.remote.list().contains(where: {
                $0.name.exact == newest.name.exact && $0.size == newest.size
            }),
            try await home.remote.has(newest.name),
            try await PasswordCheck(folder: folder).opens(newest)
        else { return nil }
        return newest
    }

    /// Adds the tags and the note to the existing backup that replaces a new one.
    ///
    /// - Returns: the backup as it is now, whether it changed, and a problem if a power loss may undo that.
    func annotate(_ backup: Backup) async throws -> (Backup, Bool, Problem?) {
        guard !options.tags.isEmpty || options.note != nil else { return (backup, false, nil) }
        return try await folder.home(of: backup).notes.annotate(backup, at: options.date) {
            for tag in options.tags where !$0.tags.contains(tag) { $0.tags.append(tag) }
            $0.note = options.note ?? $0.note
        }
    }
}

// Two backups of the same minute compete for one name.
extension CreateBackup {
    /// Throws before the work if the name is taken and the options do not allow that.
    ///
    /// - Throws: `BackupFolderError.taken`, `.pinned`, `.needed`.
    func refuseTakenName(among backups: [Backup]) throws {
        // Without changes, no name is needed.
        guard !options.skipsUnchanged else { return }
        switch options.sameName {
        case .number: return
        case .fail:
            // Display names omit the extensions of all kinds.
            let name = BackupName.display(name(isIncrement: false))
            if let other = backups.first(where: { BackupName.display($0.name).exact == name.exact })
            {
                throw BackupFolderError.taken(other.displayName, address: folder.address)
            }
        case .replace:
            // The kind of backup, and so its name, is known only while it is written.
            guard options.increments == nil else { return }
            guard let other = rival(ofIncrement: false, among: backups) else { return }
            try refuseToReplace(other, among: backups)
        }
    }

    private func refuseToReplace(_ other: Backup, among backups: [Backup]) throws {
        if other.isPinned { throw BackupFolderError.pinned(other.displayName) }
        try Dependence(of: backups, by: backups).refuseRemoval(of: other)
    }

    /// Returns the preferred name of a new backup.
    private func name(isIncrement: Bool) -> String {
        BackupName.make(
            options.date,
            in: folder.timeZone,
            isIncrement: isIncrement,
            isEncrypted: folder.keys.encrypts || options.isAlwaysEncrypted
        )
    }

    /// Returns the own backup that has the preferred name of a new one, and that it may replace.
    ///
    /// It is none of another machine, which may make its own in the same minute each day, and none that a restore made.
    private func rival(ofIncrement isIncrement: Bool, among backups: [Backup]) -> Backup? {
        let name = name(isIncrement: isIncrement)
        return folder.own(backups).ordinary.first { $0.name.exact == name.exact }
    }

    /// Returns the backups that a new one may be built on: not the one that it will replace, and none for others, since
    /// the new recipients could not restore it.
    func bases(among backups: [Backup]) throws -> [Backup] {
        let recipients = try BackupKeys.digest(of: recipients())
        let other = options.sameName == .replace ? rival(ofIncrement: true, among: backups) : nil
        return backups.filter {
            $0.summary.recipients == recipients && $0.name.exact != other?.name.exact
        }
    }

    /// Replaces the backup that has a new backup's preferred name, if the options say so.
    ///
    /// Both are already in the folder. If it fails, the new one keeps its number, and that is a problem. A new one that
    /// has a problem itself, such as much less data, replaces none.
    /// - Parameters:
    ///   - outcome: the new backup.
    ///   - backups: the backups before.
    func replaceRival(with outcome: inout Outcome, among backups: [Backup]) async {
        guard options.sameName == .replace, outcome.problems.isEmpty,
            let other = rival(ofIncrement: outcome.backup.isIncrement, among: backups),
            other.name.exact != outcome.backup.name.exact
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
            context.reportProblems(problems)
        } catch {
            let reason = "not replaced: \(explain(error))"
            context.note(.notRemoved, other.name, reason, in: &outcome.problems)
        }
    }
}
