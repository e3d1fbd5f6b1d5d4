internal import Archives
internal import Backups
internal import Files
internal import Remotes
internal import Stores

extension CreateBackup {
    /// Throws if the archive would not fit where it is made, which is better told before the work.
    ///
    /// Its size is not known beforehand: it is about that of the newest backup. Of a first one nothing
    /// says how far it shrinks, and it is refused only if a quarter of the data would not fit.
    func checkSpace(for survey: StoresDirectory.Survey, after backups: [Backup]) throws {
        let newest = backups.newestGood(at: options.date)
        let needed =
            options.compression == .none
            ? survey.size : min(survey.size, newest?.size ?? survey.size / 4)
        let available = try Directory.open(archives.workplace).availableSpace()
        guard needed <= available else {
            throw OperationError.noSpace(archives.workplace, needed: needed, available: available)
        }
    }

    /// Returns the folder if the archive is to be uploaded while it is made, and it can take it so.
    func streamingFolder() async throws -> (any StreamingFolder)? {
        guard options.streams, let remote = folder.remote as? any StreamingFolder else {
            return nil
        }
        if try await remote.takesStreams() { return remote }
        context.note(
            "'\(folder.address)' takes no file while it is made: the archive is made on this machine first"
        )
        return nil
    }
}
