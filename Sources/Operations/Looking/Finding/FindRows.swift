internal import Archives
public import Backups
internal import Files
public import Stores
public import SystemPackage

/// Finds rows in backups and in the stores directory, and tells what became of each from backup to backup.
///
/// Each state of a store is searched once, the newest first. Rows that are found in any are then looked up in all, in
/// the order of time. Stores that are the same by their digests are read once.
public struct FindRows: Sendable {
    /// Which rows.
    public struct Options: Sendable {
        public var wanted: RowSearch.Wanted
        /// The only store to search, by its path or its name.
        public var store: String?
        /// The only table to search, by its name or its entity's.
        public var table: String?
        /// The most rows to tell: they are in memory.
        public var rowLimit = 100

        public init(_ wanted: RowSearch.Wanted) { self.wanted = wanted }
    }

    /// What was found.
    public struct Outcome: Sendable {
        /// In the order of stores, tables and keys.
        public var rows: [RowHistory] = []
        /// Whether there are more than the limit.
        public var hasMore = false
        /// How many backups were looked into.
        public var backups = 0
        /// Backups, or stores in them, that could not be read.
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
    /// - Parameter backups: those to look into, the newest first; one of which only the file has a time is passed over,
    ///   with a word.
    /// - Returns: what was found.
    /// - Throws: `LookingError` if there is no such store, table or column, or if the condition is none;
    ///   `QueryError`; `CancellationError`.
    public func run(among backups: [Backup]) async throws -> Outcome {
        var places: [RowHistory.Place] = []
        for backup in backups.reversed() {
            if backup.ownTime == nil {
                context.note(
                    "'\(backup.displayName)' is passed over: only its file tells a time, perhaps that of the copy"
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
            try await states.survey(index) { try found.search($0) }
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
