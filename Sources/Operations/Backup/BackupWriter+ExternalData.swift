internal import Archives
internal import Backups
internal import Files
internal import Stores
internal import SystemPackage

/// The files that rows refer to: all of them must be in the archive.
extension BackupWriter {
    /// Returns the missing files that rows refer to; requests a new cut first if that may find them.
    func findMissingExternalFiles(of stores: [KnownStore]) throws -> Set<RelativePath> {
        let missing = stores.reduce(into: Set()) { missing, store in
            missing.formUnion(store.0.missingFiles(store.1, in: directory.path))
        }
        if let first = missing.sorted().first, !missing.isSubset(of: plan.knownMissing),
            !plan.isLastTry
        {
            throw CutAgain(reason: "'\(first)' is missing", missing: missing)
        }
        for path in missing.sorted() {
            problems.append(Problem(missing: path))
        }
        return missing
    }

    /// Adds a store's directory of external data, after it was found to have all needed files.
    func addExternalData(of store: Store, needed: Set<RelativePath>) throws {
        let support = store.supportDirectory
        // Anything else with that name is added with the other files.
        if !isAdded(support), let info = try FileInfo.ifPresent(support.below(directory.path)),
            info.kind == .directory
        {
            addedSupport.insert(support)
            let parent = try open(support.parent)
            if try visit(WalkedFile(path: support, directory: parent, info: info)) == .descend {
                try walk(from: support)
            }
        }
        try addNeeded(needed.subtracting(addedFiles), of: store)
        for path in needed.subtracting(addedFiles).sorted() {
            guard !Manifest.isOwn(path) else {
                noteMissing(path, "cannot be saved, since every archive has its own")
                continue
            }
            if try FileInfo.ifPresent(path.below(directory.path)) != nil, !isPlainFile(path) {
                noteMissing(path, "is not a file, or is behind a link")
                continue
            }
            guard plan.isLastTry else { throw CutAgain(reason: "'\(path)' was removed") }
            noteMissing(path, "vanished while the backup was made")
        }
    }

    private func noteMissing(_ path: RelativePath, _ what: String) {
        problems.append(Problem(missing: path, what))
    }

    /// Whether a path leads to a regular file, without a link on the way.
    func isPlainFile(_ path: RelativePath) -> Bool {
        (try? open(path.parent).info(path.name))?.kind == .file
    }

    /// Whether a directory was added with another that contains it.
    private func isAdded(_ path: RelativePath) -> Bool {
        sequence(first: path, next: \.parent).contains { addedSupport.contains($0) }
    }

    /// Adds files that a store's rows refer to, and that are excluded or outside its directory of external data.
    ///
    /// Without them, the store would be damaged.
    private func addNeeded(_ needed: Set<RelativePath>, of store: Store) throws {
        var leftOut: [RelativePath] = []
        for path in needed.sorted() where isPlainFile(path) && !Manifest.isOwn(path) {
            let parent = try open(path.parent)
            guard let info = try? parent.info(path.name) else { continue }
            try addDirectories(above: path)
            try addFile(WalkedFile(path: path, directory: parent, info: info))
            addedSupport.insert(path)
            if try leavesOut(path) { leftOut.append(path) }
        }
        guard let first = leftOut.first else { return }
        let count = counted(leftOut.count, "file", "files")
        context.warn(
            "\(count) such as '\(first)' would be left out, and \(leftOut.count == 1 ? "is" : "are") backed up: "
                + "rows in '\(store.path)' refer to \(leftOut.count == 1 ? "it" : "them")"
        )
    }

    private func leavesOut(_ path: RelativePath) throws -> Bool {
        try plan.options.leavingOut.leavesOut(path, in: directory.path)
    }

    /// Adds the entries of parent directories that no walk has reached.
    private func addDirectories(above path: RelativePath) throws {
        let above = Array(sequence(first: path, next: \.parent).dropFirst())
        for directory in above.reversed() where !addedDirectories.contains(directory) {
            try addDirectory(directory, open(directory).info())
        }
    }

    /// Adds a directory's entry, unless it was already added for a file below it.
    func addDirectory(_ path: RelativePath, _ info: FileInfo) throws {
        guard !addedDirectories.contains(path) else { return }
        try add(attributes(path, .directory, info))
        if cut != nil { addedDirectories.insert(path) }
    }

    // MARK: - Exclusions

    /// Returns whether a file is excluded, by the user's rules or as part of an excluded store.
    ///
    /// Excluded files that rows refer to are added by `addNeeded`.
    func isLeftOut(_ file: WalkedFile) -> Bool {
        leftOut.parts.contains(file.path) || plan.options.leavingOut.leavesOut(file)
    }

    /// Reports the exclusions: each store in a note, because it may be a mistake, and everything else in detail.
    func reportLeftOut() {
        for store in leftOut.stores {
            context.note("the store '\(store.path)' is left out, with all of its files")
        }
        let stores = Set(leftOut.stores.map(\.path))
        for path in leftOut.paths where !stores.contains(path) {
            context.reportDetail("'\(path)' is left out")
        }
        let rest = leftOut.count - leftOut.paths.count
        if rest > 0 { context.reportDetail("\(rest) more are left out") }
    }

    /// Opens the stores directory, or a directory below it, without following a link.
    func open(_ path: RelativePath?) throws -> Directory {
        try (path?.components ?? []).reduce(.open(directory.path)) { try $0.directory($1) }
    }
}

extension StoresDirectory.Survey {
    /// Returns the problems with stores that are not inside: those behind links, or all, so that the backup misses its
    /// purpose.
    func absentStores(in directory: StoresDirectory) -> [Problem] {
        guard outside.isEmpty else { return outside.map(\.problem) }
        guard stores.isEmpty, foreign.isEmpty, !resemblesStore, leftOut.stores.isEmpty else {
            return []
        }
        let reason = "no store is in '\(printable(directory.path))': its files are saved"
        return [Problem(kind: .noStore, path: ".", reason: reason)]
    }
}

extension Problem {
    /// The problem that something has the name of the directory that every archive has.
    static let reserved = Problem(
        kind: .unreadable,
        path: Manifest.reserved.description,
        reason: "it cannot be saved, since every archive has a directory of that name; rename it"
    )

    /// The reason why a file is not saved that is in the directory of restores, or has its name.
    static let inRestoreArea = "it cannot be saved, since restores work under that name; move it"

    /// The reason why a file in that directory is not saved.
    static let inReservedDirectory =
        "it cannot be saved, since archives have that directory for themselves; move it"

    /// Creates the problem that a file of external data is missing, or cannot be saved for another reason.
    init(missing path: RelativePath, _ what: String = "is not there") {
        let reason = "a store refers to this file, and it \(what)"
        self.init(kind: .missingExternalData, path: path.description, reason: reason)
    }
}

extension OutsideLink {
    /// A problem that says that the stores behind the link are not in a backup.
    var problem: Problem {
        let link = "it is a link to '\(printable(target))'"
        let (kind, reason): (Problem.Kind, String) =
            switch end {
            case .store:
                (.linkedStore, "outside the stores directory, and that store is not in the backup")
            case .directory:
                (
                    .linkedDirectory,
                    "outside the stores directory, and the stores in there are not in the backup"
                )
            case .nothing: (.linkToNothing, "which is not there: no data of it is in the backup")
            }
        return Problem(kind: kind, path: path.description, reason: "\(link), \(reason)")
    }
}
