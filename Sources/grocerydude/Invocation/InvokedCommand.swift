internal import Operations

/// A command for the stores of a profile.
///
/// The properties control the steps around its body, `run(_:)`.
protocol InvokedCommand: ConsoleCommand {
    var stores: StoresOptions { get }

    /// The settings from the command's options, to which those of `stores` are added.
    var flags: [FlagValue?] { get }

    /// The name of the run in the log, metrics and hooks; `nil` for a run that is not recorded.
    var logged: Run.Command? { get }

    /// The treatment of an interrupted restore before the command starts.
    var recovery: Recovery { get }

    /// Whether the run leaves everything as it is, even caches and the log; it then has no log and no recovery.
    var changesNothing: Bool { get }

    /// Whether the body runs once for each profile.
    ///
    /// A failing profile does not stop the others; the worst exit code is returned.
    var runsAllProfiles: Bool { get }

    /// Throws a `UsageError` if the options contradict the settings in force.
    func validate(_ profile: Profile) throws

    /// Does the command's work. An error is printed, and determines the exit code.
    func run(_ invocation: Invocation) async throws -> CommandResult
}

/// The treatment of an interrupted restore before a command starts.
enum Recovery {
    /// Finish or undo it; if that is impossible, the command fails, since it needs complete stores.
    case required
    /// Finish or undo it if possible.
    case attempted
    /// Leave it alone, since the command only reads.
    case none
}

extension InvokedCommand {
    var flags: [FlagValue?] { [] }
    var logged: Run.Command? { nil }
    var recovery: Recovery { .required }
    var changesNothing: Bool { false }
    var runsAllProfiles: Bool { false }

    func validate(_ profile: Profile) throws {}

    func run(on console: Console) async throws -> ExitStatus {
        let configuration = try Configuration(stores.configuration)
        let flags = stores.flags + flags
        let profiles =
            try runsAllProfiles ? configuration.allProfiles(flags) : [configuration.profile(flags)]
        for profile in profiles { try validate(profile) }
        var worst = ExitStatus.done
        for profile in profiles {
            try Interruption.check()
            let console = runsAllProfiles ? Console(output.style, profile: profile.name) : console
            let invocation = Invocation(profile, console, changesNothing: changesNothing)
            console.hint(
                in: HintedPlaces(
                    stores.configuration,
                    invocation,
                    isOneOfSeveral: runsAllProfiles
                )
            )
            worst = .worse(worst, await CommandRun(invocation).run(self))
        }
        return worst
    }
}
