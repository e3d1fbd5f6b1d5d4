internal import Backups
internal import Files
internal import Stores

/// A search for missing files of external data that unused stores refer to.
///
/// It runs on a separate thread while the stores are checked: both read every page.
///
/// The caller must always end it with `close()`.
struct ExternalDataSearch {
    private let directory: StoresDirectory
    private let cut: StoresCut
    private let reports: StoreReports

    /// Begins the search in a stores directory that nobody uses.
    ///
    /// Stores that cannot be read are skipped: the check reports them.
    init(in directory: StoresDirectory, _ context: OperationContext) throws {
        self.directory = directory
        cut = try StoresCut(
            of: directory.survey().stores,
            scratchParent: context.scratch,
            busyTimeout: .seconds(1)
        )
        reports = StoreReports(of: cut.members, checking: .none, context)
    }

    /// Waits for the end, and returns the missing files, sorted.
    func finish() throws -> [Problem] {
        let needed = try zip(cut.members, reports.wait()).flatMap { $0.externalFiles($1) }
        let missing = try Set(needed).filter {
            try FileInfo.ifPresent($0.below(directory.path)) == nil
        }
        return missing.sorted().map {
            Problem(
                kind: .missingExternalData,
                path: $0.description,
                reason: "a store refers to this file, and it is not in the backup"
            )
        }
    }

    /// Waits for the end, and returns the facts about the stores.
    func facts() throws -> [StoreFacts] { try reports.wait().map(\.facts) }

    /// Stops the search, and releases the stores.
    func close() {
        reports.close()
    }
}
