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
                show: ShownValue.list,
                read: { try $0.recipients() }
            ),
            Setting(
                "identities",
                environment: "IDENTITY",
                \.keys.identities,
                show: { .list($0.map(\.string)) },
                read: { try $0.paths() }
            ),
            Setting(
                "signing_key",
                environment: "SIGNING_KEY",
                \.keys.signingKey,
                show: { $0.map(ShownValue.text) ?? .none },
                read: { try $0.signingKey() }
            ),
            Setting(
                "origin",
                environment: "ORIGIN",
                \.originName,
                show: { $0.map(ShownValue.text) ?? .none },
                read: { try $0.text("a name") { $0.isEmpty ? nil : $0 } }
            ),
            Setting(
                "password_file",
                environment: "PASSWORD_FILE",
                \.keys.passwordFile,
                show: { $0.map { .text($0.string) } ?? .none },
                read: { FilePath(try $0.path()) }
            ),
            Setting(
                "password_command",
                environment: "PASSWORD_COMMAND",
                \.keys.passwordCommand,
                show: { $0.map(ShownValue.text) ?? .none },
                read: { try $0.text("a command") { $0 } }
            ),
        ]
    }
}
