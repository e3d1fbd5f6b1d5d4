internal import Files
internal import Operations

/// The answer about a report that was written.
struct ReportAnswer: Answer, JSONConvertible {
    let page: ReportPage
    /// The page's file.
    let path: String
    /// The size of the page in bytes.
    let size: Int

    private var backups: Int { page.profiles.reduce(0) { $0 + $1.report.backups.count } }

    var json: JSONObject {
        let (problems, notices) = page.counts
        return [
            "messageType": "summary", "path": path, "size": size,
            "profiles": page.profiles.count, "backups": backups, "problems": problems,
            "notices": notices,
        ]
    }

    func write(to console: Console) {
        let (problems, notices) = page.counts
        let what = [
            counted(backups, "backup", "backups"), counted(problems, "problem", "problems"),
            counted(notices, "note", "notes"), byteCount(Int64(size)),
        ].joined(separator: ", ")
        console.done("wrote '\(path)': \(what)")
    }
}
