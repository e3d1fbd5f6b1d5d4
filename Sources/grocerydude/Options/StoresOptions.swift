internal import ArgumentParser

/// The options for the stores directory: its path, or a profile.
struct StoresOptions: ParsableArguments {
    @OptionGroup var configuration: ConfigurationOptions

    @Option(
        name: .customLong("stores"),
        help:
            "The directory with the application's data; else GROCERYDUDE_STORES, else the profile's."
            .value("dir"),
        completion: .directory
    )
    var path: String?

    @Option(
        help:
            "The origin of these backups, if not host and path, as of a machine that this one replaces."
            .value("name")
    )
    var origin: String?

    @Option(
        name: .customLong("set"),
        help:
            "Use this value of a setting for this run, as in 'spool=false'; may be repeated. See 'config show'."
            .value("key=value"),
        transform: FlagValue.init(setting:)
    )
    var settings: [FlagValue] = []

    var flags: [FlagValue?] {
        settings + [FlagValue("--stores", "stores", path), FlagValue("--origin", "origin", origin)]
    }
}

/// The options for the configuration and the profile.
struct ConfigurationOptions: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help:
            "The configuration; else GROCERYDUDE_CONFIG, else $XDG_CONFIG_HOME/grocerydude/config.yaml."
            .value("file"),
        completion: .file(extensions: ["yaml", "yml"])
    )
    var configuration: String?

    @Option(
        help: "The profile in the configuration; else GROCERYDUDE_PROFILE.".value("name"),
        completion: NameCompletion.profiles
    )
    var profile: String?

    /// The options by which commands in hints mean the same configuration and profile.
    var hinted: HintedPlaces {
        var places = HintedPlaces()
        if let name = profile { places.add("profile", name) }
        if let file = configuration { places.add("config", Setting.absolute(file)) }
        return places
    }

    /// The profile named by an option or the environment.
    var chosenProfile: String? { profile ?? ProcessEnvironment.value("GROCERYDUDE_PROFILE") }
}
