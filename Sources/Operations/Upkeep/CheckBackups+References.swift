internal import Archives
internal import Backups
internal import Files
internal import Stores

extension CheckBackups {
    /// Checks that a backup contains the files that rows refer to; its data must already be verified.
    ///
    /// It reads the rows in place. A file that was reported missing when the backup was made is no damage of the
    /// backup. It skips increments opened without their base backups, and archives of other programs.
    ///
    /// - Parameters:
    ///   - archived: the backup.
    ///   - result: gets the number of references, and the missing files.
    /// - Throws: `DamagedBytes`, `ArchiveError`, `ArchivedBackupError`, `CancellationError`.
    func checkReferences(of archived: ArchivedBackup, _ result: inout Result) throws {
        guard archived.isDescribed, let header = archived.header,
            !header.isIncrement || !archived.needs.isEmpty
        else { return }
        result.look(at: .files)
        var isKnown = true
        let opened = OpenedBackup(archived, context: context)
        let contents = try opened.contents()
        let present = try PresentFiles(of: contents, in: opened)
        let known = Set(
            contents.problems.filter { $0.kind == .missingExternalData }.map(\.path.exact)
        )
        let stores = Dictionary(header.stores.map { ($0.path.exact, $0) }) { first, _ in first }
        for (path, items) in contents.stores {
            guard let store = items.first?.attributes.path else { continue }
            let facts = stores[path.exact]
            guard
                facts?.kind == .coreData || facts?.externalReferences ?? 0 > 0
                    || present.hasSupportDirectory(of: store)
            else { continue }
            do {
                let names = try opened.store(path, of: items)
                    .externalReferences(checkCancellation: context.checkCancellation)
                result.externalReferences = (result.externalReferences ?? 0) + names.count
                result.report(try present.missing(names, of: store), known: known)
            } catch let error as StoreError {
                if case .damagedPage = error {
                    result.look(at: .stores)
                    throw error
                }
                // The store's bytes are the saved ones, so this is no damage of the backup.
                let reason = "what rows of '\(path)' refer to is not known: \(error)"
                result.remarks.append(reason)
                isKnown = false
            }
        }
        guard isKnown else { return }
        let isWhole = result.missingReferences == 0
        result.find(!result.damage.isEmpty ? .damaged : isWhole ? .well : .part)
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

        /// Returns the missing files among these names, sorted.
        func missing(_ names: Set<String>, of store: RelativePath) throws -> [RelativePath] {
            let directory = Store.externalDataDirectory(of: store)
            return try names.map { directory.appending(try RelativePath($0).name) }
                .filter { !files.contains($0) }
                .sorted()
        }
    }
}

extension CheckBackups.Result {
    /// Reports missing files, the first and the number of the others; files known to be missing become remarks.
    fileprivate mutating func report(_ missing: [RelativePath], known: Set<ExactString>) {
        let paths = missing.map(\.description)
        add(paths.filter { !known.contains($0.exact) }, to: \.damage) {
            "'\($0)': a store refers to this file, and it is not in the backup"
        }
        missingReferences += paths.count { known.contains($0.exact) }
        add(paths.filter { known.contains($0.exact) }, to: \.remarks) {
            "'\($0)': a store refers to this file, and it was missing when the backup was made"
        }
    }

    private mutating func add(
        _ paths: [String],
        to texts: WritableKeyPath<CheckBackups.Result, [String]>,
        _ text: (String) -> String
    ) {
        guard let first = paths.first else { return }
        self[keyPath: texts].append(text(first) + Problem.others(paths.count - 1))
    }
}
