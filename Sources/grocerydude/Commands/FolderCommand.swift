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
        aliases: [String] = [],
        subcommands: [any ParsableCommand.Type] = [],
        defaultSubcommand: (any ParsableCommand.Type)? = nil,
        shouldDisplay: Bool = true
    ) {
        let examples = "EXAMPLE\n" + example.map { "  \($0)" }.joined(separator: "\n")
        self.init(
            commandName: name,
            abstract: abstract,
            discussion: [discussion, examples].compactMap(\.self).joined(separator: "\n\n"),
            shouldDisplay: shouldDisplay,
            subcommands: subcommands,
            defaultSubcommand: defaultSubcommand,
            aliases: aliases
        )
    }
}

extension String {
    /// Returns the text as the help of an option, with a name for the option's value.
    func value(_ name: String) -> ArgumentHelp { ArgumentHelp(self, valueName: name) }
}
