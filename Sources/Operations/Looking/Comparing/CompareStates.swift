internal import Archives
public import Backups
internal import Files
public import Stores
internal import Sync
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
        /// Whether rows are told one by one.
        public var tellsRows = false
        /// The most rows of one table to tell; `nil` for all.
        public var rowLimit: Int?
        /// Whether statements are told in place of all else.
        public var tellsStatements = false

        public init() {}
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
    ///   - tell: told each difference, files in the order of their paths.
    /// - Returns: whether anything differs.
    /// - Throws: `LookError`, `StoreError`, `ArchiveError`, `ArchivedBackupError`, `RemoteError`, `FileError`,
    ///   `CancellationError`; what `tell` throws.
    public func run(
        from old: State,
        to new: State,
        _ tell: (Difference) throws -> Void
    ) async throws -> Bool {
        let comparison = try await Comparison(
            from: state(old, beside: new),
            to: state(new, beside: old),
            options: options,
            context: context
        )
        return try comparison.run(tell)
    }

    /// Lists what is in a state; the archive is fetched only if rows are needed.
    private func state(_ state: State, beside other: State) async throws -> ComparedState {
        switch state {
        case .backup(let backup):
            return try ComparedState(await context.open(backup, in: folder))
        case .live:
            var exclusions = Exclusions.none
            if case .backup(let backup) = other {
                exclusions = try await context.look(at: backup, in: folder) { try $0.exclusions() }
            }
            return try ComparedState(live: stores, leavingOut: exclusions, context)
        }
    }
}
