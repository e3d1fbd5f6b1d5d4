internal import Backups
internal import Files
internal import Stores

/// Looks for files of external data that stores at rest refer to and that are not there, on a thread
/// of its own, while the stores are checked: both read every page.
///
/// The caller ends with `close()` in any case.
struct ExternalDataSearch {
    private let directory: StoresDirectory
    private let cut: StoresCut
    private let reports: StoreReports

    /// Begins.
    ///
    /// - Parameters:
    ///   - directory: a stores directory that nobody uses.
    ///   - context: asked whether to stop; where scratch copies go.
    /// - Throws: `StoreError`, `FileError`. What cannot be read is told by the check, and passed over.
    init(in directory: StoresDirectory, _ context: OperationContext) throws {
        self.directory = directory
        cut = try StoresCut(
            of: directory.survey().stores,
            scratchParent: context.scratch,
            busyTimeout: .seconds(1)
        )
        reports = StoreReports(of: cut.members, checking: .none, context)
    }

    /// Waits for the end.
    ///
    /// - Returns: what is missing, sorted.
    /// - Throws: `StoreError`, `FileError`, `CancellationError`.
    func finish() throws -> [Problem] {
        var missing: Set<RelativePath> = []
        for (member, report) in try zip(cut.members, reports.wait()) {
            for file in member.externalFiles(report)
            where try FileInfo.ifPresent(file.below(directory.path)) == nil {
                missing.insert(file)
            }
        }
        return missing.sorted().map {
            Problem(
                kind: .missingExternalData,
                path: $0.description,
                reason: "a store refers to this file, and it is not in the backup"
            )
        }
    }

    /// Stops, and lets go of the stores.
    func close() {
        reports.close()
    }
}
