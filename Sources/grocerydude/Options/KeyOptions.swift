internal import ArgumentParser

/// The options for keys that open encrypted backups.
struct KeyOptions: ParsableArguments {
    @Option(
        help: "A file of secret keys that open encrypted backups; may be repeated.".value("file"),
        completion: .file()
    )
    var identity: [String] = []

    @Option(
        help: "A file with the password of encrypted backups.".value("file"),
        completion: .file()
    )
    var passwordFile: String?

    @Option(help: "A command that writes the password of encrypted backups.".value("command"))
    var passwordCommand: String?

    var flags: [FlagValue?] {
        [
            FlagValue("--identity", "identities", lines(identity)),
            FlagValue("--password-file", "password_file", passwordFile),
            FlagValue("--password-command", "password_command", passwordCommand),
        ]
    }
}

/// The option for the recipients of encrypted backups.
struct RecipientOptions: ParsableArguments {
    @Option(
        help:
            "Encrypt for a public key of age or SSH, for those in a file, or with a 'password'; may be repeated."
            .value("key")
    )
    var recipient: [String] = []

    var flags: [FlagValue?] { [FlagValue("--recipient", "recipients", lines(recipient))] }
}

/// Returns the values of a repeated option, one per line; `nil` for none.
private func lines(_ values: [String]) -> String? {
    values.isEmpty ? nil : values.joined(separator: "\n")
}
