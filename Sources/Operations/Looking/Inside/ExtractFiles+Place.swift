internal import Archives
internal import Backups
public import Files
internal import Stores
public import SystemPackage

/// The reason why nothing was extracted.
public enum ExtractError: ExplainedError, Equatable {
    /// An existing file would become part of an extracted store, or an extracted file part of an existing store.
    case ofAnotherState(FilePath, beside: RelativePath)

    public var description: String {
        switch self {
        case .ofAnotherState(let path, let other):
            "'\(printable(path))' is of another state than '\(other.name)' in the backup, and SQLite would take them for one store"
        }
    }

    public var hint: String? {
        switch self {
        case .ofAnotherState(let path, _):
            "move it away: \(moveAway(path)); or name an empty directory"
        }
    }
}

extension ExtractFiles {
    /// The paths to extract, which must not exist at the target.
    struct Place {
        /// The named paths, none of which contains another.
        let roots: Set<RelativePath>
        let items: [ArchiveItem]

        /// The named paths, sorted by their bytes.
        var sorted: [RelativePath] { roots.sorted() }

        /// Throws if a target path exists, or if SQLite would take an existing file for part of an extracted store.
        ///
        /// - Parameters:
        ///   - backup: the backup, within its `look`.
        ///   - target: the target directory; `nil` if it does not exist yet.
        /// - Throws: `FileError.exists`, `ExtractError`; `FileError` if a link or a file is in place of a directory.
        func refuseOccupied(of backup: OpenedBackup, in target: Directory?) throws {
            guard let target else { return }
            let files = Dictionary(
                items.filter { $0.attributes.kind == .file }.map { ($0.attributes.path, $0) }
            ) { first, _ in first }
            for root in sorted {
                guard let parent = try target.descend(to: root.parent) else { continue }
                guard !parent.contains(root.name) else {
                    throw FileError.exists(root.below(target.path))
                }
                guard let item = files[root] else { continue }
                let beside = Store.paths(beside: root).filter {
                    !roots.contains($0) && parent.contains($0.name)
                }
                for path in beside
                where try backup.isStore(item) || Store.mayBeSidecar(at: path, in: parent) {
                    throw ExtractError.ofAnotherState(path.below(target.path), beside: root)
                }
                if let base = Store.database(ofFileBeside: root), !roots.contains(base),
                    parent.contains(base.name), item.size > 0, try backup.isSidecar(item)
                {
                    throw ExtractError.ofAnotherState(base.below(target.path), beside: root)
                }
            }
        }
    }
}
