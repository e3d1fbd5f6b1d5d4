internal import ArgumentParser

/// The options of all commands about schedules.
struct ScheduleOptions: ParsableArguments {
    @OptionGroup var configuration: ConfigurationOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var scheduler: SchedulerOption

    /// The kinds to inspect: the named one, or all.
    var kinds: [ScheduleKind] { scheduler.kind.map { [$0] } ?? ScheduleKind.allCases }

    /// Returns the profile named by the options.
    func profile(_ flags: [FlagValue?] = []) throws -> Profile {
        try Configuration(configuration).profile(flags)
    }
}

/// The option for the scheduler.
struct SchedulerOption: ParsableArguments {
    @Option(help: "The scheduler; else the one of this machine.".value("kind"))
    var kind: ScheduleKind?
}
