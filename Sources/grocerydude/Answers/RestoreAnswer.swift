internal import Backups
internal import Files
internal import Operations

/// The backup that was restored, or would be.
struct RestoreAnswer: Answer {
    var messageType = "summary"
    var name: String
    var path: String
    /// What was named; missing if all of the backup was meant.
    var only: [String]?
    var files: Int
    var bytes: Int64
    var stores: Int
    var safetyBackup: String?
    var dryRun: Bool
    var dataRead: Bool
    var problems: [Problem]
    /// What a dry run found that would change; missing if that was not compared.
    var changes: PreviewObject?
    private let preview: RestorePreview?
    private let outcome: RestoreBackup.Outcome
    private let wouldBackUp: Bool
    private let folder: String
    /// Whether the user's own commands start the application.
    private let startsApplication: Bool

    private enum CodingKeys: CodingKey {
        case messageType, name, path, only, files, bytes, stores, safetyBackup, dryRun, dataRead,
            problems
        case changes
    }

    init(
        _ outcome: RestoreBackup.Outcome,
        isDryRun: Bool,
        preview: RestorePreview?,
        _ invocation: Invocation
    ) {
        self.preview = isDryRun ? preview : nil
        changes = self.preview.map(PreviewObject.init)
        name = outcome.backup.name
        path = outcome.path
        only = outcome.only.isEmpty ? nil : outcome.only
        files = outcome.files
        bytes = outcome.bytes
        stores = outcome.stores
        safetyBackup = outcome.safetyBackup?.name
        dryRun = isDryRun
        dataRead = outcome.isDataRead
        problems = outcome.problems
        self.outcome = outcome
        let backups = outcome.backups.map { " (\(counted($0, "backup", "backups")))" } ?? ""
        folder = "'\(invocation.address)'\(backups)"
        startsApplication = !invocation.applicationCommands.start.isEmpty
        wouldBackUp =
            isDryRun && outcome.replacesData && invocation.profile.restore.makesSafetyBackup
    }

    /// What was named, and where it comes from, for a sentence.
    private var part: String {
        guard let only, let first = only.first else { return "" }
        let rest = only.count == 1 ? "" : " and \(only.count - 1) more"
        return "'\(first)'\(rest) from "
    }

    func write(to console: Console) {
        let place = "\(part)'\(outcome.backup.displayName)' to '\(path)'"
        let what =
            counted(files, "file", "files") + ", \(byteCount(bytes)), "
            + counted(stores, "store", "stores")
        guard !dryRun else {
            console.answer("would restore \(place): \(what)")
            console.answer(lines: (preview?.lines ?? []).map { "  \($0)" })
            if !dataRead {
                console.message("its data was not fetched: 'grocerydude check' would read it")
            }
            if wouldBackUp { console.answer("would back up the present data first") }
            return
        }
        console.done("restored \(place)")
        console.message("\(what), from \(folder)")
        if let safety = outcome.safetyBackup {
            console.message(
                "the data from before is in '\(safety.displayName)': to undo, run \(UndoHint.command(only: only ?? []))"
            )
        }
        guard outcome.replacesData else { return }
        for holder in outcome.stillOpen {
            console.message(
                "\(holder) still has a replaced store open: all that it writes is lost, so end it now"
            )
        }
        // Files that are no store may be of no concern to it.
        if !startsApplication, only == nil || stores > 0 {
            console.message("start the application again, or have it open its stores anew")
        }
    }
}
