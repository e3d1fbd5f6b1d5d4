internal import ArgumentParser
internal import Files
internal import Foundation
internal import Operations
internal import SystemPackage

struct MountCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "mount",
        "Show all backups as read-only directories, until Ctrl-C.",
        discussion: """
            Each backup is a directory with its name, and 'latest' is a link to the newest. Only data that is \
            read is fetched, decrypted and inflated. It is verified first; damaged data gives an \
            input/output error. New backups appear, and deleted ones go. 'sqlite3 -readonly' opens the stores.

            It ends with Ctrl-C, SIGTERM or 'fusermount3 -u DIR', with exit code 0. libfuse 3 has to be \
            installed: the package 'fuse3' has it.
            """,
        example: "grocerydude mount /tmp/backups",
        "sqlite3 -readonly /tmp/backups/latest/notes.sqlite .tables"
    )

    @Argument(help: "An empty directory.", completion: .directory)
    var directory: String

    @Flag(
        help: "Let other users look, too, as the files' modes allow, even into encrypted backups."
    )
    var allowOther = false

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    func validate() throws { try refuseEmpty(directory, "the directory") }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        var options = MountBackups.Options(stores: invocation.absolute(invocation.stores))
        options.allowsOthers = allowOther
        let mount = try MountBackups(
            of: invocation.folder(),
            options: options,
            context: invocation.context,
            now: { Date() }
        )
        let path = FilePath(FileManager.default.currentDirectoryPath)
            .pushing(FilePath(directory)).lexicallyNormalized()
        try await mount.run(at: path) { count in
            try invocation.console.answer(MountAnswer(path: path.string, backups: count))
        }
        if !invocation.console.isAnswerLost { invocation.console.message("unmounted") }
        // The mount lasts until the user ends it, so this is success.
        return CommandResult(.done)
    }
}

/// The answer about mounted backups, printed as soon as they are mounted.
struct MountAnswer: Answer {
    /// The directory.
    var path: String
    /// The number of backups.
    var backups: Int

    func write(to console: Console) {
        console.done(
            "\(counted(backups, "backup", "backups")) mounted at '\(path)': end it with Ctrl-C, or \(Advice.quoted("fusermount3 -u \(shellWord(path))"))"
        )
    }
}
