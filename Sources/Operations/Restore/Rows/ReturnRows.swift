internal import Archives
public import Backups
public import Files
public import Stores
internal import Sync
public import SystemPackage

/// Restores rows of a backup into a live store, while applications keep running.
///
/// First, everything is tried and rolled back. The stores directory is backed up before the rows are written. Files
/// that the rows refer to are put in place before the rows. One transaction writes all rows: if anything fails, none
/// of them is written.
public struct ReturnRows: Sendable {
    /// The rows to restore, and the way to do it.
    public struct Options: Sendable {
        /// The store's path or name; `nil` for the only one.
        public var store: String?
        /// The table's name, or that of its entity.
        public var table: String
        /// The condition on the rows, as SQL; `nil` for all.
        public var condition: String?
        /// The handling of rows that already exist.
        public var onConflict = RowReturn.Conflict.fail
        /// Whether to only report what would be done.
        public var isDryRun = false
        /// The options of the safety backup, if one is made.
        public var restore: RestoreBackup.Options

        public init(table: String, restore: RestoreBackup.Options) {
            self.table = table
            self.restore = restore
        }
    }

    /// The result, or the expected result of a dry run.
    public struct Outcome: Sendable {
        public var backup: Backup
        /// The store's path, printable.
        public var store: String
        public var table: String
        public var entity: String?
        public var rows: RowReturn.Outcome
        /// The number of restored files.
        public var files: Int
        /// The columns of the rows that the table no longer has.
        public var lostColumns: [String]
        /// The files that the rows refer to, and that the backup lacks.
        public var problems: [Problem]
        public var safetyBackup: Backup?

        /// Whether anything comes back.
        public var isChange: Bool { rows.isChange || files > 0 }
    }

    private let folder: BackupFolder
    private let options: Options
    private let context: OperationContext

    /// The time to wait for another writer.
    private static let busyTimeout = Duration.seconds(10)

    public init(from folder: BackupFolder, options: Options, context: OperationContext) {
        self.folder = folder
        self.options = options
        self.context = context
    }

    /// Restores the rows.
    ///
    /// - Throws: `LookingError`, `ReturnRowsError`; `RowReturnError`, `StoreError`, `RestoreError.safetyBackupFailed`,
    ///   after which nothing was changed; `FileError`, `RemoteError`, `CancellationError`.
    public func run(_ backup: Backup, into path: FilePath) async throws -> Outcome {
        let date = options.isDryRun ? nil : options.restore.backup.date
        return try await context.notingDamage(of: backup, in: folder, at: date) {
            try await bring(backup, into: path)
        }
    }

    private func bring(_ backup: Backup, into path: FilePath) async throws -> Outcome {
        let directory = try StoresDirectory(existing: path)
        try await context.refuse(folder, in: directory.path)
        let opened = try await OpenedBackup(backup, in: folder, context: context)
        return try await context.withLock(on: directory.path) {
            // Try first: a failed run must not leave a safety backup that an undo would take for the last restore's.
            let plan = try await opened.look { opened -> Plan in
                var plan = try self.plan(of: opened, backup, in: directory)
                plan.outcome.rows = try bring(plan, plan.rows.attempt)
                return plan
            }
            var outcome = plan.outcome
            guard !options.isDryRun, outcome.rows.isChange || !plan.files.paths.isEmpty else {
                return outcome
            }
            outcome.safetyBackup = try await makeSafetyBackup(
                of: directory,
                before: opened,
                plan
            )
            do {
                outcome.rows = try await opened.look { opened -> RowReturn.Outcome in
                    let rules =
                        plan.files.paths.isEmpty
                        ? AttributeRules()
                        : try restore.rules(for: opened.plan, replacing: directory.path)
                    return try plan.files.bring(from: opened, by: rules) {
                        try bring(plan, plan.rows.run)
                    }
                }
            } catch {
                await discard(outcome.safetyBackup)
                throw error
            }
            return outcome
        }
    }

    private func bring(
        _ plan: Plan,
        _ body: (Store, Duration, () throws -> Void) throws -> RowReturn.Outcome
    ) throws -> RowReturn.Outcome {
        try body(plan.store, Self.busyTimeout, context.checkCancellation)
    }

    private var restore: RestoreBackup {
        RestoreBackup(from: folder, options: options.restore, context: context)
    }

    private func makeSafetyBackup(
        of directory: StoresDirectory,
        before opened: OpenedBackup,
        _ plan: Plan
    ) async throws -> Backup? {
        guard options.restore.makesSafetyBackup else { return nil }
        return try await restore.makeSafetyBackup(
            of: directory,
            before: opened.plan,
            replacing: ([plan.store.path] + plan.files.paths).map(\.description),
            keeping: nil,
            holding: [directory.path]
        )
    }

    /// Removes the safety backup after a failure, because an undo would otherwise return to it.
    private func discard(_ backup: Backup?) async {
        context.noteFutile(backup?.id?.rawValue, in: folder.memory.log)
        guard let backup, !backup.isWaiting else { return }
        _ = try? await folder.remove(backup, at: options.restore.backup.date, keepingTrash: .zero)
    }

    // MARK: - The plan

    /// The rows found, with everything that they need.
    private struct Plan {
        var outcome: Outcome
        var store: Store
        var rows: RowReturn
        /// The files that are missing in the stores directory.
        var files: ReturnedFiles
    }

    private func plan(
        of opened: OpenedBackup,
        _ backup: Backup,
        in directory: StoresDirectory
    ) throws -> Plan {
        let name = try storeName(in: opened)
        let source = try ReadableStore(
            opened.store(name, of: opened.files(ofStores: [name]).items[name.exact] ?? [])
        )
        let stores = try directory.survey(isCancelled: context.checkCancellation).stores
        guard let store = stores.first(where: { $0.path.description.exact == name.exact }) else {
            throw ReturnRowsError.storeIsGone(name, stores: printable(directory.path))
        }
        let (before, names) = try source.reading {
            let schema = try source.schema()
            return (schema, try CoreDataNames(source, schema))
        }
        let now = try presentSchema(of: store)
        let table = try TableChoice(in: before, names, place: opened.name).require(options.table)
        let present = try TableChoice(in: now, nil, place: "'\(name)'").require(table.name)
        let rows = try rows(from: source, table, into: present)
        var outcome = Outcome(
            backup: backup,
            store: name,
            table: present.name,
            entity: names?.entity(ofTable: present.name),
            rows: RowReturn.Outcome(),
            files: 0,
            lostColumns: rows.lostColumns,
            problems: []
        )
        let files = try files(of: rows, store, in: opened, &outcome)
        outcome.files = files.count
        return Plan(
            outcome: outcome,
            store: store,
            rows: rows,
            files: ReturnedFiles(files, in: store.directory, context)
        )
    }

    /// Returns a store's schema; the snapshot is closed before anything is written.
    private func presentSchema(of store: Store) throws -> StoreSchema {
        try StoreSnapshot.ofNow(
            store,
            scratchParent: context.scratch,
            busyTimeout: Self.busyTimeout
        ).schema()
    }

    /// Returns the stores that have the table, if there are several stores.
    private func withTable(among names: [String], of opened: OpenedBackup) throws -> [String] {
        guard names.count > 1 else { return names }
        let items = try opened.files(ofStores: names).items
        let found = try names.filter { name in
            let store = try ReadableStore(opened.store(name, of: items[name.exact] ?? []))
            return try store.reading {
                let schema = try store.schema()
                let entities = try CoreDataNames(store, schema)
                return TableChoice(in: schema, entities, place: name).table(options.table) != nil
            }
        }
        return found.isEmpty ? names : found
    }

    private func storeName(in opened: OpenedBackup) throws -> String {
        let names = try opened.stores()
        guard let wanted = options.store else {
            return try StoreChoice.only(of: withTable(among: names, of: opened), in: opened.name)
        }
        guard let name = StoreChoice.named(wanted, among: names) else {
            throw LookingError.noStore(wanted, in: opened.name, stores: names)
        }
        return name
    }

    private func rows(
        from source: ReadableStore,
        _ table: TableSchema,
        into present: TableSchema
    ) throws -> RowReturn {
        do {
            return try RowReturn(
                from: source,
                table: table,
                into: present,
                where: options.condition,
                onConflict: options.onConflict
            )
        } catch StoreError.unreadable(_, let reason) where options.condition != nil {
            let missing = "no such column: "
            let column = reason.hasPrefix(missing) ? reason.dropFirst(missing.count) : ""
            throw LookingError.badCondition(
                options.condition ?? "",
                reason: reason,
                nearest: nearestName(to: String(column), among: table.columns.map(\.name))
            )
        }
    }

    /// Returns the files that rows refer to and that the stores directory lacks.
    private func files(
        of rows: RowReturn,
        _ store: Store,
        in opened: OpenedBackup,
        _ outcome: inout Outcome
    ) throws -> [RelativePath] {
        let references = try rows.references().sorted { $0.name < $1.name }
        let data = try references.map {
            store.externalDataDirectory.appending(try RelativePath($0.name).name)
        }
        let named = try options.restore.externalFiles.filter { $0.store == store.path }
            .flatMap { try rows.paths(of: $0) }
        let paths = try (data + named.sorted()).filter {
            try FileInfo.inside(store.directory, $0) == nil
        }
        let wanted = Set(paths)
        let there = Set(try opened.items(where: wanted.contains).map(\.attributes.path))
        for path in paths where !there.contains(path) {
            let reason = "a row refers to this file, and it is not in the backup"
            context.note(.missingExternalData, path.description, reason, in: &outcome.problems)
        }
        return paths.filter(there.contains)
    }
}

extension RowReturn.Outcome {
    /// Whether anything is written.
    fileprivate var isChange: Bool { inserted > 0 || replaced > 0 }
}

/// An error that keeps rows from being restored into a store; nothing was changed.
public enum ReturnRowsError: ExplainedError, Equatable {
    /// The store of the rows is not in the stores directory.
    case storeIsGone(String, stores: String)

    public var description: String {
        switch self {
        case .storeIsGone(let store, let stores):
            "rows are restored into an existing store, and there is no '\(store)' in '\(stores)'"
        }
    }

    public var hint: String? {
        switch self {
        case .storeIsGone(let store, _):
            "restore the whole store: \(Advice.quoted("grocerydude restore NAME --only \(Advice.part(store))"))"
        }
    }
}
