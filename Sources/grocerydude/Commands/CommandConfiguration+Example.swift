internal import ArgumentParser

extension CommandConfiguration {
    /// Describes a command whose help has examples, which `helpText(_:)` puts behind the options.
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
