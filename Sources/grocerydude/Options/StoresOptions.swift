internal import ArgumentParser

/// Which stores directory: named, or of a profile.
struct StoresOptions: ParsableArguments {
    @OptionGroup var configuration: ConfigurationOptions

    @Option(
        name: .customLong("stores"),
        help: ArgumentHelp(
            "The directory with the application's data; else GROCERYDUDE_STORES, else the profile's.",
            valueName: "dir"
        ),
        completion: .directory
    )
    var path: String?

    var flags: [FlagValue?] { [FlagValue("--stores", "stores", path)] }
}
