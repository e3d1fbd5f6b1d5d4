internal import Archives
package import Files
internal import Stores

extension ArchivedBackup {
    /// Extracts as much as verifies into an empty directory.
    ///
    /// A file of which something is lost gets another name, and zeros where that was.
    /// - Parameters:
    ///   - directory: the directory.
    ///   - missing: the name of a backup that it is built on and that is missing; `nil` if none is.
    ///   - progressed: told of bytes that were read; it throws to stop.
    /// - Returns: what was lost.
    /// - Throws: `FileError` if the directory cannot be written; what `progressed` throws.
    package func salvage(
        into directory: Directory,
        missing: String?,
        progressed: @escaping (Int64) throws -> Void
    ) throws -> [Problem] {
        let extractor = ArchiveExtractor(
            into: directory,
            syncing: .each,
            threads: 1,
            progressed: progressed
        )
        defer { extractor.close() }
        var problems: [Problem] = []
        func lose(_ path: RelativePath, _ reason: String) {
            problems.append(Problem(kind: .lost, path: path.description, reason: reason))
        }
        func take(_ item: ArchiveExtractor.Item) throws {
            var item = item
            if !Self.mayGiveAway { item.attributes.owner = nil }
            let path = item.attributes.path
            guard path.components.first != StoresDirectory.restoreArea, !item.entry.isSpecial
            else { return lose(path, "it is never restored") }
            switch try extractor.salvage(item, damagedName: { $0.appending(Self.damagedSuffix) }) {
            case .all(let reason): lose(path, reason)
            case .segments(let segments, let count):
                let what = counted(segments.count, "MiB", "MiB")
                lose(
                    path,
                    "\(what) of \(count) \(segments.count == 1 ? "is" : "are") lost, the first at byte \(segments[0] << 20); the rest is in '\(path.name)\(Self.damagedSuffix)', with zeros there"
                )
            case nil: break
            }
        }
        do {
            if let missing {
                let assembly = try Assembly(ofRestOf: self)
                try assembly.forEachComplete(take)
                for path in assembly.incomplete { lose(path, "it is built on '\(missing)'") }
                problems.append(
                    Problem(
                        kind: .lost,
                        path: ".",
                        reason: "all that is in '\(missing)' alone, which is missing or damaged"
                    )
                )
            } else {
                try forEach(take)
            }
        } catch let error where error is ArchiveError || error is ArchivedBackupError {
            problems.append(Problem(kind: .lost, path: ".", reason: explain(error)))
        }
        try extractor.finish()
        return problems
    }

    private static let damagedSuffix = ".damaged"
}
