internal import Archives
internal import Files
internal import Stores
internal import SystemPackage

extension BackupWriter {
    func attributes(
        _ path: RelativePath,
        _ kind: EntryAttributes.Kind,
        _ info: FileInfo
    ) -> EntryAttributes {
        EntryAttributes(
            path: path,
            kind: kind,
            mode: info.mode,
            modified: info.modified,
            owner: Owner(user: info.owner, group: info.group)
        )
    }

    /// Opens a directory below the stores directory, or that itself, without following a link.
    func open(_ path: RelativePath?) throws -> Directory {
        try (path?.components ?? []).reduce(.open(directory.path)) { try $0.directory($1) }
    }
}
