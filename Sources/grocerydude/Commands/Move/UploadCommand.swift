internal import ArgumentParser
internal import Operations

struct UploadCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "upload",
        "Send the backups that wait on this machine, the oldest first.",
        discussion: """
            The setting 'queue' keeps a backup here if the remote folder cannot be reached. The next backup \
            sends what waits, too.
            """,
        example: "grocerydude upload --profile photos"
    )

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let outcome = try await UploadBackups(
            to: invocation.folder(),
            context: invocation.context
        ).run(at: invocation.now)
        return try invocation.answer(
            UploadAnswer(outcome, invocation),
            problems: outcome.problems
        )
    }
}
