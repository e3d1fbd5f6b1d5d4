internal import Age
internal import Backups
internal import Files
internal import Remotes
internal import SystemPackage

extension ReceiveArchive {
    /// Runs `body` with a parcel that is encrypted anew, or as it is if nobody wants that.
    ///
    /// Its archive stays what it is; its file is another one, which goes afterwards.
    ///
    /// - Parameters:
    ///   - parcel: an archive that was opened and is whole.
    ///   - name: its file name.
    ///   - recipients: those who may read it then; `nil` to take it as it is.
    ///   - body: takes it, with its file name and its size.
    /// - Returns: what `body` returns.
    /// - Throws: `AgeError`, `FileError`; what `body` throws.
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
        return try await body(sealed, RemoteFile(name: name + ending, size: size))
    }
}
