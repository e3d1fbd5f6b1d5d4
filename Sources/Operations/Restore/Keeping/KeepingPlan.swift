internal import Backups
internal import Files
internal import Stores
internal import SystemPackage

/// The names of a stores directory that stay when a restore replaces it: everything that the backup excluded.
///
/// With an excluded store, SQLite's files and its external data stay. Files beside a restored store never stay, even if
/// the rules match them: SQLite would take them for that store's log.
struct KeepingPlan {
    /// The paths that stay, with everything in them; some may be missing, such as a store's log.
    private(set) var kept: [RelativePath] = []
    /// The paths that match the rules but are replaced, because the backup has them.
    private(set) var overruled: [RelativePath] = []
    /// The paths that stay because they are outside the exchanged part.
    private(set) var untouched: [RelativePath] = []

    let live: FilePath
    private let new: FilePath

    /// Examines both directories.
    ///
    /// - Parameters:
    ///   - exclusions: the rules of the backup.
    ///   - live: the directory with the present data.
    ///   - new: the directory with the restored data.
    ///   - chosen: the paths that stay even if the rules do not match them.
    ///   - checkCancellation: called now and then; throws to stop.
    /// - Throws: `FileError`; errors of `checkCancellation`.
    init(
        of exclusions: Exclusions,
        from live: FilePath,
        into new: FilePath,
        chosen: Set<RelativePath> = [],
        checkCancellation: () throws -> Void = {}
    ) throws {
        (self.live, self.new) = (live, new)
        let directory = try StoresDirectory(live)
        let rules = LeavingOut.matches(exclusions)
        let survey = try directory.survey(leavingOut: rules, isCancelled: checkCancellation)
        let logs = Set(survey.leftOut.stores.flatMap { $0.files.dropFirst() })
        let stores = Dictionary(survey.leftOut.stores.map { ($0.path, $0) }) { first, _ in first }
        var inherited: Set<RelativePath> = []
        try Directory.open(live).walk(failed: { _, _ in }) { file in
            try checkCancellation()
            let path = file.path
            if path.parent == nil, directory.leavesOut(file.name, file.info) { return .skip }
            // These files are handled with their stores.
            if survey.storeFiles.contains(path) || logs.contains(path) { return .skip }
            let stays =
                path.parent.map(inherited.contains) ?? false || chosen.contains(path)
                || survey.leftOut.parts.contains(path) || exclusions.excludes(file)
            guard stays else { return .descend }
            guard try !isLogOfRestoredStore(path) else { return .skip }
            let files = stores[path]?.files ?? [path]
            let taken = try files.compactMap { try FileInfo.inside(new, $0) }
            if taken.isEmpty {
                kept += files
                return .skip
            }
            if taken.allSatisfy({ $0.kind == .directory }), file.info.kind == .directory {
                inherited.insert(path)
                return .descend
            }
            overruled.append(path)
            return .skip
        }
    }

    /// Drops paths outside a part: nothing moves there, and everything stays in its place.
    mutating func limit(to part: RestoredPart) {
        untouched = kept.filter { !part.contains($0) }
        kept.removeAll { !part.contains($0) }
        overruled.removeAll { !part.contains($0) }
    }

    /// Whether a file's name is that of the log of a restored file.
    private func isLogOfRestoredStore(_ path: RelativePath) throws -> Bool {
        guard let base = Store.database(ofFileBeside: path) else { return false }
        return try FileInfo.inside(new, base)?.kind == .file
    }

    /// Throws `RestoreError.cannotKeep` if a kept path cannot be moved, before anything is changed.
    ///
    /// Mount points were already refused; see `StoresDirectory.refuseToBeReplaced`.
    func refuseUnmovable() throws {
        var movable: Set<FilePath> = []
        func refusal(_ directory: FilePath, for path: RelativePath) -> RestoreError {
            let reason = "'\(printable(directory))' may not be changed"
            return .cannotKeep(path.below(live), reason: reason)
        }
        func require(_ directory: FilePath, for path: RelativePath) throws {
            guard !movable.contains(directory) else { return }
            guard directory.allowsChanges else { throw refusal(directory, for: path) }
            movable.insert(directory)
        }
        for path in kept {
            guard let info = try FileInfo.inside(live, path) else { continue }
            let place = path.below(live)
            if info.kind == .directory, !place.allowsMove { throw refusal(place, for: path) }
            try require(path.parent?.below(live) ?? live, for: path)
            if let parent = path.parent, try FileInfo.inside(new, parent) != nil {
                try require(parent.below(new), for: path)
            }
        }
        guard kept.reduce(0, { $0 + $1.bytes.count + 1 }) <= RestoreJournal.keptLimit else {
            let reason = "there are \(kept.count) such paths, which is too many"
            throw RestoreError.cannotKeep(live, reason: reason)
        }
    }

    /// Creates the directories that exist only because they contain kept paths.
    ///
    /// - Throws: `FileError`.
    func makeParents() throws {
        for path in kept {
            guard let parent = path.parent, try FileInfo.inside(live, path) != nil else { continue }
            for directory in sequence(first: parent, next: \.parent).reversed()
            where try FileInfo.inside(new, directory) == nil {
                try Self.makeDirectory(
                    directory,
                    in: new,
                    like: FileInfo(of: directory.below(live))
                )
            }
        }
    }

    /// Creates a directory with the attributes of another, and flushes it to the disk.
    static func makeDirectory(
        _ path: RelativePath,
        in root: FilePath,
        like info: FileInfo
    ) throws {
        let parent = try Directory.open(path.parent?.below(root) ?? root)
        try parent.createDirectory(path.name)
        let directory = try parent.directory(path.name)
        if AttributeRules.mayGiveAway { try directory.setOwner(info.owner, group: info.group) }
        try directory.setAttributes(mode: info.mode, modified: info.modified)
        try directory.sync()
        try parent.sync()
    }
}
