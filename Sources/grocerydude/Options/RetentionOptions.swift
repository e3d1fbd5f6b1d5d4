internal import ArgumentParser
internal import Operations

/// The retention options, named as in restic; without any, the profile's policy applies.
struct RetentionOptions: ParsableArguments {
    @Option(parsing: .unconditional, help: keeping("the last n backups; -1 keeps all"))
    var keepLast: Int?
    @Option(parsing: .unconditional, help: keeping("the last of each of the last n hours"))
    var keepHourly: Int?
    @Option(parsing: .unconditional, help: keeping("the last of each of the last n days"))
    var keepDaily: Int?
    @Option(parsing: .unconditional, help: keeping("the last of each of the last n weeks"))
    var keepWeekly: Int?
    @Option(parsing: .unconditional, help: keeping("the last of each of the last n months"))
    var keepMonthly: Int?
    @Option(parsing: .unconditional, help: keeping("the last of each of the last n years"))
    var keepYearly: Int?
    @Option(help: "Keep all backups within this time of the newest: 2y5m7d3h.".value("time"))
    var keepWithin: String?
    @Option(help: "Keep backups with all of these tags; may be repeated.".value("tags"))
    var keepTag: [String] = []

    @Flag(help: "Remove all backups if no policy keeps one.")
    var unsafeAllowRemoveAll = false

    var flags: [FlagValue?] {
        let counts = [
            ("last", keepLast), ("hourly", keepHourly), ("daily", keepDaily),
            ("weekly", keepWeekly), ("monthly", keepMonthly), ("yearly", keepYearly),
        ]
        return (counts.map { ($0, $1.map(String.init)) } + [("within", keepWithin)]).map {
            FlagValue("--keep-\($0)", "retention.keep_\($0)", $1)
        }
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

private func keeping(_ what: String) -> ArgumentHelp {
    ArgumentHelp("Keep \(what).", valueName: "n")
}
