internal import Files
internal import History
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
        in folder: BackupFolder
    ) throws -> [RemoteFile] {
        passedOver = entries.passedOver.map(BackupFolder.PassedOver.init)
        var files: [RemoteFile] = []
        for file in entries.files {
            try folder.memory.checkCancellation()
            if let reason = reasonToPassOver(file, in: folder) {
                passedOver.append(.init(name: file.name, reason: reason))
                if file.size > 0, BackupName.mayBeArchive(file.name) { unlisted.append(file) }
            } else {
                files.append(file)
            }
        }
        return files
    }

    /// Returns the files that this machine put into a folder and that a list lacks, although they are there.
    ///
    /// Names of files that are gone are forgotten: others removed them.
    static func late(
        besides listed: [RemoteFile],
        in folder: BackupFolder
    ) async throws -> [RemoteFile] {
        let catalog = folder.memory.catalog
        var files: [RemoteFile] = []
        for name in folder.givenNames.subtracting(listed.map(\.name.exact)).sorted() {
            guard let file = catalog.lastSeen(name.text, in: folder.address) else { continue }
            if try await folder.remote.has(name.text) {
                files.append(file)
            } else {
                catalog.remember(in: folder.address) { $0.take(name.text) }
            }
        }
        return files
    }

    /// Returns the reason why a file is no backup; `nil` if it may be one.
    private func reasonToPassOver(_ file: RemoteFile, in folder: BackupFolder) -> String? {
        let name = file.name
        if name.hasPrefix(PartialName.prefix) {
            return "a backup that is being made, or was interrupted"
        }
        if file.isAppleDouble { return "macOS keeps attributes of another file in it" }
        // An empty file that had content when it was inspected before, or that has a backup's name, is a damaged backup.
        if file.size == 0, folder.memory.catalog.lastSeen(name, in: folder.address) == nil,
            BackupName.date(of: name, in: folder.timeZone) == nil
        {
            return "it is empty: another program holds its place, or has not written it yet"
        }
        return BackupName.suffix(of: name) != nil
            ? nil
            : "its name ends neither in '\(BackupName.suffix)' nor in '\(BackupName.incrementSuffix)', perhaps with '\(BackupName.encryptedEnding)'"
    }

    /// Adds what the log knows of checks to the backups.
    mutating func addChecks(in folder: BackupFolder) throws {
        let memory = folder.memory
        guard let log = memory.log else { return }
        let checks = try log.lastChecks(of: Set(backups.map(\.key.rawValue)))
        let isCopy = backups.copies
        // A deleted file has not been renamed.
        let deleted = memory.catalog.deeds(in: folder.address).trashedNames
        for index in backups.indices {
            try memory.checkCancellation()
            let backup = backups[index]
            guard let found = checks[backup.key.rawValue.exact] else { continue }
            backups[index].checks = CheckHistory(
                of: backup.name,
                backup.size,
                in: folder.address,
                among: found,
                isCopy: { isCopy(backup, $0) || deleted.contains($0.exact) },
                isElsewhere: { memory.catalog.isStillThere(backup.key, $1, in: $0) }
            )
        }
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

extension RemoteFile {
    /// The first bytes of an AppleDouble file (RFC 1740).
    private static let appleDouble: [UInt8] = [0, 5, 0x16, 7]

    /// Whether macOS created the file beside another one, on a file system without extended attributes.
    ///
    /// A remote file is judged by its name alone.
    fileprivate var isAppleDouble: Bool {
        guard name.hasPrefix("._") else { return false }
        guard let location, let file = try? File.open(location) else { return true }
        let start = try? file.readExactly(count: Self.appleDouble.count, at: 0)
        return start == nil || start == Self.appleDouble
    }
}
