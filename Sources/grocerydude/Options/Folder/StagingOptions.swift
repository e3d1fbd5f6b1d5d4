internal import ArgumentParser

/// Where archives are made and fetched to that belong elsewhere.
struct StagingOptions: ParsableArguments {
    @Option(
        name: .customLong("staging"),
        help: ArgumentHelp(
            "With rclone: make archives in this directory, and fetch them to it.",
            valueName: "dir"
        ),
        completion: .directory
    )
    var path: String?

    var flags: [FlagValue?] { [FlagValue("--staging", "staging", path)] }
}
