internal import Backups
public import ArgumentParser
internal import Files
internal import Operations
public import Stores
internal import SystemPackage

extension CheckLevel: ExpressibleByArgument {}

struct RestoreCommand: FolderCommand {
    /// The options that few restores need.
    struct RareOptions: ParsableArguments {
        @Flag(help: "Restore an archive without stores in place of stores.")
        var allowNoStores = false

        @Flag(
            help:
                "Give files the backup's owners, even if the present data is another user's (as root)."
        )
        var numericOwner = false

        @Flag(help: "Give files their set-user-id and set-group-id bits.")
        var keepSetuid = false

        @Option(
            help: "Wait this long for an archive that is still being copied: 10m.".value("time")
        )
        var wait: WaitTime?
    }

    static let configuration = CommandConfiguration(
        "restore",
        "Restore the stores directory from a backup.",
        discussion: """
            The backup is verified, unpacked beside the stores directory and checked; only then do the \
            two directories change places. If a store does not open then, the old data comes back. The \
            replaced data is backed up first, for '--undo'.

            A backup is named by its file name, its display name, any unique part of it, or 'latest'. On a terminal it \
            may be left out, to choose from a list. 'latest', '--at' and '--undo' look at backups of this stores \
            directory; 'latest' and '--at' take another's if it has none.
            """,
        example: "grocerydude restore latest",
        "grocerydude restore --at '2026-11-22 09:41'",
        "grocerydude restore latest --target /tmp/look",
        "grocerydude restore latest --only photos notes.sqlite",
        "grocerydude restore latest --rows item --where \"name = 'Milk'\""
    )

    @Argument(
        help: "The backup's name, or 'latest'; on a terminal, asked for if it is left out.",
        completion: NameCompletion.backups()
    )
    var name: String?
    @Flag(
        help:
            "Undo the last restore: put back what it replaced, from the safety backup that it made."
    )
    var undo = false

    @Option(
        parsing: .unconditional,
        help:
            "Restore the newest backup that was made by then: '2026-11-22 09:41', 'last tuesday', -3d."
            .value("time"),
        transform: Moment.init
    )
    var at: Moment?

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions
    @OptionGroup(title: HelpSection.further) var rare: RareOptions

    @Option(
        help: "Unpack into a new directory and check there, and touch nothing else.".value("dir"),
        completion: .directory
    )
    var target: String?

    @Flag(
        help: "With '--target': unpack as much of a damaged backup as verifies, and list the rest."
    )
    var salvage = false

    @Option(help: "How stores are checked.")
    var check: CheckLevel?

    @OptionGroup(title: "A part of the backup") var part: PartOptions

    @Flag(help: "Restore damaged stores too.")
    var allowDamaged = false

    @Flag(help: "Go on even if an application has a store open, or keeps the replaced data in use.")
    var force = false

    @Option(
        help:
            "Restore only a backup that this key signed, without asking whether to trust it: SHA256:…."
            .value("fingerprint")
    )
    var signer: String?

    @Flag(help: "Do not back up the data that is replaced.")
    var noSafetyBackup = false

    @Flag(name: [.customShort("n"), .long], help: "Only show what would happen.")
    var dryRun = false

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var yes = false

    /// Dry runs, and restores into another directory, are not logged.
    var logged: Run.Command? { dryRun || target != nil ? nil : .restore }
    var recovery: Recovery { .required }
    var ownFlags: [FlagValue?] {
        [
            FlagValue("--check", "restore.check", check?.rawValue),
            FlagValue(
                "--no-safety-backup",
                "restore.safety_backup",
                noSafetyBackup ? "false" : nil
            ),
        ]
    }

    func validate() throws {
        try refuseEmpty(target, "'--target'")
        guard !undo || name == nil else { throw ValidationError("'--undo' takes no name") }
        if let signer, signer.wholeMatch(of: /SHA256:[A-Za-z0-9+\/]{43}/) == nil {
            throw ValidationError(
                "'--signer' takes a fingerprint as 'grocerydude trust' shows it: SHA256:…"
            )
        }
        guard at == nil || name == nil else { throw ValidationError("'--at' takes no name") }
        guard at == nil || !undo else {
            throw ValidationError("'--at' and '--undo' exclude each other")
        }
        guard !salvage || target != nil && !dryRun else {
            throw ValidationError("'--salvage' goes with '--target', and without '--dry-run'")
        }
        guard !part.isOfRows || target == nil else {
            throw ValidationError("rows come back into the stores directory: leave out '--target'")
        }
        guard part.paths.isEmpty || target == nil else {
            throw ValidationError(
                "'--only' puts files back in the stores directory: to get them elsewhere, run 'grocerydude extract'"
            )
        }
    }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let folder = try invocation.folder()
        guard var backup = try await chosen(in: folder, invocation) else { return .declined }
        backup = try await invocation.context
            .wait(for: backup, in: folder, atMost: rare.wait?.duration ?? .zero)
        if at != nil || undo || name == "latest" {
            let made = backup.time.map { ", made \(invocation.local($0))" } ?? ""
            invocation.context.note("restoring from '\(backup.displayName)'\(made)")
        }
        try refuseUnknown(&backup, invocation)
        try refuseDoubtful(backup, invocation)
        warn(of: backup, invocation)
        var command = self
        try command.part.resolve(invocation)
        if undo, part.paths.isEmpty {
            let replaced = try await invocation.context
                .replacedPaths(before: backup, in: folder)
            // A colon would mean a table.
            command.part.only = replaced.map {
                $0.contains(":") && !$0.hasPrefix("./") ? "./\($0)" : $0
            }
        }
        return try await command.bring(backup, from: folder, invocation)
    }

    private func bring(
        _ backup: Backup,
        from folder: BackupFolder,
        _ invocation: Invocation
    ) async throws -> CommandResult {
        if part.isOfRows {
            let options = options(for: backup, invocation)
            return try await bringRows(of: backup, in: folder, options, invocation)
        }
        do {
            let restore = RestoreBackup(
                from: folder,
                options: options(for: backup, invocation),
                context: invocation.context,
                fileSystem: invocation.fileSystem
            )
            return try await bring(backup, by: restore, invocation)
        } catch RestoreError.declined {
            return .declined
        }
    }

    /// Shows what a restore changes, asks whether to make it, and makes it.
    private func bring(
        _ backup: Backup,
        by restore: RestoreBackup,
        _ invocation: Invocation
    ) async throws -> CommandResult {
        // For a remote archive, too much would have to be fetched before the question.
        let isShown =
            target == nil && backup.isOnThisMachine
            && (dryRun || undo || !yes && invocation.console.canAsk)
        let shown =
            isShown
            ? try await restore.plan(backup, to: invocation.stores, comparing: true) : nil
        if undo, !part.paths.isEmpty, shown?.preview?.changesNothing == true {
            throw CommandError.notChangedByRestore(part.paths, safety: backup.displayName)
        }
        if !dryRun, !invocation.console.style.json {
            shown?.preview?.lines.forEach(invocation.console.message)
        }
        let isAgreed = yes || target != nil || dryRun
        guard try invocation.confirm(question(of: backup, invocation), yes: isAgreed) else {
            return .declined
        }
        let outcome =
            if let target, salvage {
                try await restore.salvage(backup, to: FilePath(target))
            } else if let target {
                try await restore.extract(backup, to: FilePath(target))
            } else if let shown {
                try await restore.run(shown)
            } else {
                try await restore.run(restore.plan(backup, to: invocation.stores))
            }
        var answer = RestoreAnswer(outcome: outcome, isDryRun: dryRun, invocation: invocation)
        answer.preview = shown?.preview
        try invocation.console.answer(answer)
        let result = CommandResult(
            of: outcome.backup,
            bytes: outcome.bytes,
            problems: outcome.problems,
            safety: outcome.safetyBackup
        )
        guard outcome.isApplicationStarted else {
            return result.with(.partial, "the application was not started")
        }
        return outcome.isAnnounced
            ? result : result.with(.partial, "the application was not notified of the restore")
    }

    /// Refuses the newest backup if it has no trusted signature and nobody can agree.
    ///
    /// A machine without trusted keys continues, and reports whose backup it restores.
    private func refuseUnknown(_ backup: inout Backup, _ invocation: Invocation) throws {
        // If a signer is named, the archive is checked after it is opened.
        guard signer == nil, let reason = backup.distrust else { return }
        let isNamed = name != nil && name != "latest"
        // If keys cannot be read, it is unknown whom this machine trusts.
        guard !isNamed, yes, target == nil, !dryRun, !invocation.knowsNobody else { return }
        // A backup without a known signature may be damaged, so it is opened first.
        guard !backup.isAnonymous else { return backup.requireTrust() }
        throw CommandError.notTrusted(
            backup.displayName,
            reason: reason.description,
            origin: backup.signerKey == nil ? nil : backup.originName
        )
    }

    /// Refuses to replace data by the newest backup if that is known to lack data, and nobody is asked.
    private func refuseDoubtful(_ backup: Backup, _ invocation: Invocation) throws {
        let isNamed = name != nil && name != "latest"
        guard !isNamed, !undo, yes, !allowDamaged, target == nil, !dryRun,
            try FileInfo.ifPresent(invocation.stores) != nil,
            let reason = doubts(about: backup).first
        else { return }
        throw CommandError.doubtful(
            backup.displayName,
            reason: reason,
            isDamaged: backup.trouble == .damaged
        )
    }

    /// Returns what a backup is known to lack.
    private func doubts(about backup: Backup) -> [String] {
        [
            backup.trouble.map { "\($0.rawValue) (\(backup.damage ?? ""))" },
            backup.isPartial ? "was made in part only" : nil,
            backup.isAnomalous ? "has much less in it than the backup before it" : nil,
        ].compactMap(\.self)
    }

    /// Returns all warnings about a backup, for a question.
    private func remarks(on backup: Backup, _ invocation: Invocation) -> String {
        let remarks =
            [
                signer == nil ? backup.distrust.map { "but \($0)" } : nil,
                invocation.origin.isOther(than: backup)
                    ? "a backup of another machine or of another stores directory" : nil,
            ].compactMap(\.self) + doubts(about: backup).map { "which \($0)" }
        return remarks.isEmpty ? "" : ", " + remarks.joined(separator: ", ")
    }

    private func question(of backup: Backup, _ invocation: Invocation) -> String {
        let from = "Restore from '\(backup.displayName)'\(remarks(on: backup, invocation))?"
        let place = "'\(invocation.stores.string)'"
        guard let first = part.paths.first else {
            return "\(from) It replaces the data in \(place)."
        }
        let rest = part.paths.count == 1 ? "" : " and \(part.paths.count - 1) more"
        return "\(from) It replaces '\(first)'\(rest) in \(place), and nothing else."
    }

    /// Returns the wanted backup; `nil` if none was chosen.
    private func chosen(
        in folder: BackupFolder,
        _ invocation: Invocation
    ) async throws -> Backup? {
        let isUnasked = yes && target == nil && !dryRun && !allowDamaged
        let choice = BackupChoice(in: folder, invocation, isUnasked: isUnasked)
        if undo { return try await choice.toUndo() }
        if let at { return try await choice.made(by: at) }
        return try await choice.named(name)
    }

    /// Brings rows back into a store that may be in use.
    private func bringRows(
        of backup: Backup,
        in folder: BackupFolder,
        _ restore: RestoreBackup.Options,
        _ invocation: Invocation
    ) async throws -> CommandResult {
        let (store, table) = part.place
        var options = ReturnRows.Options(table: table, restore: restore)
        options.store = store
        options.condition = part.condition
        options.onConflict = part.onConflict ?? .fail
        options.isDryRun = true
        func run() async throws -> ReturnRows.Outcome {
            do {
                return try await ReturnRows(
                    from: folder,
                    options: options,
                    context: invocation.context
                ).run(backup, into: invocation.stores)
            } catch let error as LookingError {
                guard let name = part.table,
                    await backup.has(name, in: folder, invocation.context)
                else { throw error }
                throw CommandError.meansFile(name)
            }
        }
        if !dryRun {
            if !yes, invocation.console.canAsk {
                let rows = RowsAnswer(outcome: try await run(), isDryRun: true)
                invocation.console.message(rows.line)
                rows.lossLine.map(invocation.console.message)
            }
            let from = "'\(backup.displayName)'\(remarks(on: backup, invocation))"
            let question =
                "Bring these rows back from \(from) into '\(invocation.stores.string)'?"
            guard try invocation.confirm(question, yes: yes) else { return .declined }
            options.isDryRun = false
        }
        let outcome = try await run()
        try invocation.console.answer(RowsAnswer(outcome: outcome, isDryRun: dryRun))
        // An undo passes over a run that changed nothing.
        return CommandResult(
            of: outcome.isChange ? outcome.backup : nil,
            problems: outcome.problems,
            safety: outcome.safetyBackup
        )
    }

    /// Warns if the user may have meant another backup.
    private func warn(of backup: Backup, _ invocation: Invocation) {
        if let warning = backup.futureWarning(at: invocation.now) {
            invocation.context.warn(warning)
        }
        // A restore of files reports it after its archive is opened.
        if part.isOfRows, invocation.origin.isOther(than: backup) {
            invocation.context.warn(ofAnother: backup.displayName, backup.originName)
        }
        if signer == nil, let reason = backup.distrust {
            invocation.context.warn("'\(backup.displayName)' is not trusted: \(reason)")
        }
        if let damage = backup.damage, let trouble = backup.trouble {
            let name = backup.displayName
            invocation.context.warn("'\(name)' \(trouble.rawValue): \(damage)")
        }
        if backup.isAnomalous {
            invocation.context.warn(
                "'\(backup.displayName)' has much less in it than the backup before it: 'grocerydude list' shows the others"
            )
        }
        if backup.isPartial {
            invocation.context.warn(
                "'\(backup.displayName)' was made in part only: \(Advice.quoted(Advice.command("show", backup.displayName))) shows what is missing"
            )
        }
    }

    /// Returns whether a backup may replace data although it has much less of it.
    private func accepts(_ loss: String, _ invocation: Invocation) throws -> Bool {
        guard yes else {
            return try invocation.confirm("\(loss). Restore it anyway?", yes: false)
        }
        invocation.context.warn(loss)
        return true
    }

    private func options(
        for backup: Backup,
        _ invocation: Invocation
    ) -> RestoreBackup.Options {
        var options = RestoreBackup.Options(
            backup: CreateBackup.Options(date: invocation.now, tool: invocation.tool)
        )
        options.check = invocation.profile.restore.level
        options.isStrict = invocation.profile.isStrict
        options.allowsDamage = allowDamaged
        options.allowsNoStores = rare.allowNoStores
        options.stripsComponents = invocation.profile.restore.stripsComponents
        options.setsAsideLeftovers = invocation.profile.restore.setsAsideLeftovers
        options.acceptsLoss = { try accepts($0, invocation) }
        options.force = force
        options.takesOwnerNumbers = rare.numericOwner
        options.keepsSetID = rare.keepSetuid
        options.signer = signer
        options.makesSafetyBackup = invocation.profile.restore.makesSafetyBackup
        options.isDryRun = dryRun
        options.only = part.paths
        options.externalFiles = invocation.profile.externalFiles
        options.isUndo = undo
        options.limits = invocation.profile.limits
        options.application = invocation.applicationCommands
        options.announcement = invocation.announcement
        options.sidecars = SyncInputs.sidecars
        // If its folder is unreachable, the safety backup has to wait too.
        options.backup.queues = invocation.profile.queues || backup.isWaiting
        return options
    }
}

extension Backup {
    /// Returns whether it has a file or a directory of the given name and can be read.
    fileprivate func has(
        _ name: String,
        in folder: BackupFolder,
        _ context: OperationContext
    ) async -> Bool {
        let opened = try? await OpenedBackup(self, in: folder, context: context)
        return await (try? opened?.look { try $0.has(name) }) ?? false
    }
}
