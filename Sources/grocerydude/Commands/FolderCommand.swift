internal import ArgumentParser

/// A command that uses the backups in a folder.
protocol FolderCommand: InvokedCommand {
    var folder: FolderOptions { get }

    /// The settings from this command's own options.
    var ownFlags: [FlagValue?] { get }
}

/// The options for the stores directory and the folder of backups.
struct FolderOptions: ParsableArguments {
    @OptionGroup var stores: StoresOptions
    @OptionGroup var remote: RemoteOptions
    @OptionGroup var keys: KeyOptions
    @OptionGroup var output: OutputOptions
}

extension FolderCommand {
    var stores: StoresOptions { folder.stores }
    var output: OutputOptions { folder.output }
    var flags: [FlagValue?] {
        folder.remote.flags + folder.keys.flags + ownFlags
    }
    var ownFlags: [FlagValue?] { [] }
    var recovery: Recovery { .attempted }
}

extension CommandConfiguration {
    /// Describes a command with examples in its help, which `helpText` moves behind the options.
    init(
        _ name: String,
        _ abstract: String,
        discussion: String? = nil,
        example: String...,
        subcommands: [any ParsableCommand.Type] = [],
        defaultSubcommand: (any ParsableCommand.Type)? = nil
    ) {
        let examples = "EXAMPLE\n" + example.map { "  \($0)" }.joined(separator: "\n")
        self.init(
            commandName: name,
            abstract: abstract,
            discussion: [discussion, examples].compactMap(\.self).joined(separator: "\n\n"),
            subcommands: subcommands,
            defaultSubcommand: defaultSubcommand
        )
    }
}

/// The options for the stores directory: its path, or a profile.
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

    @Option(
        help: ArgumentHelp(
            "Whose backups these are: another name than host and path, as of a machine that this one replaces.",
            valueName: "name"
        )
    )
    var origin: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Use this value of a setting for this run, as in 'spool=false'; may be repeated. See 'config show'.",
            valueName: "key=value"
        ),
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

    /// The profile named by an option or the environment.
    var chosenProfile: String? { profile ?? ProcessEnvironment.value("GROCERYDUDE_PROFILE") }
}
