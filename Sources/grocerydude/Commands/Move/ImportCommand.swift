internal import ArgumentParser
internal import Backups
internal import Operations
internal import SystemPackage

struct ImportCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "import",
        "Add an archive that was made elsewhere to the remote folder.",
        discussion: """
            It is verified first, and named after the time at which it was made. That time is from its \
            manifest, else from '--at', else from its own name, else from its file. The file stays.
            """,
        example: "grocerydude import ~/Downloads/Stores.zip --at '2019-05-04 18:30'"
    )

    @Argument(help: "The archive.", completion: .file(extensions: ["zip", "age"]))
    var file: String

    @Option(
        help:
            "When it was made, if its manifest does not say so: '2019-05-04 18:30', or RFC 3339."
            .value("time"),
        transform: Moment.init
    )
    var at: Moment?

    @Option(help: "A tag for 'prune --keep-tag'; may be repeated.".value("tag"))
    var tag: [String] = []

    @Option(help: "A note, which 'list' shows.".value("text"))
    var note: String?

    @OptionGroup var recipients: RecipientOptions
    @OptionGroup(title: HelpSection.further) var sameName: SameNameOptions
    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    var ownFlags: [FlagValue?] { recipients.flags }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        var options = ImportArchive.Options(date: invocation.now)
        options.time = at?.date(now: invocation.now, in: invocation.timeZone)
        options.tags = tag.flatMap { $0.split(separator: ",").map(String.init) }
        options.note = note
        options.sameName = sameName.sameName
        options.limits = invocation.profile.limits
        // The profile's recipients are for new backups.
        options.encryptsAgain = !recipients.recipient.isEmpty
        let folder = try invocation.folder()
        try await invocation.context.refuse(folder, in: invocation.stores)
        let outcome = try await ImportArchive(
            to: folder,
            options: options,
            context: invocation.context
        ).run(FilePath(file))
        return try invocation.answer(
            ImportAnswer(outcome: outcome, invocation: invocation),
            problems: outcome.problems
        )
    }
}
