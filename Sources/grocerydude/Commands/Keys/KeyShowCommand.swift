internal import Age
internal import ArgumentParser
internal import Operations

struct KeyShowCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "show",
        "Show the public keys: those that backups are encrypted for, and those of the secret keys at hand.",
        example: "grocerydude key show"
    )

    @OptionGroup var folder: FolderOptions

    var recovery: Recovery { .none }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let ring = KeyRing(invocation.profile.keys, invocation.console)
        let identities = try ring.identities()
        let answer = KeyShowAnswer(
            encrypts: !invocation.profile.keys.recipients.isEmpty,
            recipients: try ring.recipients().map(\.description),
            identities: identities.map(\.recipient.description)
        )
        return try invocation.answer(answer)
    }
}
