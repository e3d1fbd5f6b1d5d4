internal import ArgumentParser
internal import Backups
internal import Operations

struct CopyCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "copy",
        "Copy backups to another remote folder.",
        discussion: """
            Each is verified, and read back if the other folder is not on this machine. Identities, tags, \
            notes and pins go along; a backup that is there already is passed over. A damaged one is not \
            copied, since the copy would pass for a good one.
            """,
        example: "grocerydude copy --all --to /mnt/nas/backups",
        "grocerydude copy latest --to 'rclone:dropbox:Apps/Grocery Dude'"
    )

    @Argument(help: "Names of backups, unique parts of them, or 'latest'.")
    var names: [String] = []

    @Flag(help: "Copy all backups.")
    var all = false

    @Option(
        name: .customLong("to"),
        help: ArgumentHelp(
            "The folder to copy to: a directory, or 'rclone:REMOTE:PATH'.",
            valueName: "folder"
        ),
        completion: .directory
    )
    var target: String

    @OptionGroup var recipients: RecipientOptions
    @OptionGroup(title: HelpSection.further) var sameName: SameNameOptions

    @Flag(help: "Copy damaged backups too; they stay marked as damaged.")
    var allowDamaged = false

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    var ownFlags: [FlagValue?] { recipients.flags }

    func validate() throws {
        guard all != !names.isEmpty else {
            throw ValidationError("name the backups to copy, or add '--all' for all of them")
        }
    }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let (source, target) = try (invocation.folder(), invocation.folder(at: target))
        var options = CopyBackups.Options(date: invocation.now)
        options.sameName = sameName.sameName
        options.allowsDamage = allowDamaged
        // The profile's recipients are for its own folder.
        if !recipients.recipient.isEmpty { options.recipients = try source.keys.recipients() }
        let names = try await BackupChoice(in: source, invocation).naming(names)
        let outcome = try await CopyBackups(
            from: source,
            to: target,
            options: options,
            context: invocation.context
        ).run(all ? nil : names)
        if let failure = outcome.failure, outcome.items.count == 1 { throw failure }
        try invocation.console.answer(
            CopyAnswer(outcome, from: source.address, to: target.address)
        )
        tellOfOtherKeys(outcome, invocation)
        let result = CommandResult(problems: outcome.problems)
        guard let failure = outcome.failure else { return result }
        return result.with(ExitStatus(failure), result.message)
    }

    /// Reports that existing copies may have other recipients than the given ones.
    private func tellOfOtherKeys(_ outcome: CopyBackups.Outcome, _ invocation: Invocation) {
        guard !recipients.recipient.isEmpty else { return }
        let sealed = outcome.items.filter { $0.wasThere && $0.copy?.isEncrypted == true }
        guard let first = sealed.first?.copy else { return }
        let others = sealed.count > 1 ? " and \(sealed.count - 1) more were" : " was"
        invocation.console.message(
            "'\(first.displayName)'\(others) there already, perhaps for other keys: see 'grocerydude key check'"
        )
    }
}
