internal import Backups
internal import Files
internal import Remotes
internal import Stores

extension BackupFolder {
    /// Throws if an archive would not fit in the place where it is made, before the work starts.
    ///
    /// Its size is not known beforehand, and is estimated as that of the newest backup. For a first backup, the
    /// compression is unknown: it is refused only if a quarter of the data would not fit. Holes take almost no space.
    func checkSpace(
        for survey: StoresDirectory.Survey,
        isCompressed: Bool,
        after newest: Backup?
    ) throws {
        let needed =
            isCompressed
            ? min(survey.allocated, newest?.size ?? survey.allocated / 4) : survey.allocated
        let available = try Directory.open(workplace).availableSpace()
        guard needed <= available else {
            throw OperationError.noSpace(workplace, needed: needed, available: available)
        }
    }

    /// Returns the folder if it accepts archives as streams; reports if it does not.
    func streamingFolder(_ context: OperationContext) async throws -> (any StreamingFolder)? {
        guard let remote = remote.streams else { return nil }
        if try await remote.takesStreams() { return remote }
        context.note(
            "'\(address)' takes no file while it is made: the archive is made on this machine first"
        )
        return nil
    }
}
