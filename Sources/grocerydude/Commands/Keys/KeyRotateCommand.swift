internal import Age
internal import ArgumentParser
internal import Backups
internal import Files
internal import Operations

struct KeyRotateCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "rotate",
        "Encrypt all encrypted backups again, for other recipients.",
        discussion: """
            Each backup is verified and encrypted with a new file key. It takes the name of the old one, which \
            moves to the trash. Backups that the keys at hand do not open are passed over, so that an \
            interrupted run can be repeated; if the keys open nothing, the exit code is 12. Anybody with the \
            old key and an old copy can still read that copy.
            """,
        example: "grocerydude key rotate --identity old.txt --recipient age1…"
    )

    @Flag(help: "Make a new signing key, which the present one vouches for; encrypt nothing.")
    var signing = false

    @OptionGroup var recipients: RecipientOptions
    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    var ownFlags: [FlagValue?] { recipients.flags }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        if signing {
            let key = try invocation.keyRing.rotateSigningKey(name: invocation.origin.name)
            let row = SignerRow(name: invocation.origin.name, key: key.publicKey, own: true)
            return try invocation.done(
                "backups are signed by \(key.publicKey.fingerprint) from now on",
                row.json
            )
        }
        let rotate = try RotateKeys(in: invocation.folder(), context: invocation.context)
        let outcome = try await rotate.run(at: invocation.now)
        try invocation.console.answer(outcome.items.map(KeyRotateRow.init))
        let result = CommandResult(problems: outcome.problems)
        if let failure = outcome.missingKey { return invocation.failure(failure, after: result) }
        // Backups that no available key opens were skipped.
        let failed = outcome.items.filter { ($0.failure as? AgeError)?.isOfKeys != true }
        guard let item = failed.first(where: { $0.failure != nil }), let failure = item.failure
        else { return result }
        let isPartial = outcome.items.contains { $0.rotated != nil }
        guard isPartial || ExitStatus(failure) == .partial else {
            return invocation.failure(failure, after: result)
        }
        let reason = "'\(item.backup.name)' was not encrypted again: \(explain(failure))"
        return invocation.failure(reason, .partial, after: result)
    }
}

/// A backup that was encrypted again, or the reason why it was not.
struct KeyRotateRow: AnswerRow, JSONConvertible {
    let item: RotateKeys.Item

    var json: JSONObject {
        ["name": item.backup.name, "rotated": item.rotated != nil, "reason": reason]
    }

    /// The reason why it was not changed.
    private var reason: String? { item.failure.map { explain($0) } }

    static func write(_ rows: [KeyRotateRow], to console: Console) {
        let cells = rows.map { [$0.item.backup.name, $0.reason ?? "encrypted again"] }
        console.answer(lines: Columns(rows: cells, right: []).lines)
    }
}
