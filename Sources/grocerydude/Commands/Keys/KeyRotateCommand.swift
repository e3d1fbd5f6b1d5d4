internal import Age
internal import ArgumentParser
internal import Backups
internal import Files
internal import Operations

struct KeyRotateCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "rotate",
        "Encrypt all encrypted backups anew, for other recipients.",
        discussion: """
            Each is verified, encrypted with a new file key, and takes the name of the old one, which moves to \
            the trash. What the keys at hand do not open is passed over, so that a run that was interrupted \
            goes on; if they open nothing, the exit code is 12. Who has the old key and an old copy can read \
            that for ever.
            """,
        example: "grocerydude key rotate --identity old.txt --recipient age1…"
    )

    @OptionGroup var recipients: RecipientOptions
    @OptionGroup var folder: FolderOptions

    var ownFlags: [FlagValue?] { recipients.flags }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let rotate = try RotateKeys(in: invocation.folder(), context: invocation.context)
        let outcome = try await rotate.run(at: invocation.now)
        try invocation.console.answer(outcome.items.map { KeyRotateRow($0) })
        let result = CommandResult(problems: outcome.problems)
        if let failure = outcome.missingKey { return invocation.failure(failure, after: result) }
        // What the keys at hand do not open was passed over.
        let failed = outcome.items.filter { ($0.failure as? AgeError)?.isOfKeys != true }
        guard let item = failed.first(where: { $0.failure != nil }), let failure = item.failure
        else { return result }
        let isPartial = outcome.items.contains { $0.rotated != nil }
        guard isPartial || ExitStatus(failure) == .partial else {
            return invocation.failure(failure, after: result)
        }
        let reason = "'\(item.backup.name)' was not encrypted anew: \(explain(failure))"
        return invocation.failure(reason, .partial, after: result)
    }
}
