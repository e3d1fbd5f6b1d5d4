internal import Files
internal import Foundation
internal import Remotes

/// Backups that vanished from their folder, and that no run on this machine removed.
package struct VanishedBackups {
    private let names: [String]
    private let lastSeen: Date

    /// Returns a warning with their names and the day when they were last listed.
    package func warning(in timeZone: LocalZone) -> String {
        let first = names.prefix(3).map { "'\(BackupName.display($0))'" }.joined(separator: ", ")
        let more = names.count > 3 ? " and \(names.count - 3) more" : ""
        let day = Timestamp.rfc3339(lastSeen, in: timeZone).prefix(10)
        let count = names.count == 1 ? "1 backup is" : "\(names.count) backups are"
        return "\(count) gone since \(day): \(first)\(more)"
    }

    /// Returns whether all given backups are newer than the last listing of these, so that no earlier backup is left.
    fileprivate func areAll(beside backups: [Backup]) -> Bool {
        backups.allSatisfy { $0.time ?? .distantPast > lastSeen }
    }

    fileprivate init?(_ seen: [ExactString: Date]) {
        guard let last = seen.values.max() else { return nil }
        names = seen.keys.sorted().map(\.text)
        lastSeen = last
    }
}

/// The backups that a folder lost, although no run on this machine removed them.
public struct FolderLosses {
    fileprivate let folder: BackupFolder

    private var catalog: BackupCatalog { folder.memory.catalog }

    /// Returns the backups that others removed since this machine saw them; `nil` if there are none.
    ///
    /// They are reported for 30 days after they were last listed. Those in the trash were removed by another machine of
    /// the user. The caller has listed the folder before.
    package func vanished() async -> VanishedBackups? {
        let seen = catalog.vanished(from: folder.address)
        guard !seen.isEmpty else { return nil }
        let trashed = await trashedNames()
        for name in trashed.intersection(seen.keys) {
            catalog.remember(name.text, isTaken: true, in: folder.address)
        }
        return VanishedBackups(seen.filter { !trashed.contains($0.key) })
    }

    /// Returns the names of the backups that the user's machines moved to the trash.
    ///
    /// A name alone proves nothing: whoever may write to the folder can put any file there. An archive on this machine
    /// needs a trusted signature, unless it is encrypted and no key here opens it.
    private func trashedNames() async -> Set<ExactString> {
        let entries = ((try? await folder.trash.entries()) ?? []).filter { entry in
            guard entry.size > 0, entry.file.location != nil else { return entry.size > 0 }
            let found = folder.trash.backup(entry)
            // Another backup under the name of one that is gone hides nothing.
            if let id = found.id, let known = catalog.lastID(of: entry.name, in: folder.address),
                id != known
            {
                return false
            }
            return found.distrust == nil || found.isEncrypted && found.isAnonymous
        }
        return Set(entries.map(\.name.exact))
    }

    /// Returns the warning for a run that makes or needs a backup.
    ///
    /// If some backups have vanished, the run that notices it warns, and `status` afterwards. If all known backups have
    /// vanished, every run warns, since the folder may be a different one.
    /// - Parameter backups: the backups of the folder.
    /// - Returns: the warning; `nil` if there is none.
    public func warning(beside backups: [Backup]) async -> String? {
        if let vanished = await vanished() {
            let text = vanished.warning(in: folder.timeZone)
            if vanished.areAll(beside: folder.own(backups)) {
                return
                    "\(text); no earlier one is left: make sure that the right disk is mounted there"
            }
            if catalog.hasJustLost(from: folder.address) { return text }
        }
        return await lagWarning(beside: backups)
    }

    /// Returns the warning that the newest own backup is older than an earlier one.
    ///
    /// The folder may have been reset to an older state. Backups that wait for it on this machine count.
    package func lagWarning(beside listed: [Backup]) async -> String? {
        guard folder.keys.signers != nil else { return nil }
        var backups = listed
        do {
            backups += try await folder.outbox?.waiting() ?? []
        } catch {
            return "the backups that wait for the folder are not known: \(explain(error))"
        }
        backups.sortNewestFirst()
        let newest = folder.own(backups).ordinary.first { $0.timeSource == .manifest }
        guard let newer = folder.newer(than: newest) else { return nil }
        let trashed = await trashedNames()
        let there = backups.first { $0.name.exact == newer.exact }
        if trashed.contains(newer.exact) {
            // Another machine of the user deleted it.
            catalog.remember(newer, isTaken: true, in: folder.address)
            return nil
        }
        let name = BackupName.display(newer)
        if let there, there.signer == nil, there.signerKey != nil, there.distrust?.base == nil {
            return
                "'\(name)', the newest backup of this origin, is not trusted any more: it was replaced, or the key that signed it is not known here"
        }
        return
            "the folder fell behind: '\(name)' was the newest backup of this origin, and \(there == nil ? "is gone" : "was replaced since")"
    }
}

extension BackupFolder {
    public var losses: FolderLosses { FolderLosses(folder: self) }
}
