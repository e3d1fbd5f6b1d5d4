internal import Files
internal import Operations

/// The answer about a report that was written.
struct ReportAnswer: Answer {
    var messageType = "summary"
    /// The page's file.
    var path: String
    /// The size of the page in bytes.
    var size: Int64
    var profiles: Int
    var backups: Int
    var problems: Int
    var notices: Int

    init(_ page: ReportPage, at path: String, size: Int) {
        self.path = path
        self.size = Int64(size)
        profiles = page.profiles.count
        backups = page.profiles.reduce(0) { $0 + $1.report.backups.count }
        (problems, notices) = page.counts
    }

    func write(to console: Console) {
        let what = [
            counted(backups, "backup", "backups"), counted(problems, "problem", "problems"),
            counted(notices, "note", "notes"), byteCount(size),
        ].joined(separator: ", ")
        console.done("wrote '\(path)': \(what)")
    }
}
