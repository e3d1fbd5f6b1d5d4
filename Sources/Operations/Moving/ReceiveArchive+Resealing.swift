internal import Age
internal import Backups
internal import Files
internal import Remotes
internal import SystemPackage

extension ReceiveArchive {
    /// Runs `body` with a parcel that is encrypted again, or with the parcel as it is if no recipients are given.
    ///
    /// The parcel's archive stays the same; its file is a new one, which is removed afterwards.
    ///
    /// - Parameters:
    ///   - parcel: an archive that was opened, and is complete.
    ///   - name: its file name.
    ///   - recipients: the new recipients; `nil` to keep the file as it is.
    ///   - body: takes the parcel, with its file name and its size.
    /// - Returns: the result of `body`.
    /// - Throws: `AgeError`, `FileError`; errors of `body`.
    func resealing<Result>(
        _ parcel: Parcel,
        named name: String,
        for recipients: [Recipient]?,
        _ body: (Parcel, RemoteFile) async throws -> Result
    ) async throws -> Result {
        guard let recipients else {
            return try await body(
                parcel,
                RemoteFile(name: name, size: FileInfo(of: parcel.path).size)
            )
        }
        if let sealed = parcel.sealed { throw sealed }
        let path = folder.staging.appending(PartialName.make())
        defer { try? LocalFileSystem().remove(path) }
        let source = try folder.keys.opened(File.open(parcel.path), name: name)
        let size = try context.encrypt(source, for: recipients, to: path)
        let ending = BackupName.isEncrypted(name) ? "" : BackupName.encryptedEnding
        var sealed = parcel
        sealed.path = path
        return try await body(
            sealed,
            RemoteFile(name: BackupName.fitting(name + ending), size: size)
        )
    }

    /// Remembers for whom a backup was encrypted again.
    func remember(_ recipients: [Recipient], of outcome: Outcome) {
        folder.memory.catalog.remember(recipients, of: outcome.backup.name, in: folder.address)
    }
}
