internal import SystemPackage

extension Setting {
    /// The settings of encryption.
    ///
    /// The password itself is no setting, since settings can be printed.
    static var keys: [Setting] {
        [
            Setting(
                "recipients",
                environment: "RECIPIENTS",
                \.keys.recipients,
                paths: .keys,
                show: ShownValue.list,
                read: { try $0.recipients() }
            ),
            Setting(
                "identities",
                environment: "IDENTITY",
                \.keys.identities,
                paths: .lines,
                show: { .list($0.map(\.string)) },
                read: { try $0.paths() }
            ),
            Setting(
                "signing_key",
                environment: "SIGNING_KEY",
                \.keys.signingKey,
                paths: .keys,
                show: { $0.map(ShownValue.text) ?? .none },
                read: { try $0.signingKey() }
            ),
            text(
                "origin",
                environment: "ORIGIN",
                \.originName,
                "a name",
                { $0.isEmpty ? nil : $0 }
            ),
            path("password_file", environment: "PASSWORD_FILE", \.keys.passwordFile),
            text(
                "password_command",
                environment: "PASSWORD_COMMAND",
                \.keys.passwordCommand,
                "a command",
                { $0 }
            ),
        ]
    }
}
