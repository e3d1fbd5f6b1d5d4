internal import Archives
public import Backups
internal import Files
internal import Stores
public import SystemPackage

/// Tells what differs between two states of a stores directory: backups, or the live one.
///
/// Files are compared by what the manifests say. Stores that may differ are compared table by table and row by
/// row, byte for byte.
public struct CompareStates: Sendable {
    /// A state to compare.
    public enum State: Sendable {
        /// The stores directory as it is.
        case live
        case backup(Backup)
    }

    /// How much is wanted.
    public struct Options: Sendable {
        /// The only store to compare, by its path or its name.
        public var store: String?
        /// The only table to compare, by its name or its entity's.
        public var table: String?
        /// The paths to compare, as the new state has them, with all that is in them; none for all.
        ///
        /// Stores come with their external data.
        public var only: [String] = []
        /// Whether paths may be compared that only the old state has.
        public var onlyOfEither = false
        /// Whether directories are taken off the names of another program's archive, as by a restore.
        public var strips = false
        /// How many; `nil` to find out.
        public var stripsComponents: Int?
        /// Whether rows are told one by one.
        public var tellsRows = false
        /// The most rows of one table to tell; `nil` for all.
        public var rowLimit: Int?
        /// Whether statements are told in place of all else.
        public var tellsStatements = false

        public init() {}
    }

    /// What came of a comparison.
    public struct Outcome: Sendable {
        /// Whether anything differs.
        public var differs = false
        /// The stores of which rows could not be compared.
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
    ///   - tell: told each difference, files in the order of their paths; on another thread.
    /// - Returns: whether anything differs, and what could not be read.
    /// - Throws: `LookingError`, `StoreError`, `ArchiveError`, `ArchivedBackupError`, `RemoteError`, `FileError`,
    ///   `CancellationError`; what `tell` throws.
    public func run(
        from old: State,
        to new: State,
        _ tell: @escaping (Difference) throws -> Void
    ) async throws -> Outcome {
        // Both are read in step: each has a segment ahead while the other is inflated.
        let cache = SegmentCache(limit: 3 << 20, ahead: 1)
        let (before, after) = (try await open(old, cache), try await open(new, cache))
        return try await WorkThread.run {
            try LookingError.translating {
                if options.strips {
                    for plan in [before, after].compactMap({ $0?.plan }) {
                        try plan.strip(options.stripsComponents, replacing: stores, context)
                    }
                }
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
                ).run(tell)
            }
        }
    }

    /// Opens a backup; `nil` for the live state.
    private func open(_ state: State, _ cache: SegmentCache) async throws -> OpenedBackup? {
        guard case .backup(let backup) = state else { return nil }
        return try await OpenedBackup(backup, in: folder, cache: cache, context: context)
    }
}
