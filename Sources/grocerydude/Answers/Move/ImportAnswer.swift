internal import Backups
internal import Files
internal import Operations

/// The answer about a backup made from an archive.
struct ImportAnswer: Answer {
    var messageType = "summary"
    var name: String
    var displayName: String
    var time: LocalTime
    var timeSource: String
    var size: Int64
    var bytes: Int64
    var stores: Int
    /// Whether the folder already had it.
    var unchanged: Bool
    var replaced: String?
    /// The names of the backups imported with it, since it is built on them.
    var needs: [String]?
    var problems: [Problem]

    init(_ outcome: ImportArchive.Outcome, _ invocation: Invocation) {
        name = outcome.backup.name
        displayName = outcome.backup.displayName
        time = invocation.local(outcome.time)
        timeSource = outcome.timeSource.rawValue
        size = outcome.backup.size
        bytes = outcome.bytes
        stores = outcome.stores
        unchanged = outcome.wasThere
        replaced = outcome.replaced?.name
        needs = outcome.needs.isEmpty ? nil : outcome.needs.map(\.name)
        problems = outcome.problems
    }

    func write(to console: Console) {
        for need in needs ?? [] { console.done(need) }
        console.done(name)
        let source =
            switch timeSource {
            case "manifest": "its manifest"
            case "given": "you"
            case "name": "its name"
            default: "the last change of its file"
            }
        console.message(
            unchanged
                ? "it is there already: nothing was imported"
                : "\(counted(stores, "store", "stores")), \(byteCount(bytes)); the time is as \(source) "
                    + (timeSource == "given" ? "said" : "says")
        )
        if let replaced {
            console.message("the other '\(BackupName.display(replaced))' is in the trash now")
        }
    }
}
