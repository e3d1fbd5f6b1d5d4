internal import Age
internal import ArgumentParser
internal import Foundation
internal import Operations
internal import Processes

struct KeyPrintCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "print",
        "Print the secret keys, for paper.",
        discussion: """
            The answer is secret: send it to a printer, not to a screen that others see. Anybody with the \
            paper can read all backups; without it and the file, nobody can. With 'qrencode' installed, a QR code \
            is below each key.
            """,
        example: "grocerydude key print | lp"
    )

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    var recovery: Recovery { .none }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let identities = try KeyRing(invocation.profile.keys, invocation.console).identities()
        var secrets = identities.compactMap { identity in
            identity.revealed.map {
                KeyPrintAnswer.Key(recipient: identity.recipient.description, secret: $0)
            }
        }
        guard !secrets.isEmpty else { throw KeyError.noIdentity }
        if !output.json, SystemProgram.path(of: "qrencode") != nil {
            for index in secrets.indices {
                secrets[index].code = try await code(of: secrets[index].secret, invocation)
            }
        }
        return try invocation.answer(KeyPrintAnswer(keys: secrets))
    }

    /// Returns the lines of a QR code; none if it could not be made, which is reported.
    ///
    /// On paper, the squares of ink are those that the terminal leaves dark.
    private func code(of secret: String, _ invocation: Invocation) async throws -> [String] {
        let form = (ProcessEnvironment.isUnicode ? "UTF8" : "ASCII") + (isatty(1) == 1 ? "" : "i")
        let result = try await SystemProgram.run(
            "qrencode",
            ["-t", form, "-o", "-"],
            input: Array(secret.utf8)
        )
        guard result.ending == .exited(0) else {
            invocation.context.warn("there is no QR code: qrencode says '\(result.errors)'")
            return []
        }
        return String(decoding: result.output, as: UTF8.self).split(separator: "\n").map(
            String.init
        )
    }
}
