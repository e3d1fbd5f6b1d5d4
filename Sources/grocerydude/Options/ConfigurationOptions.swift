internal import ArgumentParser

/// Which configuration, and which profile of it.
struct ConfigurationOptions: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp(
            "The configuration; else GROCERYDUDE_CONFIG, else $XDG_CONFIG_HOME/grocerydude/config.yaml.",
            valueName: "file"
        ),
        completion: .file(extensions: ["yaml", "yml"])
    )
    var configuration: String?

    @Option(
        help: ArgumentHelp(
            "The profile in the configuration; else GROCERYDUDE_PROFILE.",
            valueName: "name"
        )
    )
    var profile: String?

    /// The profile that an option or the environment names.
    var chosenProfile: String? { profile ?? ProcessEnvironment.value("GROCERYDUDE_PROFILE") }
}
