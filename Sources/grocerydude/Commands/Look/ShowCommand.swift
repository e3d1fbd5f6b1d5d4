internal import ArgumentParser
internal import Operations

struct ShowCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "show",
        "Show what is inside a backup, without extracting it.",
        discussion: """
            A backup is named by its file name, its display name, any unique part of it, or 'latest'. \
            'live' is the stores directory as it is now.
            """,
        example: "grocerydude show latest",
        "grocerydude show latest --tree",
        "grocerydude show latest photos",
        "grocerydude show live"
    )

    @Argument(
        help: "The backup's name, 'latest', or 'live'.",
        completion: NameCompletion.backups(or: "live")
    )
    var name: String

    @Argument(help: "Only the file at this path, or what is in the directory.")
    var path: String?

    @Flag(help: "Show the files as a tree, and nothing else.")
    var tree = false

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    func run(_ invocation: Invocation) async throws -> CommandResult {
        var answer =
            try await name == LiveStores.name ? showLive(invocation) : showBackup(invocation)
        answer.isTree = tree
        if path != nil { answer.keepStoresOfFiles() }
        return try invocation.answer(answer)
    }

    private func showBackup(_ invocation: Invocation) async throws -> ShowAnswer {
        let folder = try invocation.folder()
        let name = try await BackupChoice(in: folder, invocation).naming(name)
        let outcome = try await ShowBackup(in: folder, context: invocation.context)
            .run(name, path: path.map(invocation.inStores), now: invocation.now)
        return ShowAnswer(outcome, invocation)
    }

    private func showLive(_ invocation: Invocation) async throws -> ShowAnswer {
        let content = try await LiveContent(
            of: invocation.absolute(invocation.stores),
            naming: invocation.profile.externalFiles,
            at: path.map(invocation.inStores),
            now: invocation.now,
            invocation.context
        )
        return ShowAnswer(content, invocation)
    }
}
