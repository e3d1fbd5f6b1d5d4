internal import Backups
internal import Files
internal import Operations

/// The backup that was restored, or would be.
struct RestoreAnswer: Answer {
    var messageType = "summary"
    var name: String
    var path: String
    var files: Int
    var bytes: Int64
    var stores: Int
    var safetyBackup: String?
    var dryRun: Bool
    var dataRead: Bool
    var problems: [Problem]
    private let outcome: RestoreBackup.Outcome
    private let wouldBackUp: Bool

    private enum CodingKeys: CodingKey {
        case messageType, name, path, files, bytes, stores, safetyBackup, dryRun, dataRead, problems
    }

    init(_ outcome: RestoreBackup.Outcome, isDryRun: Bool, _ invocation: Invocation) {
        name = outcome.backup.name
        path = outcome.path
        files = outcome.files
        bytes = outcome.bytes
        stores = outcome.stores
        safetyBackup = outcome.safetyBackup?.name
        dryRun = isDryRun
        dataRead = outcome.isDataRead
        problems = outcome.problems
        self.outcome = outcome
        wouldBackUp =
            isDryRun && outcome.replacesData && invocation.profile.restore.makesSafetyBackup
    }

    func write(to console: Console) {
        let place = "'\(outcome.backup.displayName)' to '\(path)'"
        let what =
            counted(files, "file", "files") + ", \(byteCount(bytes)), "
            + counted(stores, "store", "stores")
        guard !dryRun else {
            console.answer("would restore \(place): \(what)")
            if !dataRead {
                console.message("its data was not fetched: 'grocerydude check' would read it")
            }
            if wouldBackUp { console.answer("would back up the present data first") }
            return
        }
        console.done("restored \(place)")
        console.message(what)
        if let safety = outcome.safetyBackup {
            console.message(
                "the previous data is in '\(safety.displayName)': to undo, restore that"
            )
        }
    }
}
