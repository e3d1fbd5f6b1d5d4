internal import Backups
internal import Files
internal import Stores
internal import SystemPackage

extension ArchivedBackup {
    /// Strips leading directories from the names of an archive that another program made.
    ///
    /// A zip of the stores directory itself has everything in one directory: if it were restored as it is, the
    /// application would not find its stores. If the present directory has such a directory with stores in it, the
    /// archive needs no stripping.
    ///
    /// - Parameters:
    ///   - count: the number of directories; `nil` to detect it.
    ///   - live: the directory that is replaced, if any.
    ///   - context: the receiver of a warning about stripped directories.
    /// - Throws: `RestoreError.notStripped`; `ArchiveError`.
    func strip(_ count: Int?, replacing live: FilePath?, _ context: OperationContext) throws {
        if let count {
            guard count == 0 || !isDescribed else { throw RestoreError.notStripped(backup: name) }
            return strip(count)
        }
        guard !isDescribed, let top = try onlyTopDirectory(), try hasStores(),
            !Self.hasStores(in: top, of: live)
        else { return }
        strip(1)
        context.warn(
            "everything in this archive is in a directory '\(top)': its content is restored, without the directory"
        )
    }

    private static func hasStores(in name: FileName, of live: FilePath?) -> Bool {
        guard let live, let survey = try? StoresDirectory(live).survey() else { return false }
        return survey.stores.contains {
            $0.path.components.count > 1 && $0.path.components[0] == name
        }
    }
}
