internal import Files
internal import Stores
internal import SystemPackage

/// What of a backup goes in the place of what in a stores directory, if a person named paths.
///
/// Of a store that is named come its log and journal, as far as the backup has any, and its external data. Its
/// files of external data that are here and not in the backup stay: another store may refer to them, and a file
/// more harms nobody.
struct PartPlan: Sendable {
    /// What was named, none in another.
    let names: [RelativePath]
    /// The paths that are exchanged.
    let part: RestoredPart
    /// The entries of the backup that are extracted.
    let entries: Set<RelativePath>
    /// Files among them, and their bytes.
    let files: Int
    let bytes: Int64
    /// What was named, is not in the backup, and goes.
    var removed: [RelativePath] { names.filter(Set(gone.paths).contains) }
    /// Entries and bytes that are extracted.
    var content: (entries: Set<RelativePath>, bytes: Int64) { (entries, bytes) }

    /// Those that were named, and are stores in the backup.
    private let stores: [RelativePath]
    /// Paths that are exchanged only because nothing is there.
    private let missing: [RelativePath]
    /// Files of external data that have the content of the backup, as they were when that was seen.
    private let same: [(path: RelativePath, info: FileInfo)]
    private let gone: GonePaths

    /// Finds what belongs to paths that a person named.
    ///
    /// - Parameters:
    ///   - names: the paths, as the backup has them; at least one.
    ///   - backup: the backup, within its `look`.
    ///   - live: the directory that they go to.
    ///   - removingMissing: whether what only that has goes, if it was named; it is known that the backup is of a time
    ///     before it came.
    ///   - context: asked whether to stop.
    /// - Throws: `PartError`; `LookingError.noFile` if something is not in the backup;
    ///   `RestoreError.mountInside`; errors of reading either.
    init(
        of names: [String],
        in backup: OpenedBackup,
        replacing live: StoresDirectory,
        removingMissing: Bool = false,
        _ context: OperationContext
    ) throws {
        var search = try PartSearch(in: backup, live, removingMissing: removingMissing, context)
        try search.find(NamedPaths(names))
        self.names = search.names.roots
        part = RestoredPart(search.exchanged)
        entries = Set(search.sizes.keys)
        files = search.fileCount
        bytes = search.sizes.values.reduce(0, +)
        stores = search.stores
        missing = RestoredPart(search.missing).roots
        same = search.same
        gone = search.gone
        let length = part.roots.reduce(0) { $0 + $1.bytes.count + 1 }
        guard length <= RestoreJournal.partLimit else { throw PartError.tooMany(part.roots.count) }
    }

    /// Returns the stores of a directory that the exchange concerns, and files that become stores by it.
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

    /// Throws `PartError.changed` if the directory is not as it was planned for: an application may have run
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
