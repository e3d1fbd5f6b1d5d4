internal import ArgumentParser
internal import Operations

struct UndeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undelete",
        abstract: "Bring back a backup that was deleted or pruned.",
        discussion: """
            'grocerydude list --trash' shows what can come back. What 'prune' removed it may remove again: pin it.

            EXAMPLE
              grocerydude undelete '[2026-Nov-21] 09.01 AM'

            \(ExitStatus.help)
            """
    )

    @Argument(help: "The backup's name, or any unique part of it.")
    var name: String

    @OptionGroup var stores: StoresOptions
    @OptionGroup var remote: RemoteOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await Session.run(output, stores, remote, needsWholeStores: false) { session in
            let (backup, problems) = try await DeleteBackup(
                from: session.remote(),
                catalog: session.catalog,
                timeZone: session.timeZone,
                context: session.context
            ).undo(name)
            if output.json {
                try session.console.answer(json: TrashRow(backup, session))
            } else {
                session.console.done("'\(backup.displayName)' is back")
            }
            return problems.isEmpty ? .done : .partial
        }
    }
}

/// A deleted backup in JSON.
struct TrashRow: Encodable {
    var name: String
    var displayName: String
    var size: Int64
    var deleted: String

    init(_ backup: TrashedBackup, _ session: Session) {
        name = backup.name
        displayName = backup.displayName
        size = backup.size
        deleted = RFC3339.text(backup.deleted, in: session.timeZone)
    }
}
