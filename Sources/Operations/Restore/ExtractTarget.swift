internal import Backups
internal import Files
internal import SystemPackage

/// A directory to extract a backup to, which appears only when it is complete.
struct ExtractTarget {
    let path: FilePath

    /// The directory that contains it.
    var parent: FilePath {
        let parent = path.removingLastComponent()
        return parent.isEmpty ? "." : parent
    }

    /// Chooses a path.
    ///
    /// - Throws: `RestoreError.targetNotEmpty` if there is something other than an empty directory.
    init(_ target: FilePath) throws {
        // A directory is moved there, which needs its name: "." and "a/.." have none.
        path = (try? target.resolved()) ?? target
        guard let info = try FileInfo.ifPresent(path) else { return }
        guard info.kind == .directory, try Directory.open(path).names().isEmpty else {
            throw RestoreError.targetNotEmpty(path)
        }
    }

    /// Fills a directory beside the target, and moves it there.
    ///
    /// If the move may be lost in a crash, that is a problem in the outcome.
    func build(
        _ outcome: inout RestoreBackup.Outcome,
        with fileSystem: any FileSystem,
        _ fill: (FilePath, inout RestoreBackup.Outcome) throws -> Void
    ) throws {
        try ScratchDirectory.with(in: parent) { scratch in
            let staged = scratch.appending("Stores")
            try fileSystem.createDirectory(staged)
            try fill(staged, &outcome)
            // Another process may have put something there since it was found empty.
            if try FileInfo.ifPresent(path) != nil, try !path.removeIfEmpty() {
                throw RestoreError.targetNotEmpty(path)
            }
            try fileSystem.move(staged, to: path)
        }
        do {
            try fileSystem.sync(parent)
        } catch {
            outcome.problems.append(
                Problem(kind: .notSynced, path: printable(path), reason: explain(error))
            )
        }
    }
}
