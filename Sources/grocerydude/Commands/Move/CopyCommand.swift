internal import ArgumentParser
internal import Backups
internal import Files
internal import Operations
internal import Remotes
internal import SystemPackage

struct CopyCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "copy",
        "Copy backups to another remote folder, or one to a file, or send those that wait here.",
        discussion: """
            Each is verified, and read back if the other folder is not on this machine. Identities, tags, \
            notes and pins go along; a backup that is there already is passed over. A damaged one is not \
            copied, since the copy would pass for a good one.

            A file's name ends in '.zip' or '.zip.age'; any program for zips opens it. The backups that an \
            increment is built on are put beside it. Nothing is overwritten.

            The setting 'queue' keeps a backup here if the folder cannot be reached. '--waiting' sends these to \
            their own folder, the oldest first, as the next backup does.
            """,
        example: "grocerydude copy --all --to /mnt/nas/backups",
        "grocerydude copy latest --to 'rclone:dropbox:Apps/Grocery Dude'",
        "grocerydude copy latest --to /media/usb/Stores.zip",
        "grocerydude copy --waiting --profile photos"
    )

    @Argument(
        help: "Names of backups, unique parts of them, or 'latest'.",
        completion: NameCompletion.backups()
    )
    var names: [String] = []

    @Flag(help: "Copy all backups.")
    var all = false

    @Flag(help: "Send the backups that wait on this machine to their folder.")
    var waiting = false

    @Option(
        name: .customLong("to"),
        help:
            "The folder to copy to, a directory or 'rclone:REMOTE:PATH'; or the file, for one backup."
            .value("folder"),
        completion: .directory
    )
    var target: String?

    @OptionGroup var recipients: RecipientOptions
    @OptionGroup(title: HelpSection.further) var sameName: SameNameOptions

    @Flag(help: "Copy damaged backups too; they stay marked as damaged.")
    var allowDamaged = false

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    var ownFlags: [FlagValue?] { recipients.flags }

    func validate() throws {
        try refuseEmpty(target, "'--to'")
        guard [all, waiting, !names.isEmpty].count(where: \.self) == 1 else {
            throw ValidationError(
                "name the backups to copy, or add '--all' for all of them, or '--waiting'"
            )
        }
        guard waiting != (target != nil) else {
            throw ValidationError(
                waiting
                    ? "'--waiting' and '--to' exclude each other: a backup waits for its own folder"
                    : "Missing expected argument '--to <folder>'"
            )
        }
    }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        guard let target else { return try await sendWaiting(invocation) }
        if let file = try file(target, invocation) { return try await copy(to: file, invocation) }
        return try await copy(to: target, invocation)
    }

    private func sendWaiting(_ invocation: Invocation) async throws -> CommandResult {
        let outcome = try await UploadBackups(
            to: invocation.folder(),
            context: invocation.context
        ).run(at: invocation.now)
        return try invocation.answer(
            UploadAnswer(outcome: outcome, invocation: invocation),
            problems: outcome.problems
        )
    }

    /// Returns the path of the file that a target names; `nil` for a folder.
    private func file(_ target: String, _ invocation: Invocation) throws -> FilePath? {
        guard case .directory(let name) = try RemoteAddress(written: target),
            name.hasSuffix(".zip") || name.hasSuffix(".zip.age")
        else { return nil }
        let path = invocation.absolute(FilePath(name))
        return try FileInfo.ifPresent(path)?.kind == .directory ? nil : path
    }

    private func copy(to file: FilePath, _ invocation: Invocation) async throws -> CommandResult {
        guard names.count == 1 else {
            throw UsageError(
                "'\(printable(file))' is a file, and takes one backup",
                hint: "name a directory after '--to' for several"
            )
        }
        guard !file.resolvedIfPresent.starts(with: invocation.stores.resolvedIfPresent) else {
            throw OperationError.remoteInsideStores(printable(file), invocation.stores)
        }
        guard recipients.recipient.isEmpty else {
            throw UsageError(
                "'--recipient' is for copies in a directory, and '\(printable(file))' is a file",
                hint: "name a directory after '--to'"
            )
        }
        let folder = try invocation.folder()
        let backup = try await BackupChoice(in: folder, invocation).find(names[0])
        guard BackupName.isEncrypted(file.lastComponent?.string ?? "") == backup.isEncrypted else {
            throw UsageError(
                "'\(backup.displayName)' is \(backup.isEncrypted ? "encrypted" : "not encrypted"), and '\(printable(file))' says otherwise",
                hint: "end the name with '\(backup.isEncrypted ? ".zip.age" : ".zip")'"
            )
        }
        let outcome = try await FetchBackup(
            from: folder,
            allowsDamage: allowDamaged,
            at: invocation.now,
            context: invocation.context
        ).run(backup, to: file)
        return try invocation.answer(FetchAnswer(outcome: outcome), problems: outcome.problems)
    }

    private func copy(to target: String, _ invocation: Invocation) async throws -> CommandResult {
        let (source, target) = try (invocation.folder(), invocation.folder(at: target))
        try await invocation.context.refuse(target, in: invocation.stores)
        var options = CopyBackups.Options(date: invocation.now)
        options.sameName = sameName.sameName
        options.allowsDamage = allowDamaged
        // The profile's recipients are for its own folder.
        if !recipients.recipient.isEmpty {
            options.recipients = try source.keys.recipients()
            guard options.recipients != nil else {
                throw UsageError(
                    "'--recipient none' does not decrypt copies",
                    hint: "restore the backup, and make a new one with '--recipient none'"
                )
            }
        }
        let names = try await BackupChoice(in: source, invocation).naming(names)
        let outcome = try await CopyBackups(
            from: source,
            to: target,
            options: options,
            context: invocation.context
        ).run(all ? nil : names)
        if let failure = outcome.failure, outcome.items.count == 1 { throw failure }
        try invocation.console.answer(
            CopyAnswer(outcome: outcome, from: source.address, to: target.address)
        )
        reportOtherKeys(outcome, invocation)
        let result = CommandResult(problems: outcome.problems)
        guard let failure = outcome.failure else { return result }
        return result.with(ExitStatus(failure), result.message)
    }

    /// Reports that existing copies may have other recipients than the given ones.
    private func reportOtherKeys(_ outcome: CopyBackups.Outcome, _ invocation: Invocation) {
        guard !recipients.recipient.isEmpty else { return }
        let sealed = outcome.items.filter { $0.wasThere && $0.copy?.isEncrypted == true }
        guard let first = sealed.first?.copy else { return }
        let others = sealed.count > 1 ? " and \(sealed.count - 1) more were" : " was"
        invocation.console.message(
            "'\(first.displayName)'\(others) there already, perhaps for other keys: see 'grocerydude key check'"
        )
    }
}
