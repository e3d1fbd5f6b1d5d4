internal import Age
internal import ArgumentParser
internal import Operations

struct KeyListCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "list",
        "List the keys: the recipients of backups, the secret keys at hand, and the signing key.",
        example: "grocerydude key list"
    )

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    var recovery: Recovery { .none }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let ring = KeyRing(invocation.profile.keys, invocation.console)
        let identities = try ring.identities()
        let answer = KeyListAnswer(
            encrypts: !invocation.profile.keys.recipients.isEmpty,
            recipients: try ring.recipients().map(\.description),
            identities: identities.map(\.recipient.description),
            signs: try ring.ownKeys().first?.fingerprint
        )
        return try invocation.answer(answer)
    }
}

/// The public keys of a profile.
struct KeyListAnswer: Answer {
    /// Whether new backups are encrypted; without recipients a password encrypts them.
    var encrypts: Bool
    /// The recipients of new backups.
    var recipients: [String]
    /// The public keys of the available secret keys.
    var identities: [String]

    /// The fingerprint of the key that signs backups; `nil` if there is none yet.
    var signs: String?

    func write(to console: Console) {
        if !encrypts { console.answer("backups are not encrypted") }
        if encrypts, recipients.isEmpty { console.answer("backups are encrypted with a password") }
        for recipient in recipients {
            let own = identities.contains(recipient) ? ", and the secret key is at hand" : ""
            console.answer("\(recipient)  for backups\(own)")
        }
        for identity in identities where !recipients.contains(identity) {
            console.answer("\(identity)  the secret key is at hand")
        }
        if let signs { console.answer("\(signs)  signs backups") }
    }
}

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "key",
        "Make, show and try the keys of encrypted backups.",
        example: "grocerydude key generate",
        "grocerydude key check --all",
        subcommands: [
            KeyGenerateCommand.self, KeyListCommand.self, KeyPrintCommand.self,
            KeyCheckCommand.self, KeyRotateCommand.self,
        ]
    )
}
