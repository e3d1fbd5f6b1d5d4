internal import Files
internal import Stores
internal import SystemPackage

/// The part of a backup that replaces a part of a stores directory, for the paths that a user named.
///
/// With a named store come its log and journal, if the backup has any, and its external data. Files of its external
/// data that the backup lacks stay in the stores directory: another store may refer to them, and they do no harm.
struct PartPlan: Sendable {
    /// The named paths, none of which contains another.
    let names: [RelativePath]
    /// The exchanged paths.
    let part: RestoredPart
    /// The extracted entries of the backup.
    let entries: Set<RelativePath>
    /// The number of extracted files, and their size in bytes.
    let files: Int
    let bytes: Int64
    /// The size of the extracted files without holes, in bytes.
    let allocated: Int64
    /// The named paths that the backup lacks, and that are removed.
    var removed: [RelativePath] { names.filter(Set(gone.paths).contains) }
    /// The extracted entries, and their size in bytes.
    var content: (entries: Set<RelativePath>, bytes: Int64) { (entries, bytes) }

    /// The named paths that are stores in the backup.
    private let stores: [RelativePath]
    /// The paths that are exchanged only because they do not exist.
    private let missing: [RelativePath]
    /// The files of external data with the same content as in the backup, and their state when they were compared.
    private let same: [(path: RelativePath, info: FileInfo)]
    private let gone: GonePaths

    /// Finds everything that belongs to the paths that a user named.
    ///
    /// - Parameters:
    ///   - names: the paths, as the backup has them; at least one.
    ///   - backup: the backup, within its `look`.
    ///   - live: the directory that they go to.
    ///   - columns: the columns whose values name files that come with their store.
    ///   - removingMissing: whether named paths that only the directory has are removed; only if the backup is known to
    ///     be from before they were created.
    ///   - context: the context whose cancellation check is called.
    /// - Throws: `PartError`; `LookingError.noFile` if a path is not in the backup; `RestoreError.mountInside`; errors
    ///   reading either.
    init(
        of names: [String],
        in backup: OpenedBackup,
        replacing live: StoresDirectory,
        naming columns: [ExternalFiles] = [],
        removingMissing: Bool = false,
        _ context: OperationContext
    ) throws {
        var search = try PartSearch(
            in: backup,
            live,
            naming: columns,
            removingMissing: removingMissing,
            context
        )
        try search.find(NamedPaths(names))
        self.names = search.names.roots
        part = RestoredPart(search.exchanged)
        entries = Set(search.sizes.keys)
        files = search.fileCount
        bytes = search.sizes.values.reduce(0, +)
        allocated = search.allocated
        stores = search.stores
        missing = RestoredPart(search.missing).roots
        same = search.same
        gone = search.gone
        let length = part.roots.reduce(0) { $0 + $1.bytes.count + 1 }
        guard length <= RestoreJournal.partLimit else { throw PartError.tooMany(part.roots.count) }
    }

    /// Returns the stores of a directory that the exchange affects, and the files that it turns into stores.
    ///
    /// - Throws: `FileError`.
    func stores(in live: StoresDirectory) throws -> [Store] {
        let found = try live.survey().stores.filter(part.concerns)
        let known = Set(found.map(\.path))
        let others = try stores.filter { !known.contains($0) }.compactMap { path -> Store? in
            guard let info = try FileInfo.inside(live.path, path), info.kind == .file else {
                return nil
            }
            return Store(path: path, directory: live.path, identity: info.identity)
        }
        return found + others
    }

    /// Throws `PartError.changed` if the directory has changed since the plan was made: an application may have run
    /// until now.
    func refuseIfChanged(in live: FilePath) throws {
        for path in missing where try FileInfo.inside(live, path) != nil {
            throw PartError.changed(path.below(live))
        }
        try gone.refuseIfChanged(in: live)
        for (path, info) in same where try FileInfo.inside(live, path) != info {
            throw PartError.changed(path.below(live))
        }
    }
}
