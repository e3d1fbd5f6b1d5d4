internal import Age
internal import ArgumentParser
internal import Backups
internal import Files
internal import Foundation
internal import SystemPackage

struct KeyGenerateCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        "generate",
        "Make a new secret key, and print its public key.",
        discussion: """
            The file is as age-keygen writes it; only its owner can read it. Backups are encrypted for the \
            public key, and only the secret key opens them: keep a copy of it elsewhere, on paper too. \
            Nothing is overwritten.
            """,
        example: "grocerydude key generate --output ~/identity.txt"
    )

    @Option(
        name: .customLong("output"),
        help:
            "The file to write; else identity.txt beside the configuration, where it is found."
            .value("file"),
        completion: .file()
    )
    var file: String?

    @Flag(help: "Make a hybrid key, which withstands quantum computers (age 1.3 or later).")
    var postQuantum = false

    @Flag(help: "Make this machine's signing key now, not with its first backup.")
    var signing = false

    @OptionGroup(title: HelpSection.common) var output: OutputOptions

    func validate() throws {
        guard !signing || file == nil && !postQuantum else {
            throw ValidationError("'--signing' excludes '--output' and '--post-quantum'")
        }
    }

    func run(on console: Console) async throws -> ExitStatus {
        if signing {
            let key = try KeyRing(KeySettings(), console).generateSigningKey()
            let row = SignerRow(name: Signers.ownName, key: key.publicKey, own: true)
            try console.answer(DoneAnswer(facts: row, line: key.publicKey.text))
            return .done
        }
        let path = file.map { FilePath($0) } ?? KeyRing.usualPath
        let identity = try Identity.generate(isHybrid: postQuantum)
        let recipient = identity.recipient.description
        let created = Date().formatted(.iso8601)
        let text = """
            # created: \(created)
            # public key: \(recipient)
            \(identity.revealed ?? "")

            """
        if file == nil {
            try LocalFileSystem().createDirectories(path.removingLastComponent())
        }
        try KeyRing.writeNew(text, to: path)
        try console.answer(KeyGenerateAnswer(path: printable(path), recipient: recipient))
        return .done
    }
}

/// A new key.
struct KeyGenerateAnswer: Answer {
    /// The file of the secret key.
    var path: String
    /// The public key.
    var recipient: String

    /// The maximum length of a key that is printed twice.
    private static let shownLimit = 200

    func write(to console: Console) {
        console.done(recipient)
        console.message("the secret key is in '\(path)'")
        let print = "grocerydude key print --identity \(shellWord(path))"
        console.message(
            "without that file, all backups encrypted for it are lost: keep a copy elsewhere; for paper, run \(Advice.quoted(print))"
        )
        // A hybrid key has two thousand letters, and was printed above.
        let key = recipient.count < Self.shownLimit ? recipient : "the key above"
        console.message("to encrypt backups, set 'recipients: [\(key)]'")
    }
}
