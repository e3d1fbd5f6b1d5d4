internal import Archives
package import Files
internal import Stores

extension ArchivedBackup {
    /// Extracts all data that verifies into an empty directory.
    ///
    /// A file that has lost data gets another name, and zeros in place of the lost data.
    /// - Parameters:
    ///   - directory: the directory.
    ///   - rules: the rules for owners and modes.
    ///   - missing: the name of a missing backup that this one is built on; `nil` if none is missing.
    ///   - progressed: called with the number of bytes just read; throws to stop.
    /// - Returns: what was lost, and remarks.
    /// - Throws: `FileError` if the directory cannot be written; what `progressed` throws.
    package func salvage(
        into directory: Directory,
        by rules: AttributeRules,
        missing: String?,
        progressed: @escaping (Int64) throws -> Void
    ) throws -> (problems: [Problem], remarks: [String]) {
        let extractor = ArchiveExtractor(
            into: directory,
            syncing: .each,
            threads: 1,
            progressed: progressed
        )
        defer { extractor.close() }
        var (problems, rules) = ([Problem](), rules)
        func lose(_ path: RelativePath, _ reason: String) {
            problems.append(Problem(kind: .lost, path: path.description, reason: reason))
        }
        func take(_ item: ArchiveItem) throws {
            var item = item
            try rules.apply(to: &item.attributes)
            let path = item.attributes.path
            guard path.components.first != StoresDirectory.restoreArea, !item.entry.isSpecial
            else { return lose(path, "it is never restored") }
            switch try extractor.salvage(item, damagedName: Self.damagedName) {
            case .all(let reason): lose(path, reason)
            case .segments(let segments, let count):
                let what = counted(segments.count, "MiB", "MiB")
                lose(
                    path,
                    "\(what) of \(count) \(segments.count == 1 ? "is" : "are") lost, the first at byte \(segments[0] << 20); the rest is in '\(Self.damagedName(path.name))', with zeros there"
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
                        reason: "everything that only '\(missing)' has, which is missing or damaged"
                    )
                )
            } else {
                try forEach(take)
            }
        } catch let error where error is ArchiveError || error is ArchivedBackupError {
            problems.append(Problem(kind: .lost, path: ".", reason: explain(error)))
        }
        try extractor.finish()
        return (problems, rules.remarks)
    }

    private static func damagedName(_ name: FileName) -> FileName { name.derived(".damaged") }
}
