internal import ArgumentParser
internal import Operations

struct PinCommand: PinningCommand {
    static let configuration = CommandConfiguration(
        "pin",
        "Keep a backup until it is unpinned, whatever a policy says.",
        discussion:
            "The archive is not changed: pins, tags and notes are files beside it in the remote folder.",
        example: "grocerydude pin '[2026-Nov-21] 09.01 AM'"
    )

    @Argument(help: "The backup's name, any unique part of it, or 'latest'.")
    var name: String

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    var pins: Bool { true }
}

struct UnpinCommand: PinningCommand {
    static let configuration = CommandConfiguration(
        "unpin",
        "Let policies remove a backup again.",
        example: "grocerydude unpin '[2026-Nov-21] 09.01 AM'"
    )

    @Argument(help: "The backup's name, any unique part of it, or 'latest'.")
    var name: String

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    var pins: Bool { false }
}

/// A command that pins or unpins a backup.
protocol PinningCommand: FolderCommand {
    var name: String { get }
    var pins: Bool { get }
}

extension PinningCommand {
    func run(_ invocation: Invocation) async throws -> CommandResult {
        let folder = try invocation.folder()
        let name = try await BackupChoice(in: folder, invocation).naming(name)
        let (backup, problems) = try await PinBackup(in: folder, context: invocation.context)
            .run(name, isPinned: pins, at: invocation.now)
        let row = BackupRow(backup, invocation.origin, invocation)
        return try invocation.answer(
            DoneAnswer(facts: row, line: "\(pins ? "pinned" : "unpinned") '\(row.displayName)'"),
            problems: problems
        )
    }
}
