internal import Age
internal import ArgumentParser
internal import Backups
internal import Files
internal import Operations
internal import SystemPackage

struct TrustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "trust",
        "List, add and remove the machines whose backups count.",
        discussion: """
            Every machine signs its backups. Those that no known machine signed are listed and can be restored by \
            name, but they are never 'latest' beside others, and no policy counts or removes them. This machine's \
            own key is trusted; the others are in 'allowed_signers' beside the configuration, in OpenSSH's format.
            """,
        example: "grocerydude trust add nas:/srv/app",
        "grocerydude trust remove SHA256:…",
        subcommands: [TrustListCommand.self, TrustAddCommand.self, TrustRemoveCommand.self],
        defaultSubcommand: TrustListCommand.self
    )
}

struct TrustListCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "list",
        "List the machines that are trusted.",
        example: "grocerydude trust list"
    )

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    var recovery: Recovery { .none }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let own = try invocation.keyRing.ownKeys().map {
            SignerRow(name: invocation.origin.name, key: $0, own: true)
        }
        let others = try KeyRing.allowedSigners().signers.map { SignerRow($0, invocation) }
        return try invocation.answer(own + others)
    }
}

struct TrustAddCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "add",
        "Trust a machine: its backups count from now on.",
        discussion: """
            Name it by its public key, or by the name or fingerprint that 'list' and 'show' print for its backups. \
            Compare the fingerprint with the one that 'grocerydude key list' prints on that machine.
            """,
        example: "grocerydude trust add nas:/srv/app",
        "grocerydude trust add 'ssh-ed25519 AAAA…' --name nas"
    )

    @Argument(help: "A public key, a fingerprint, or the name of a machine.")
    var machine: String
    @Option(help: "The name under which it is kept; else that in its backups.")
    var name: String?
    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var yes = false
    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    var recovery: Recovery { .none }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let (key, found) = try await signer(invocation)
        let name = name ?? found
        let question = "Trust '\(printable(bytes: name.utf8))', whose key is \(key.fingerprint)?"
        guard try invocation.confirm(question, yes: yes) else { return .declined }
        let isNew = try KeyRing.trust(key, as: name)
        let row = SignerRow(name: name, key: key, own: false)
        let line =
            "\(key.fingerprint) (\(printable(bytes: name.utf8))) \(isNew ? "is trusted" : "was trusted already")"
        return try invocation.done(line, row.json)
    }

    /// Returns the wanted key, and a name for it.
    private func signer(_ invocation: Invocation) async throws -> (SSHPublicKey, String) {
        if let key = SSHPublicKey(line: machine) {
            let comment = machine.split(separator: " ", maxSplits: 2).dropFirst(2).first
            return (key, comment.map(String.init) ?? "unnamed")
        }
        let backups = try await invocation.folder().list().backups
        var found: [String: (SSHPublicKey, String)] = [:]
        for backup in backups {
            guard let key = backup.signerKey,
                [backup.originName, backup.name, backup.displayName, key.fingerprint]
                    .contains(machine)
            else { continue }
            found[key.fingerprint] = (key, backup.originName ?? "unnamed")
        }
        guard found.count < 2 else {
            throw CommandError.severalSigners(machine, found.keys.sorted())
        }
        guard let one = found.values.first else { throw CommandError.noSigner(machine) }
        return one
    }
}

struct TrustRemoveCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "remove",
        "Stop trusting a machine: its backups stay, but no longer count here.",
        example: "grocerydude trust remove nas:/srv/app"
    )

    @Argument(help: "The name, the public key or the fingerprint of a machine.")
    var machine: String
    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    var recovery: Recovery { .none }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let key = SSHPublicKey(line: machine)
        let signers = try KeyRing.allowedSigners().signers.filter {
            [machine, AllowedSigners.name(for: machine)].contains($0.name)
                || $0.key.fingerprint == machine || $0.key == key
        }
        guard !signers.isEmpty else { throw CommandError.noSigner(machine) }
        try KeyRing.distrust(signers)
        let rows = signers.map { SignerRow($0, invocation) }
        let names = rows.map { "\($0.key.fingerprint) (\(printable(bytes: $0.name.utf8)))" }
        return try invocation.answer(
            DoneAnswer(
                facts: rows,
                line:
                    "\(names.joined(separator: ", ")) \(rows.count == 1 ? "is" : "are") trusted no more"
            )
        )
    }
}

/// A key whose backups are trusted.
struct SignerRow: AnswerRow, JSONConvertible {
    let name: String
    let key: SSHPublicKey
    /// Whether the key is this machine's.
    let own: Bool
    /// The reason why its line does not trust it now.
    var refusal: String?

    init(name: String, key: SSHPublicKey, own: Bool) {
        (self.name, self.key, self.own) = (name, key, own)
    }

    init(_ signer: AllowedSigners.Signer, _ invocation: Invocation) {
        self.init(name: signer.name, key: signer.key, own: false)
        refusal = signer.refusal(namespace: BackupSignature.namespace, at: invocation.now)
    }

    var json: JSONObject {
        [
            "name": name, "fingerprint": key.fingerprint, "key": key.text, "own": own,
            "refusal": refusal,
        ]
    }

    static func write(_ rows: [SignerRow], to console: Console) {
        let cells = rows.map {
            [
                $0.key.fingerprint, printable(bytes: $0.name.utf8),
                $0.own ? "this machine" : $0.refusal.map { "NOT TRUSTED: \($0)" } ?? "",
            ]
        }
        console.answer(lines: Columns(rows: cells).lines)
        if rows.isEmpty { console.message("nobody is trusted yet") }
    }
}
