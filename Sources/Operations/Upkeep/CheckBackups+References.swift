internal import Archives
internal import Backups
internal import Files
internal import Stores

extension CheckBackups {
    /// Holds the files that rows refer to against those in a backup, whose data was verified.
    ///
    /// The rows are read where they are. A file that was told to be missing when the backup was made is no damage of
    /// the backup. Of an increment without what it needs, and of an archive of another program, nothing is known.
    ///
    /// - Parameters:
    ///   - archived: the backup.
    ///   - result: gets the number of references, and what is missing.
    /// - Throws: `DamagedBytes`, `ArchiveError`, `ArchivedBackupError`, `CancellationError`.
    func checkReferences(of archived: ArchivedBackup, _ result: inout Result) throws {
        guard archived.isDescribed, let header = archived.header,
            !header.isIncrement || !archived.needs.isEmpty
        else { return }
        let opened = OpenedBackup(archived, context: context)
        let contents = try opened.contents()
        let present = try PresentFiles(of: contents, in: opened)
        let known = Set(
            contents.problems.filter { $0.kind == .missingExternalData }.map(\.path)
        )
        for (path, items) in contents.stores {
            guard let store = items.first?.attributes.path else { continue }
            let facts = header.stores.first { $0.path == path }
            guard facts?.kind == .coreData || present.hasSupportDirectory(of: store) else {
                continue
            }
            do {
                let names = try opened.store(path, of: items)
                    .externalReferences(checkCancellation: context.checkCancellation)
                result.externalReferences = (result.externalReferences ?? 0) + names.count
                result.tell(try present.missing(names, of: store), known: known)
            } catch let error as StoreError {
                if case .damagedPage = error { throw error }
                // Its bytes are as they were saved.
                let reason = "what rows of '\(path)' refer to is not known: \(error)"
                result.remarks.append(reason)
            }
        }
    }

    /// The files of external data in a backup.
    private struct PresentFiles {
        private var files: Set<RelativePath> = []
        private var supportDirectories: Set<RelativePath> = []

        init(of contents: StoreContents, in opened: OpenedBackup) throws {
            let directories = Set(
                contents.stores.compactMap { _, items in
                    items.first.map { Store.externalDataDirectory(of: $0.attributes.path) }
                }
            )
            let supports = Set(directories.compactMap(\.parent))
            try opened.forEach { item in
                let path = item.attributes.path
                if supports.contains(path) { supportDirectories.insert(path) }
                guard item.attributes.kind == .file, let parent = path.parent,
                    directories.contains(parent)
                else { return }
                files.insert(path)
            }
        }

        func hasSupportDirectory(of store: RelativePath) -> Bool {
            Store.externalDataDirectory(of: store).parent.map(supportDirectories.contains) ?? false
        }

        /// Returns the files of these names that are not there, in their order.
        func missing(_ names: Set<String>, of store: RelativePath) throws -> [RelativePath] {
            let directory = Store.externalDataDirectory(of: store)
            return try names.map { directory.appending(try RelativePath($0).name) }
                .filter { !files.contains($0) }
                .sorted()
        }
    }
}

extension CheckBackups.Result {
    /// The most missing files that are told one by one.
    private static let toldLimit = 100

    /// Tells of files that are missing; of those that are known to be, as a remark.
    fileprivate mutating func tell(_ missing: [RelativePath], known: Set<String>) {
        let paths = missing.map(\.description)
        add(paths.filter { !known.contains($0) }, to: \.damage) {
            "'\($0)': a store refers to this file, and it is not in the backup"
        }
        missingReferences += paths.count(where: known.contains)
        add(paths.filter(known.contains), to: \.remarks) {
            "'\($0)': a store refers to this file, and it was missing when the backup was made"
        }
    }

    private mutating func add(
        _ paths: [String],
        to texts: WritableKeyPath<CheckBackups.Result, [String]>,
        _ text: (String) -> String
    ) {
        self[keyPath: texts] += paths.prefix(Self.toldLimit).map(text)
        guard paths.count > Self.toldLimit else { return }
        self[keyPath: texts].append("and \(paths.count - Self.toldLimit) more of this kind")
    }
}
