internal import Archives
internal import Backups
internal import Files
internal import SystemPackage

/// The owners of the data that a restore replaces; they take precedence over those in the backup.
///
/// User numbers mean something on one machine only. If the stores directory has another owner than before, so does its
/// application, and the restored data must get that owner too.
struct PresentOwners {
    private let directory: Owner
    private let live: FilePath
    /// The owner of the stores directory when it was backed up; `nil` if no manifest records it.
    private let saved: Owner?

    /// Examines a stores directory; `nil` if it is missing, has the same owner as in the backup, or if this program may
    /// not set owners.
    ///
    /// - Throws: `FileError`.
    init?(of live: FilePath, replacedBy backup: ArchivedBackup) throws {
        guard AttributeRules.mayGiveAway, let info = try FileInfo.ifPresent(live) else {
            return nil
        }
        saved = (backup.header?.root).map { Owner(user: $0.uid, group: $0.gid) }
        directory = Owner(user: info.owner, group: info.group)
        self.live = live
        guard directory.user != saved?.user ?? 0 else { return nil }
    }

    /// Returns the present owner of a path, else that of the stores directory.
    ///
    /// If a file in another user's directory was root's, that user was not meant to change it, and it stays root's.
    func owner(of attributes: EntryAttributes) throws -> Owner {
        if let info = try FileInfo.inside(live, attributes.path), info.kind == attributes.kind.inode
        {
            return Owner(user: info.owner, group: info.group)
        }
        guard let owner = attributes.owner, let saved else { return directory }
        return Owner(
            user: owner.user == 0 && saved.user != 0 ? 0 : directory.user,
            group: owner.group == 0 && saved.group != 0 ? 0 : directory.group
        )
    }

    /// Returns a sentence that says which owners the files get.
    func remark(isOverruled: Bool) -> String {
        let now = "the stores directory is of user \(directory.user)"
        let then = saved.map { ", and was of user \($0.user) in the backup" } ?? ""
        let what = isOverruled ? "owners are those of the backup" : "the present owners stay"
        return "\(what): \(now)\(then)"
    }
}

extension EntryAttributes.Kind {
    fileprivate var inode: FileInfo.Kind {
        switch self {
        case .file: .file
        case .directory: .directory
        case .link: .link
        }
    }
}
