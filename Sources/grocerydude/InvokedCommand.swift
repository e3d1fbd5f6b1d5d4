internal import ArgumentParser
internal import Operations

/// A command that works with the stores of a profile.
///
/// The properties say what goes on around its body, `run(_:)`.
protocol InvokedCommand: ConsoleCommand {
    var stores: StoresOptions { get }

    /// The settings from the command's options; those of `stores` are added.
    var flags: [FlagValue?] { get }

    /// The name of the run in the log, metrics and hooks; `nil` if nobody needs to know of it.
    var logged: Run.Command? { get }

    /// The treatment of an interrupted restore before the command begins.
    var recovery: Recovery { get }

    /// Whether the body runs once for every profile.
    ///
    /// A profile that fails does not keep the others from running; the worst exit code counts.
    var runsAllProfiles: Bool { get }

    /// Throws a `UsageError` if the options do not go with the settings in force.
    func validate(_ profile: Profile) throws

    /// Does the command's work; an error that it throws is printed, and sets the exit code.
    func run(_ invocation: Invocation) async throws -> CommandResult
}

/// The treatment of an interrupted restore before a command begins.
enum Recovery {
    /// It is finished or undone; if it cannot be, the command fails, since it needs whole stores.
    case required
    /// It is finished or undone if that is possible.
    case attempted
    /// It is left alone, since the command only looks.
    case none
}

extension InvokedCommand {
    var flags: [FlagValue?] { [] }
    var logged: Run.Command? { nil }
    var recovery: Recovery { .required }
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
            let console = runsAllProfiles ? Console(output, profile: profile.name) : console
            worst = .worse(worst, await Invocation(profile, output, console).run(self))
        }
        return worst
    }
}
