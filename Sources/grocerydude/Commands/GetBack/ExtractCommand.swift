internal import ArgumentParser
internal import Files
internal import Operations
internal import SystemPackage

struct ExtractCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "extract",
        "Get files or directories out of a backup.",
        discussion: """
            Each file goes to its path below the current directory, or below another one. Each is verified, \
            and appears whole or not at all; nothing is replaced. A store comes out as one clean database.

            '--to -' writes one file to standard output. Each MiB is verified before it is written; if one is \
            damaged, the command ends there, with exit code 20.
            """,
        example: "grocerydude extract latest photos/map.jpg --to /tmp",
        "grocerydude extract latest notes.sqlite .notes_SUPPORT",
        "grocerydude extract latest settings.json --to - | jq ."
    )

    @Argument(help: "The backup's name, or 'latest'.", completion: NameCompletion.backups())
    var name: String
    @Argument(
        help:
            "What to get: paths as 'grocerydude show' prints them; a directory is taken with all in it."
    )
    var paths: [String]

    @Option(
        name: .customLong("to"),
        help: "The directory, or '-' for standard output; else the current one.".value("dir"),
        completion: .directory
    )
    var target: String?

    @Flag(help: "Give files their set-user-id and set-group-id bits.")
    var keepSetuid = false

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    func validate() throws {
        try refuseEmpty(target, "'--to'")
        guard !paths.isEmpty else {
            throw ValidationError("Missing expected argument '<paths> ...'")
        }
        guard target != "-" || paths.count == 1 else {
            throw ValidationError("'--to -' writes one file: name only one")
        }
    }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let paths = try paths.map(invocation.inStores)
        if target == "-" { return try await write(paths[0], invocation) }
        let extract = ExtractFiles(
            context: invocation.context,
            fileSystem: invocation.fileSystem,
            keepingSetID: keepSetuid
        )
        let directory = invocation.absolute(FilePath(target ?? "."))
        let outcome = try await invocation.read(name) {
            try extract.run(paths, of: $0, to: directory)
        }
        return try invocation.answer(ExtractAnswer(outcome: outcome))
    }

    /// Writes a file to standard output.
    private func write(_ path: String, _ invocation: Invocation) async throws -> CommandResult {
        let console = invocation.console
        try await invocation.read(name) { backup in
            try backup.read(path) { bytes in
                console.answer(bytes: bytes, isText: true)
                return !console.isAnswerLost
            }
        }
        return CommandResult(.done)
    }
}

/// The answer about files extracted from a backup.
struct ExtractAnswer: Answer, JSONConvertible {
    let outcome: ExtractFiles.Outcome

    var json: JSONObject {
        ["paths": outcome.paths, "files": outcome.files, "bytes": outcome.bytes]
    }

    func write(to console: Console) {
        console.done(
            "\(counted(outcome.files, "file", "files")), \(byteCount(outcome.bytes)): \(outcome.paths.map { "'\($0)'" }.joined(separator: ", "))"
        )
    }
}
