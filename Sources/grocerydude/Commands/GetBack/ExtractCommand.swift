internal import ArgumentParser
internal import Files
internal import Operations
internal import SystemPackage

struct ExtractCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "extract",
        "Get files or directories out of a backup.",
        discussion: """
            Each goes under its path below the current directory, or another one. Each is verified, and there \
            is in one step or not at all; nothing that is there is replaced. A store comes out as one clean \
            database.
            """,
        example: "grocerydude extract latest photos/map.jpg --to /tmp",
        "grocerydude extract latest notes.sqlite .notes_SUPPORT"
    )

    @Argument(help: "The backup's name, or 'latest'.")
    var name: String
    @Argument(
        help:
            "What to get: paths as 'grocerydude show' prints them; a directory is taken with all in it."
    )
    var paths: [String]

    @Option(
        name: .customLong("to"),
        help: ArgumentHelp("The directory; else the current one.", valueName: "dir"),
        completion: .directory
    )
    var target: String?

    @Flag(help: "Give files their set-user-id and set-group-id bits.")
    var keepSetuid = false

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    func validate() throws {
        guard !paths.isEmpty else {
            throw ValidationError("Missing expected argument '<paths> ...'")
        }
    }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let extract = ExtractFiles(
            context: invocation.context,
            fileSystem: invocation.fileSystem,
            keepingSetID: keepSetuid
        )
        let directory = invocation.absolute(FilePath(target ?? "."))
        let paths = paths
        let outcome = try await invocation.opened(name).look {
            try extract.run(paths, of: $0, to: directory)
        }
        return try invocation.answer(ExtractAnswer(outcome))
    }
}

/// The answer about files extracted from a backup.
struct ExtractAnswer: Answer {
    /// The new files and directories for the given names.
    var paths: [String]
    /// The number of files in them.
    var files: Int
    var bytes: Int64

    init(_ outcome: ExtractFiles.Outcome) {
        paths = outcome.paths
        files = outcome.files
        bytes = outcome.bytes
    }

    func write(to console: Console) {
        console.done(
            "\(counted(files, "file", "files")), \(byteCount(bytes)): \(paths.map { "'\($0)'" }.joined(separator: ", "))"
        )
    }
}
