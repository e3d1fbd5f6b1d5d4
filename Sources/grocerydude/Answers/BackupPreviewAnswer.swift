internal import Backups
internal import Files
internal import Operations

/// The answer about a backup that was only planned.
struct BackupPreviewAnswer: Answer {
    var messageType = "plan"
    var profile: String?
    /// The name that the backup would get.
    var name: String
    var remote: String
    /// The number of backups in the folder; `nil` if it cannot be listed.
    var backups: Int?
    /// The kind: `full`, or `increment` for one that is built on others.
    var kind: String
    /// The names of the backups that an increment would be built on, the full one first.
    var needs: [String]
    /// Whether it would wait on this machine, since the remote folder cannot be reached.
    var waiting: Bool
    /// The size of all files in bytes, before compression.
    var bytes: Int64
    /// The paths of the stores.
    var stores: [String]
    var files: [ShowAnswer.File]
    /// The number of excluded files and directories.
    var leftOut: Int
    /// The first excluded paths.
    var leftOutPaths: [String]
    var problems: [Problem]

    init(_ preview: BackupPreview, _ invocation: Invocation) {
        profile = invocation.profile.name
        name = preview.name
        remote = invocation.address
        backups = preview.backups
        kind = preview.needs.isEmpty ? "full" : "increment"
        needs = preview.needs
        waiting = preview.waitsFor != nil
        bytes = preview.bytes
        stores = preview.stores
        files = preview.files.map { ShowAnswer.File($0, invocation) }
        leftOut = preview.leftOut
        leftOutPaths = preview.leftOutPaths
        problems = preview.problems
    }

    func write(to console: Console) {
        console.answer("would save '\(name)'")
        console.answer(columns: Columns(rows: facts))
        console.answer("")
        console.answer(lines: ShowAnswer.File.lines(files))
    }

    private var facts: [[String]] {
        let known = backups.map { " (\(counted($0, "backup", "backups")))" } ?? ""
        let place =
            waiting ? "this machine, until '\(remote)' can be reached" : "'\(remote)'\(known)"
        let base = needs.last.map { "increment on '\(BackupName.display($0))'" }
        let more = needs.count > 1 ? ", needs \(needs.count - 1) more" : ""
        let content =
            "\(counted(stores.count, "store", "stores")) and \(counted(files.count, "entry", "entries")), \(byteCount(bytes)) before compression"
        let rest = leftOut - leftOutPaths.count
        return [["to", place], ["kind", base.map { $0 + more } ?? "full"], ["size", content]]
            + leftOutPaths.map { ["left out", $0] }
            + (rest > 0 ? [["left out", "\(rest) more"]] : [])
            + problems.summarized.map { ["problem", $0.description] }
    }
}
