public import ArgumentParser
public import Backups
internal import Files
internal import Foundation
internal import Operations

extension SubsetChoice: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(argument)
    }
}

struct CheckCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "check",
        "Check that backups are whole.",
        discussion: """
            Reads each archive's structure and compares all of its data with the SHA-256 of each piece. \
            With '--restore' it is restored into a temporary directory, and SQLite checks every store in full. \
            Without names, the newest backup is checked. Damage gives exit code 20. 'next/7' reads \
            the seventh that was read longest ago, so that seven runs read all. '--quick' compares the \
            remote's hash with that of the upload, or the sizes if the remote has no hash. If neither is \
            known, the backup is not checked, and the exit code is 3.
            """,
        example: "grocerydude check --all --read-data-subset next/7"
    )

    @Argument(
        help: "Names of backups, unique parts of them, or 'latest'.",
        completion: NameCompletion.backups()
    )
    var names: [String] = []

    @Flag(help: "Check all backups.")
    var all = false

    @Flag(help: "Rehearse a restore, and have SQLite check every store in full.")
    var restore = false

    @Option(
        help:
            "Read only a part of the data: 10% of it at random, the first seventh (1/7), or the next one (next/7)."
            .value("subset")
    )
    var readDataSubset: SubsetChoice?

    @Flag(help: "Fetch nothing: compare with the hash or the size that was uploaded.")
    var quick = false

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    func validate() throws {
        guard !all || names.isEmpty else {
            throw ValidationError("'--all' and names of backups exclude each other")
        }
        guard !restore || readDataSubset == nil else {
            throw ValidationError("'--restore' reads all data: leave out '--read-data-subset'")
        }
        guard !quick || !restore && readDataSubset == nil else {
            throw ValidationError("'--quick' reads no data: give it alone")
        }
    }

    var logged: Run.Command? { .check }
    var ownFlags: [FlagValue?] {
        [
            FlagValue("--all", "check.all", all ? "true" : nil),
            FlagValue("--restore", "check.restore", restore ? "true" : nil),
            FlagValue("--read-data-subset", "check.read_data_subset", readDataSubset?.description),
        ]
    }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let folder = try invocation.folder()
        let checks = CheckBackups(
            in: folder,
            options: options(invocation),
            context: invocation.context
        )
        let (backups, away) = try await checks.all()
        // Named backups were all found.
        let unreachable = isOfAll(invocation) ? away : nil
        var results: [CheckBackups.Result] = []
        if quick {
            let wanted = try await wanted(of: backups, in: folder, checks, invocation)
            results = try await checks.compare(wanted, at: invocation.now)
            let form = CheckRow.Form(of: wanted, isQuick: true)
            try show(results, in: form, invocation)
            return result(of: results, unreachable, invocation)
        }
        let choice = invocation.profile.check.readDataSubset
        var wanted = try await wanted(of: backups, in: folder, checks, invocation)
        if choice != nil, names.isEmpty { wanted = checks.mostNeededFirst(wanted) }
        let form = CheckRow.Form(of: wanted)
        if let header = form.header, !output.json { invocation.console.done(header) }
        for backup in wanted {
            let result = try await checks.run(
                backup,
                reading: choice?.subset(after: backup.checks) ?? .all,
                at: invocation.now
            )
            results.append(result)
            guard !output.json else { continue }
            try show([result], in: form, invocation)
        }
        if output.json { try show(results, in: form, invocation) }
        return result(of: results, unreachable, invocation)
    }

    /// Returns whether to check all backups.
    private func isOfAll(_ invocation: Invocation) -> Bool {
        invocation.profile.check.all && names.isEmpty
    }

    /// Returns whether to rehearse a restore.
    ///
    /// A subset from the command line overrides the profile.
    private func restores(_ profile: Profile) -> Bool {
        profile.check.restores && readDataSubset == nil && !quick
    }

    private func wanted(
        of backups: [Backup],
        in folder: BackupFolder,
        _ checks: CheckBackups,
        _ invocation: Invocation
    ) async throws -> [Backup] {
        if isOfAll(invocation) { return backups }
        let all = names.isEmpty ? ["latest"] : names
        return try await checks.find(
            BackupChoice(in: folder, invocation).naming(all, andUnreadable: true),
            in: backups,
            now: invocation.now
        )
    }

    private func options(_ invocation: Invocation) -> CheckBackups.Options {
        var options = CheckBackups.Options()
        options.restores = restores(invocation.profile)
        options.isStrict = invocation.profile.isStrict
        return options
    }

    /// Returns the worst result: damage, then a folder whose backups are unknown, then a backup that could not be
    /// checked.
    private func result(
        of results: [CheckBackups.Result],
        _ unreachable: (any Error)?,
        _ invocation: Invocation
    ) -> CommandResult {
        if let bad = results.first(where: { !$0.damage.isEmpty }) {
            let message = "'\(bad.backup.displayName)': \(bad.damage[0])"
            return CommandResult(.damaged, of: bad.backup, message: message)
        }
        let result = CommandResult(.done, of: results.count == 1 ? results[0].backup : nil)
        if let unreachable { return invocation.failure(unreachable, after: result) }
        let unchecked = results.count { !$0.isGood && $0.failure == nil }
        if unchecked > 0 {
            let message = "\(counted(unchecked, "backup was", "backups were")) not checked"
            return result.with(.partial, message)
        }
        guard let failure = results.compactMap(\.failure).first else { return result }
        return invocation.failure(failure, after: result)
    }

    private func show(
        _ results: [CheckBackups.Result],
        in form: CheckRow.Form,
        _ invocation: Invocation
    ) throws {
        try invocation.console.answer(
            results.map { CheckRow(result: $0, form: form, invocation: invocation) }
        )
    }
}
