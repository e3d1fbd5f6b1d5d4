internal import ArgumentParser
internal import Operations

struct PinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin",
        abstract: "Keep a backup until it is unpinned, whatever a policy says.",
        discussion: """
            The archive stays as it is: pins, tags and notes are beside it in the remote folder.

            EXAMPLE
              grocerydude pin '[2026-Nov-21] 09.01 AM'

            \(ExitStatus.help)
            """
    )

    @OptionGroup var arguments: PinArguments

    func run() async throws {
        try await arguments.run(isPinned: true)
    }
}

struct UnpinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpin",
        abstract: "Let policies remove a backup again.",
        discussion: """
            EXAMPLE
              grocerydude unpin '[2026-Nov-21] 09.01 AM'

            \(ExitStatus.help)
            """
    )

    @OptionGroup var arguments: PinArguments

    func run() async throws {
        try await arguments.run(isPinned: false)
    }
}

/// What both take.
struct PinArguments: ParsableArguments {
    @Argument(help: "The backup's name, any unique part of it, or 'latest'.")
    var name: String

    @OptionGroup var stores: StoresOptions
    @OptionGroup var remote: RemoteOptions
    @OptionGroup var output: OutputOptions

    func run(isPinned: Bool) async throws {
        try await Session.run(output, stores, remote, needsWholeStores: false) { session in
            let backup = try await PinBackup(
                in: session.remote(),
                catalog: session.catalog,
                timeZone: session.timeZone,
                context: session.context
            ).run(name, isPinned: isPinned, at: session.now)
            if output.json {
                let checks = session.checkHistories(of: [backup])[backup.name]
                try session.console.answer(json: ListCommand.Row(backup, checks, session))
            } else {
                session.console.done(
                    "\(isPinned ? "pinned" : "unpinned") '\(backup.displayName)'"
                )
            }
            return .done
        }
    }
}
