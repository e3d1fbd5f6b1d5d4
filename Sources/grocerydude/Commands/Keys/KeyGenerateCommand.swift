internal import Age
internal import ArgumentParser
internal import Files
internal import Foundation
internal import SystemPackage

struct KeyGenerateCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        "generate",
        "Make a new secret key, and say the public key that belongs to it.",
        discussion: """
            The file is as age-keygen writes it; only its owner can read it. Backups are encrypted for the \
            public key, and only the secret key opens them: keep a copy of it elsewhere, on paper too. \
            Nothing is overwritten.
            """,
        example: "grocerydude key generate --output ~/identity.txt"
    )

    @Option(
        name: .customLong("output"),
        help: ArgumentHelp(
            "The file to write; else identity.txt beside the configuration, where it is found.",
            valueName: "file"
        ),
        completion: .file()
    )
    var file: String?

    @Flag(
        help:
            "Make a hybrid key, against which a quantum computer does not help (age 1.3 or later)."
    )
    var postQuantum = false

    @OptionGroup var output: OutputOptions

    func run(on console: Console) async throws -> ExitStatus {
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
        try write(text, to: path)
        try console.answer(KeyGenerateAnswer(path: printable(path), recipient: recipient))
        return .done
    }

    /// Writes a new file that only its owner can read, and that is on the disk.
    private func write(_ text: String, to path: FilePath) throws {
        guard try FileInfo.ifPresent(path) == nil else { throw KeyError.exists(path) }
        let file = try File.create(path)
        try file.setMode(0o600)
        try Array(text.utf8).withUnsafeBytes { try file.write($0, at: 0) }
        try file.sync()
        let parent = path.removingLastComponent()
        try LocalFileSystem().sync(parent.isEmpty ? "." : parent)
    }
}
