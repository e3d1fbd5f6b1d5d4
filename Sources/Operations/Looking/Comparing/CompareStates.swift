internal import Archives
public import Backups
internal import Files
internal import Stores
public import SystemPackage

/// Finds the differences between two states of a stores directory: two backups, or a backup and the live state.
///
/// Compares files by the facts in the manifests. Compares stores that may differ table by table and row by row, byte
/// for byte.
public struct CompareStates: Sendable {
    /// A state to compare.
    public enum State {
        /// The current stores directory.
        case live
        case backup(Backup)
        case opened(OpenedBackup)
    }

    /// The scope and the detail of a comparison.
    public struct Options: Sendable {
        /// The only store to compare, by its path or its name.
        public var store: String?
        /// The only table to compare, by its name or its entity's.
        public var table: String?
        /// The paths to compare, as the new state has them, with all that is below them; empty for all.
        ///
        /// Stores come with their external data.
        public var only: [String] = []
        /// Whether `only` may name paths that only the old state has.
        public var onlyOfEither = false
        /// Whether to report each row.
        public var reportsRows = false
        /// The greatest number of rows to report per table; `nil` for all.
        public var rowLimit: Int?
        /// Whether to report statements instead of differences.
        public var reportsStatements = false

        public init() {}
    }

    /// The result of a comparison.
    public struct Outcome: Sendable {
        /// Whether anything differs.
        public var differs = false
        /// The stores whose rows could not be compared.
        public var unread: [UnreadStore] = []
    }

    let folder: BackupFolder
    let stores: FilePath
    let options: Options
    let context: OperationContext

    public init(
        in folder: BackupFolder,
        with stores: FilePath,
        options: Options,
        context: OperationContext
    ) {
        self.folder = folder
        self.stores = stores
        self.options = options
        self.context = context
    }

    /// Compares two states.
    ///
    /// - Parameters:
    ///   - old: the state before.
    ///   - new: the state after.
    ///   - report: called with each difference, files in the order of their paths; on another thread.
    /// - Returns: whether anything differs, and which stores could not be read.
    /// - Throws: `LookingError`, `StoreError`, `ArchiveError`, `ArchivedBackupError`, `RemoteError`, `FileError`,
    ///   `CancellationError`; errors of `report`.
    public func run(
        from old: State,
        to new: State,
        _ report: @escaping (Difference) throws -> Void
    ) async throws -> Outcome {
        // Both states are read in step: each prefetches a segment while the other is inflated.
        let cache = SegmentCache(limit: 3 << 20, ahead: 1)
        let (before, after) = (try await open(old, cache), try await open(new, cache))
        return try await WorkThread.run {
            try LookingError.translating {
                let exclusions =
                    try before?.plan.exclusions() ?? after?.plan.exclusions() ?? .none
                func state(_ backup: OpenedBackup?) throws -> ComparedState {
                    try backup.map { try ComparedState($0) }
                        ?? ComparedState(live: stores, leavingOut: exclusions, context)
                }
                return try Comparison(
                    from: state(before),
                    to: state(after),
                    options: options,
                    context: context
                ).run(report)
            }
        }
    }

    /// Opens a backup; `nil` for the live state.
    private func open(_ state: State, _ cache: SegmentCache) async throws -> OpenedBackup? {
        switch state {
        case .live: nil
        case .opened(let opened): opened
        case .backup(let backup):
            try await OpenedBackup(backup, in: folder, cache: cache, context: context)
        }
    }
}
