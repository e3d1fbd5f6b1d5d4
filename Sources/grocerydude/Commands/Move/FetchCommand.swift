internal import ArgumentParser
internal import Backups
internal import Operations
internal import SystemPackage

struct FetchCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "fetch",
        "Get the archive of a backup, as a zip of its own name.",
        discussion: """
            Nothing is overwritten, and the file appears once it is verified. Any program for zips opens it. The \
            backups that an increment is built on come with it.
            """,
        example: "grocerydude fetch latest /media/usb"
    )

    @Argument(help: "The backup's name, any unique part of it, or 'latest'.")
    var name: String

    @Argument(
        help: ArgumentHelp("The directory to put it into; else the working directory."),
        completion: .directory
    )
    var directory = "."

    @Flag(help: "Fetch a damaged backup too.")
    var allowDamaged = false

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let folder = try invocation.folder()
        let backup = try await BackupChoice(in: folder, invocation).find(name)
        let fetch = FetchBackup(
            from: folder,
            allowsDamage: allowDamaged,
            context: invocation.context
        )
        let path = invocation.absolute(FilePath(directory))
        let isAlone = allowDamaged && backup.missingNeed != nil
        let outcome =
            try await isAlone
            ? fetch.run(backup, into: path) : fetch.runWithNeeds(backup, into: path)
        return try invocation.answer(FetchAnswer(outcome), problems: outcome.problems)
    }
}
