internal import Archives
internal import Backups
internal import Files
internal import Stores
internal import SystemPackage

/// The files that rows refer to: every one has to be in the archive.
extension BackupWriter {
    /// Returns files that rows refer to and that are not there, also in a cut that was made again.
    func findMissingExternalFiles(of stores: [KnownStore]) throws -> Set<RelativePath> {
        var missing: Set<RelativePath> = []
        for (member, report) in stores {
            for path in member.externalFiles(report)
            where (try? FileInfo.ifPresent(path.below(directory.path))) as FileInfo?? == .some(nil)
            {
                missing.insert(path)
            }
        }
        if let first = missing.sorted().first, !missing.isSubset(of: plan.knownMissing), !isLastTry
        {
            throw CutAgain(reason: "'\(first)' is missing", missing: missing)
        }
        for path in missing.sorted() {
            noteMissing(path, "is not there")
        }
        return missing
    }

    /// Adds a store's directory of external data, which had all needed files a moment ago.
    func addExternalData(of store: Store, needed: Set<RelativePath>) throws {
        let support = store.supportDirectory
        // Anything else with that name comes with the other files.
        if !isAdded(support), let info = try FileInfo.ifPresent(support.below(directory.path)),
            info.kind == .directory
        {
            addedSupport.insert(support)
            let parent = try open(support.parent)
            if try visit(WalkedFile(path: support, directory: parent, info: info)) == .descend {
                try walk(from: support)
            }
        }
        try addLeftOut(needed.subtracting(addedFiles), of: store)
        for path in needed.subtracting(addedFiles).sorted() {
            if try FileInfo.ifPresent(path.below(directory.path)) != nil, !isPlainFile(path) {
                noteMissing(path, "is no file, or behind a link")
                continue
            }
            guard isLastTry else { throw CutAgain(reason: "'\(path)' was removed") }
            noteMissing(path, "went while the backup was made")
        }
    }

    private func noteMissing(_ path: RelativePath, _ what: String) {
        note(.missingExternalData, path, "a store refers to this file, and it \(what)")
    }

    /// Whether a path leads to a regular file without a link on its way.
    func isPlainFile(_ path: RelativePath) -> Bool {
        (try? open(path.parent).info(path.name))?.kind == .file
    }

    /// Whether a directory was added with another that it is in.
    private func isAdded(_ path: RelativePath) -> Bool {
        sequence(first: path, next: \.parent).contains { addedSupport.contains($0) }
    }

    /// Adds files of external data that are to be left out, and that a store's rows refer to: without them
    /// the store would be damaged.
    func addLeftOut(_ needed: Set<RelativePath>, of store: Store) throws {
        var added: [RelativePath] = []
        for path in needed.sorted() where try isPlainFile(path) && leavesOut(path) {
            let parent = try open(path.parent)
            guard let info = try? parent.info(path.name) else { continue }
            try addDirectories(above: path, upTo: store.supportDirectory)
            try addFile(WalkedFile(path: path, directory: parent, info: info))
            added.append(path)
        }
        guard let first = added.first else { return }
        let count = counted(added.count, "file", "files")
        context.warn(
            "\(count) such as '\(first)' would be left out, and \(added.count == 1 ? "is" : "are") backed up: "
                + "rows in '\(store.path)' refer to \(added.count == 1 ? "it" : "them")"
        )
    }

    private func leavesOut(_ path: RelativePath) throws -> Bool {
        try plan.options.leavingOut.leavesOut(path, in: directory.path)
    }

    /// Adds the entries of the directories that a walk has passed over.
    private func addDirectories(above path: RelativePath, upTo top: RelativePath) throws {
        var missing: [RelativePath] = []
        for directory in sequence(first: path, next: \.parent).dropFirst() {
            missing.append(directory)
            if directory == top { break }
        }
        for directory in missing.reversed() where !addedDirectories.contains(directory) {
            addedDirectories.insert(directory)
            let info = try open(directory).info()
            try archive.add(attributes(directory, .directory, info))
        }
    }

    // MARK: - Left out

    /// Returns whether something is left out: the user said so, or it is a part of a store that is.
    ///
    /// Files that rows refer to come all the same, with `addLeftOut`.
    func isLeftOut(_ file: WalkedFile) -> Bool {
        leftOut.parts.contains(file.path) || plan.options.leavingOut.leavesOut(file)
    }

    /// Says what was left out: of each store, since that may be a mistake, and of all else in detail.
    func tellLeftOut() {
        for store in leftOut.stores {
            context.note("the store '\(store.path)' is left out, with all of its files")
        }
        let stores = Set(leftOut.stores.map(\.path))
        for path in leftOut.paths where !stores.contains(path) {
            context.tellDetail("'\(path)' is left out")
        }
        let rest = leftOut.count - leftOut.paths.count
        if rest > 0 { context.tellDetail("\(rest) more are left out") }
    }

    /// Opens a directory below the stores directory, or that itself, without following a link.
    func open(_ path: RelativePath?) throws -> Directory {
        try (path?.components ?? []).reduce(.open(directory.path)) { try $0.directory($1) }
    }
}
