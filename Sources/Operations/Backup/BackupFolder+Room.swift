internal import Backups
internal import Files
internal import Remotes
internal import Stores

extension BackupFolder {
    /// Throws if an archive would not fit where it is made, which is better told before the work.
    ///
    /// Its size is not known beforehand: it is about that of the newest backup. Of a first one nothing
    /// says how far it shrinks, and it is refused only if a quarter of the data would not fit.
    func checkSpace(
        for survey: StoresDirectory.Survey,
        isCompressed: Bool,
        after newest: Backup?
    ) throws {
        let needed =
            isCompressed ? min(survey.size, newest?.size ?? survey.size / 4) : survey.size
        let available = try Directory.open(workplace).availableSpace()
        guard needed <= available else {
            throw OperationError.noSpace(workplace, needed: needed, available: available)
        }
    }

    /// Returns the folder if it can take an archive while that is made, and tells if it cannot.
    func streamingFolder(_ context: OperationContext) async throws -> (any StreamingFolder)? {
        guard let remote = remote as? any StreamingFolder else { return nil }
        if try await remote.takesStreams() { return remote }
        context.note(
            "'\(address)' takes no file while it is made: the archive is made on this machine first"
        )
        return nil
    }
}
