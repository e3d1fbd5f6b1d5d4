internal import Archives
public import Backups
internal import Files
public import Stores
public import SystemPackage

/// Finds rows in backups and in the stores directory, and reports how each changed from backup to backup.
///
/// Searches each state of a store once, the newest first. Then looks up every row found in all states, oldest first.
/// Reads stores with equal digests only once.
public struct FindRows: Sendable {
    /// The rows to find, and the limits of the search.
    public struct Options: Sendable {
        public var wanted: RowSearch.Wanted
        /// The only store to search, by its path or its name.
        public var store: String?
        /// The only table to search, by its name or its entity's.
        public var table: String?
        /// The greatest number of rows to report; they are held in memory.
        public var rowLimit = 100

        public init(_ wanted: RowSearch.Wanted) { self.wanted = wanted }
    }

    /// The result of a search.
    public struct Outcome: Sendable {
        /// The rows, sorted by store, table and key.
        public var rows: [RowHistory] = []
        /// Whether more rows match than the limit allows.
        public var hasMore = false
        /// The number of backups searched.
        public var backups = 0
        /// The backups, or stores in them, that could not be read.
        public var problems: [Problem] = []
    }

    private let folder: BackupFolder
    private let stores: FilePath
    private let options: Options
    private let context: OperationContext

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

    /// Finds the rows.
    ///
    /// - Parameter backups: the backups to search, the newest first. A backup whose only known time is that of its file
    ///   is skipped with a note.
    /// - Returns: the rows found.
    /// - Throws: `LookingError` if a named store, table or column does not exist, or if the condition is invalid;
    ///   `QueryError`; `CancellationError`.
    public func run(among backups: [Backup]) async throws -> Outcome {
        var places: [RowHistory.Place] = []
        for backup in backups.reversed() {
            if backup.ownTime == nil {
                context.note(
                    "'\(backup.displayName)' is passed over: only its file has a time, perhaps that of the copy"
                )
            } else {
                places.append(.backup(backup))
            }
        }
        if try FileInfo.ifPresent(stores) == nil {
            context.note(
                "there is no stores directory '\(printable(stores))': only backups are searched"
            )
        } else {
            places.append(.live)
        }
        let found = FoundRows(options, context)
        let states = HistoryStates(places, in: folder, with: stores, context)
        for index in places.indices.reversed() {
            try await states.survey(index, found: found.note) { try found.search($0) }
        }
        try found.checkNames()
        let trails = RowTrails(of: found.rows)
        if !found.rows.isEmpty {
            for index in places.indices { try await states.follow(trails, at: index) }
        }
        return Outcome(
            rows: trails.histories(),
            hasMore: found.hasMore,
            backups: places.count { $0 != .live },
            problems: states.problems
        )
    }
}
