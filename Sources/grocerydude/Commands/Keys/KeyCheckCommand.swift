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
        let check = CheckKeys(in: folder, context: invocation.context)
        let (items, unreachable) = try await check.run(all ? nil : names, now: invocation.now)
        try invocation.console.answer(items.map(KeyCheckRow.init))
        if items.contains(where: { $0.backup.isEncrypted && $0.failure == nil }) {
            KeyReminder(invocation).recordTrial()
        }
        let result = CommandResult(.done)
        guard let failure = items.compactMap(\.failure).first else {
            if all, let unreachable { throw unreachable }
            return result
        }
        return result.with(ExitStatus(failure), explain(failure))
    }
}

/// A backup, and whether an available key opens it.
struct KeyCheckRow: AnswerRow, JSONConvertible {
    let item: CheckKeys.Item

    var json: JSONObject {
        [
            "name": item.backup.name, "encrypted": item.backup.isEncrypted,
            "opens": item.failure == nil, "reason": reason,
        ]
    }

    /// The reason why it cannot be read.
    private var reason: String? { item.failure.map { explain($0) } }

    static func write(_ rows: [KeyCheckRow], to console: Console) {
        let cells = rows.map { row in
            [
                row.item.backup.name,
                row.reason ?? (row.item.backup.isEncrypted ? "opens" : "not encrypted"),
            ]
        }
        console.answer(lines: Columns(rows: cells, right: []).lines)
    }
}
