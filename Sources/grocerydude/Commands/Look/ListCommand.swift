internal import ArgumentParser
internal import Backups
internal import Files
internal import Operations
internal import Remotes

struct ListCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "list",
        "List the backups, newest first.",
        discussion: """
            A backup's time is that of its manifest, else that of its name, else that of its file. The file's \
            time is marked, since a copy of an old archive has a new file. Such a backup is 'latest' only if \
            there is no other, and no policy counts or removes it.

            With '--watch', Ctrl-C ends it with exit code 130.
            """,
        example: "grocerydude list --remote /mnt/nas/backups",
        "grocerydude list --since 7d --tag before-upgrade",
        "grocerydude list --contains photos/map.jpg",
        "grocerydude list --growth"
    )

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions
    @OptionGroup var selection: SelectionOptions

    @Option(help: "Only backups with a file or a directory at this path.".value("path"))
    var contains: String?

    @Flag(help: "List the deleted backups that can come back.")
    var trash = false

    @Flag(
        help: "Sum the backups up: by month, store and table, and how much one more year will take."
    )
    var growth = false

    @OptionGroup var watch: WatchOptions

    func validate() throws {
        guard !trash || selection.isPlain && contains == nil && !growth else {
            throw ValidationError(
                "'--trash' goes with none of '--since', '--tag', '--contains' and '--growth'"
            )
        }
    }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        if watch.isOn { return try await SightWatch(invocation).run(look) }
        let sight = try await look(invocation)
        if let opening = sight.opening { invocation.console.message(opening) }
        try invocation.console.answer(sight.answer)
        for remark in sight.remarks { invocation.context.report(remark) }
        if let error = sight.unreachable { throw error }
        return CommandResult(problems: sight.problems)
    }

    private func look(_ invocation: Invocation) async throws -> Sight {
        let folder = try invocation.folder()
        if trash {
            let trashed = try await folder.trashed()
            return Sight(answer: trashed.map { TrashRow(backup: $0, invocation: invocation) })
        }
        async let account = self.account(of: folder, invocation)
        let (outcome, unreachable) = try await folder.listWithWaiting()
        var selection = selection.selection(invocation)
        selection.origin = stores.origin
        let all = BackupSelection()(outcome.backups.withoutReplaced)
        var backups = selection(all)
        var problems: [Problem] = []
        if let contains = try contains.map(invocation.inStores) {
            (backups, problems) = try await invocation.context
                .backups(containing: contains, in: folder, among: backups)
        }
        var sight = Sight(
            answer: growth
                ? sums(of: backups, in: folder, invocation)
                : BackupRow.rows(backups, among: all, invocation)
        )
        sight.opening = try await opening(
            outcome,
            of: account,
            isReached: unreachable == nil,
            usedBy: try? LockHolder.of(folder.staging),
            invocation
        )
        (sight.unreachable, sight.problems) = (unreachable, problems)
        sight.remarks = problems.map { .problem($0) }
        let loss = unreachable == nil ? await folder.losses.warning(beside: outcome.backups) : nil
        if let loss { sight.remarks.append(.warning(loss)) }
        // A backup that could not be inspected may match.
        if backups.isEmpty, problems.isEmpty, loss == nil {
            let none =
                outcome.backups.isEmpty ? "there are no backups yet" : "no backup matches"
            sight.remarks.append(.note(none))
        }
        sight.remarks += remarks(on: outcome)
        return sight
    }

    /// Sums backups up; trends and the estimate are of the own ones, or else of the newest one's origin.
    private func sums(
        of backups: [Backup],
        in folder: BackupFolder,
        _ invocation: Invocation
    ) -> GrowthAnswer {
        var own = folder.own(backups)
        if own.isEmpty || stores.origin != nil {
            own = backups.filter { $0.originName?.exact == backups.first?.originName?.exact }
        }
        let isPruned = invocation.isInProfilesPlaces && !invocation.profile.retention.isEmpty
        return GrowthAnswer(
            growth: FolderGrowth(
                of: backups,
                own: own,
                isPruned: isPruned,
                now: invocation.now,
                in: invocation.timeZone
            ),
            invocation: invocation
        )
    }
}

extension ListCommand {
    /// Returns the line about the folder before its list, which only people get.
    private func opening(
        _ listing: BackupFolder.Listing,
        of account: String?,
        isReached: Bool,
        usedBy holder: LockHolder?,
        _ invocation: Invocation
    ) -> String? {
        guard !output.json else { return nil }
        var facts = FolderFacts()
        facts.account = account
        let waiting = listing.backups.count(where: \.isWaiting)
        return LinkState.line(
            facts,
            isReached: isReached,
            waiting: waiting,
            usedBy: holder,
            invocation
        )
    }

    private func remarks(on listing: BackupFolder.Listing) -> [OperationEvent] {
        var remarks: [OperationEvent] = []
        if let error = listing.annotationsError { remarks.append(.warning(explain(error))) }
        if let warning = listing.signersWarning { remarks.append(.warning(warning)) }
        remarks += listing.warnings.map(OperationEvent.warning)
        guard output.level >= .verbose else { return remarks }
        if let error = listing.logError {
            remarks.append(.warning("the log cannot be read: \(explain(error))"))
        }
        return remarks
            + listing.passedOver.map { .note("passed over '\($0.name)': \($0.reason)") }
    }

    /// Returns the account of a folder elsewhere for a person at a terminal, if rclone says it.
    ///
    /// It takes two more runs of rclone, so that scripts and repeated looks go without it.
    private func account(
        of folder: BackupFolder,
        _ invocation: Invocation
    ) async throws -> String? {
        guard invocation.console.canAsk, !watch.isOn, !output.json, !output.quiet else {
            return nil
        }
        return try await folder.remote.service?.account()
    }
}

/// A deleted backup that can come back.
struct TrashRow: AnswerRow, JSONConvertible {
    let backup: TrashedBackup
    let invocation: Invocation

    private var deleted: LocalTime { invocation.local(backup.deleted) }

    var json: JSONObject {
        [
            "name": backup.name, "displayName": backup.displayName, "size": backup.size,
            "deleted": deleted,
        ]
    }

    static func write(_ rows: [TrashRow], to console: Console) {
        guard !rows.isEmpty else { return console.message("there are no deleted backups") }
        let cells = rows.map {
            [$0.backup.displayName, byteCount($0.backup.size), "\($0.deleted)"]
        }
        let header = ["BACKUP", "SIZE", "DELETED"]
        console.answer(lines: Columns(rows: [header] + cells, right: [1]).lines)
    }
}
