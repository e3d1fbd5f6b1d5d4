internal import Age
internal import ArgumentParser
internal import Operations

struct KeyPrintCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "print",
        "Print the secret keys, for paper.",
        discussion: """
            The answer is secret: send it to a printer, and not to a screen that others see. Who has the \
            paper reads all backups; without it and the file, nobody does.
            """,
        example: "grocerydude key print | lp"
    )

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    var recovery: Recovery { .none }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let identities = try KeyRing(invocation.profile.keys, invocation.console).identities()
        let secrets = identities.compactMap { identity in
            identity.revealed.map {
                KeyPrintAnswer.Key(recipient: identity.recipient.description, secret: $0)
            }
        }
        guard !secrets.isEmpty else { throw KeyError.noIdentity }
        return try invocation.answer(KeyPrintAnswer(keys: secrets))
    }
}
