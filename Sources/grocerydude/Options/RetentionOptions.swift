internal import ArgumentParser
internal import Operations

/// The retention options, named as in restic; without any, the profile's policy applies.
struct RetentionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Keep the last of all; -1 keeps all.", valueName: "n"))
    var keepLast: Int?
    @Option(help: ArgumentHelp("Keep the last of each of the last n hours.", valueName: "n"))
    var keepHourly: Int?
    @Option(help: ArgumentHelp("Keep the last of each of the last n days.", valueName: "n"))
    var keepDaily: Int?
    @Option(help: ArgumentHelp("Keep the last of each of the last n weeks.", valueName: "n"))
    var keepWeekly: Int?
    @Option(help: ArgumentHelp("Keep the last of each of the last n months.", valueName: "n"))
    var keepMonthly: Int?
    @Option(help: ArgumentHelp("Keep the last of each of the last n years.", valueName: "n"))
    var keepYearly: Int?
    @Option(help: ArgumentHelp("Keep all within this of the newest: 2y5m7d3h.", valueName: "time"))
    var keepWithin: String?
    @Option(help: ArgumentHelp("Keep one an hour within this of the newest.", valueName: "time"))
    var keepWithinHourly: String?
    @Option(help: ArgumentHelp("Keep one a day within this of the newest.", valueName: "time"))
    var keepWithinDaily: String?
    @Option(help: ArgumentHelp("Keep one a week within this of the newest.", valueName: "time"))
    var keepWithinWeekly: String?
    @Option(help: ArgumentHelp("Keep one a month within this of the newest.", valueName: "time"))
    var keepWithinMonthly: String?
    @Option(help: ArgumentHelp("Keep one a year within this of the newest.", valueName: "time"))
    var keepWithinYearly: String?
    @Option(
        help: ArgumentHelp("Keep what has all of these tags; may be repeated.", valueName: "tags")
    )
    var keepTag: [String] = []

    @Option(
        help: ArgumentHelp(
            "How long to keep safety backups made by restore: 7d, 12h.",
            valueName: "time"
        )
    )
    var keepSafety: WaitTime?

    @Flag(help: "Remove all backups if no policy keeps one.")
    var unsafeAllowRemoveAll = false

    var flags: [FlagValue?] {
        let counts = [
            ("last", keepLast), ("hourly", keepHourly), ("daily", keepDaily),
            ("weekly", keepWeekly), ("monthly", keepMonthly), ("yearly", keepYearly),
        ]
        let spans = [
            ("within", keepWithin), ("within-hourly", keepWithinHourly),
            ("within-daily", keepWithinDaily), ("within-weekly", keepWithinWeekly),
            ("within-monthly", keepWithinMonthly), ("within-yearly", keepWithinYearly),
        ]
        return (counts.map { ($0, $1.map(String.init)) } + spans).map { name, value in
            FlagValue("--keep-\(name)", "retention.keep_" + name.replacing("-", with: "_"), value)
        } + [FlagValue("--keep-safety", "retention.keep_safety", keepSafety?.text)]
    }

    /// Returns the policy in force.
    func policy(_ invocation: Invocation) -> RetentionPolicy {
        var policy = invocation.profile.retention
        policy.tags += keepTag.map {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        return policy
    }

    /// Returns the operation that prunes with that policy, or without one may only empty the trash.
    func prune(
        _ invocation: Invocation,
        _ scope: PruneBackups.Scope,
        orTrashAlone mayEmptyTrashAlone: Bool = false
    ) throws -> PruneBackups {
        var options = PruneBackups.Options(policy: policy(invocation), now: invocation.now)
        options.keepsSafety = invocation.profile.keepSafety
        options.keepsTrash = invocation.profile.keepTrash
        options.scope = scope
        options.mayEmptyTrashAlone = mayEmptyTrashAlone
        options.mayRemoveAll = unsafeAllowRemoveAll
        return try PruneBackups(
            in: invocation.folder(),
            options: options,
            context: invocation.context
        )
    }
}
