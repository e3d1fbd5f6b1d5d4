internal import Files
internal import Operations

/// The answer about a folder that was or would be unlinked, with the places of all data.
struct UnlinkAnswer: Answer {
    var profile: String?
    /// The folder that was linked; `nil` if there was none.
    var remote: String?
    var stores: String
    /// The number of backups that stay in the folder, if it could be listed.
    var backups: Int?
    var size: Int64?
    /// The paths of the removed schedules.
    var schedules: [String] = []
    var dryRun: Bool

    func write(to console: Console) {
        let who = profile.map { "'\($0)' " } ?? ""
        guard let remote else {
            console.done(profile.map { "'\($0)' is not linked" } ?? "not linked", isDryRun: dryRun)
            return
        }
        let verb = dryRun ? "would unlink" : "unlinked"
        console.done("\(verb) \(who)from '\(remote)'", isDryRun: dryRun)
        for path in schedules {
            console.message("\(dryRun ? "would remove" : "removed") '\(path)'")
        }
        if let backups, let size {
            let what = counted(backups, "backup stays", "backups stay")
            console.message("\(what) in '\(remote)', \(byteCount(size))")
        } else {
            console.message("the backups stay in '\(remote)'; it could not be looked at")
        }
        console.message("the data stays in '\(stores)'")
    }
}
