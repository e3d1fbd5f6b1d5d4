internal import ArgumentParser
internal import Files

/// The options that answer the questions of 'setup', beside those for the stores directory and the folder.
struct SetupOptions: ParsableArguments {
    @Flag(
        inversion: .prefixedNo,
        help: "Encrypt the backups, with a key that is made unless there is one."
    )
    var encrypt: Bool?

    @Option(help: "When to make backups: \(Schedule.examples).".value("when"))
    var schedule: String?

    @Option(
        help: ArgumentHelp(
            "How long to keep backups: \(KeepSpan.allCases.map { "\($0.rawValue) (\($0.words))" }.joined(separator: "; ")).",
            valueName: "span"
        )
    )
    var keep: KeepSpan?

    @Option(
        help:
            "Whom to notify: mail:ADDRESS, desktop, or a URL; may be repeated; 'none' for nobody."
            .value("whom")
    )
    var notify: [String] = []

    @Flag(help: "Replace the profile's folder or stores directory; the old backups stay.")
    var replace = false

    func validate() throws {
        if let schedule, Schedule(schedule) == nil {
            throw ValidationError(explain(SetupError.noSchedule(schedule)))
        }
    }
}
