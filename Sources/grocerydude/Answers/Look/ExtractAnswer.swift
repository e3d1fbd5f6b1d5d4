internal import Files
internal import Operations

/// What was extracted from a backup.
struct ExtractAnswer: Answer {
    /// The new files and directories that were named.
    var paths: [String]
    /// Files in them.
    var files: Int
    var bytes: Int64

    init(_ outcome: ExtractFiles.Outcome) {
        paths = outcome.paths
        files = outcome.files
        bytes = outcome.bytes
    }

    func write(to console: Console) {
        console.done(
            "\(counted(files, "file", "files")), \(byteCount(bytes)): \(paths.map { "'\($0)'" }.joined(separator: ", "))"
        )
    }
}
