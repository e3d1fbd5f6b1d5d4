internal import Age
internal import ArgumentParser
internal import Backups
internal import Files
internal import Operations

struct KeyCheckCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "check",
        "Show which backups the keys at hand open.",
        discussion: """
            Only the beginning of each archive is read. A backup that no key opens gives exit code 12.
            """,
        example: "grocerydude key check --all"
    )

    @Argument(
        help: "Names of backups, unique parts of them, or 'latest'.",
        completion: NameCompletion.backups()
    )
    var names: [String] = []

    @Flag(help: "Try all backups.")
    var all = false

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    func validate() throws {
        guard all != !names.isEmpty else {
            throw ValidationError("name the backups to try, or add '--all' for all of them")
        }
    }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let folder = try invocation.folder()
        let names = try await BackupChoice(in: folder, invocation).naming(names)
        let (checks, unreachable) = try await invocation.context
            .checkKeys(of: all ? nil : names, in: folder, now: invocation.now)
        try invocation.console.answer(checks.map(KeyCheckRow.init))
        if checks.contains(where: { $0.backup.isEncrypted && $0.failure == nil }) {
            KeyReminder(invocation).recordTrial()
        }
        let result = CommandResult(.done)
        guard let failure = checks.compactMap(\.failure).first else {
            if all, let unreachable { throw unreachable }
            return result
        }
        return result.with(ExitStatus(failure), explain(failure))
    }
}

/// A backup, and whether an available key opens it.
struct KeyCheckRow: AnswerRow, JSONConvertible {
    let check: KeyCheck

    var json: JSONObject {
        [
            "name": check.backup.name, "encrypted": check.backup.isEncrypted,
            "opens": check.failure == nil, "reason": reason,
        ]
    }

    /// The reason why it cannot be read.
    private var reason: String? { check.failure.map { explain($0) } }

    static func write(_ rows: [KeyCheckRow], to console: Console) {
        let cells = rows.map { row in
            [
                row.check.backup.name,
                row.reason ?? (row.check.backup.isEncrypted ? "opens" : "not encrypted"),
            ]
        }
        console.answer(lines: Columns(rows: cells, right: []).lines)
    }
}
