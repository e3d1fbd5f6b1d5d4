internal import Files
internal import Remotes
internal import SystemPackage

extension BackupFolder.Listing {
    /// The warnings about files that may be backups, and are in no list.
    public var warnings: [String] {
        let hidden = passedOver.filter { $0.isProblem }
        let first = hidden.first.map { "'\($0.name)' is passed over: \($0.reason)" }
        let more = hidden.count > 1 ? ", and \(hidden.count - 1) more" : ""
        return [first.map { $0 + more }, alteredWarning].compactMap(\.self)
    }

    /// Sorts the entries of a folder into possible archives and others.
    ///
    /// - Returns: the files with the names of backups.
    mutating func sortEntries(
        _ entries: (files: [RemoteFile], passedOver: [PassedOverFile]),
        _ reasonToPassOver: (RemoteFile) -> String?,
        _ checkCancellation: () throws -> Void
    ) rethrows -> [RemoteFile] {
        passedOver = entries.passedOver.map(BackupFolder.PassedOver.init)
        var files: [RemoteFile] = []
        for file in entries.files {
            try checkCancellation()
            if let reason = reasonToPassOver(file) {
                passedOver.append(.init(name: file.name, reason: reason))
                if file.size > 0, BackupName.mayBeArchive(file.name) { unlisted.append(file) }
            } else {
                files.append(file)
            }
        }
        return files
    }

    /// Finds the backups whose names were altered, without copies of listed ones.
    mutating func findAltered(in folder: BackupFolder) async throws {
        let files = unlisted.filter { BackupName.isAltered($0.name) }
        guard !files.isEmpty else { return }
        let ids = Set(backups.compactMap(\.id))
        altered = try await folder.memory.backups(
            files,
            in: folder.address,
            timeZone: folder.timeZone
        ).filter { !$0.isForeign && !($0.id.map(ids.contains) ?? false) }
    }

    private var alteredWarning: String? {
        guard let first = altered.first else { return nil }
        let count = counted(altered.count, "file has a backup's name", "files have backups' names")
        let others = altered.count > 1 ? ", and so on" : ""
        let remedy =
            first.file.location.map { Advice.command("import", $0.string) }
            ?? "rename it so that it ends in '\(BackupName.suffix)' or '\(BackupName.incrementSuffix)'"
        return
            "\(count) with something added, and no list has what is in there: '\(first.name)'\(others); to bring it in: \(remedy)"
    }
}

extension BackupFolder.PassedOver {
    init(_ file: PassedOverFile) {
        let mayBeBackup = BackupName.suffix(of: file.name) != nil
        self.init(name: file.name, reason: file.reason, isProblem: mayBeBackup)
    }
}
