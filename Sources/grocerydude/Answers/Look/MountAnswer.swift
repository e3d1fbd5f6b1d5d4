internal import Files

/// Where backups are mounted, said as soon as they are.
struct MountAnswer: Answer {
    /// The directory.
    var path: String
    /// How many backups there are.
    var backups: Int

    func write(to console: Console) {
        console.done(
            "\(counted(backups, "backup", "backups")) mounted at '\(path)': end it with Ctrl-C, or 'fusermount3 -u '\(path)''"
        )
    }
}
