internal import Archives
public import Backups
internal import Files
public import Stores
internal import Sync
public import SystemPackage

/// Brings rows of a backup back into a live store, while applications go on.
///
/// The stores directory is backed up first. Files that the rows refer to are put in place before the rows, and
/// those go in by one transaction: whatever fails, none of them is there.
public struct ReturnRows: Sendable {
    /// Which rows, and how.
    public struct Options: Sendable {
        /// The store's path or name; `nil` for the only one.
        public var store: String?
        /// The table's name, or that of its entity.
        public var table: String
        /// What rows must meet, as SQL; `nil` for all.
        public var condition: String?
        /// What becomes of rows that are there.
        public var onConflict = RowReturn.Conflict.fail
        /// Whether to say only what would be done.
        public var isDryRun = false
        /// How the safety backup is made, if one is.
        public var restore: RestoreBackup.Options

        public init(table: String, restore: RestoreBackup.Options) {
            self.table = table
            self.restore = restore
        }
    }

    /// What was done, or would be.
    public struct Outcome: Sendable {
        public var backup: Backup
        /// The store's path, printable.
        public var store: String
        public var table: String
        public var entity: String?
        public var rows: RowReturn.Outcome
        /// How many files came back with them.
        public var files: Int
        /// Columns that the rows had, and that the table has no more.
        public var lostColumns: [String]
        /// Files that the rows refer to, and that the backup lacks.
        public var problems: [Problem]
        public var safetyBackup: Backup?
    }

    private let folder: BackupFolder
    private let options: Options
    private let context: OperationContext

    /// How long to wait for another writer.
    private static let busyTimeout = Duration.seconds(10)

    public init(from folder: BackupFolder, options: Options, context: OperationContext) {
        self.folder = folder
        self.options = options
        self.context = context
    }

    /// Brings the rows back.
    ///
    /// - Throws: `LookingError`; `RowReturnError`, `StoreError`, `RestoreError.safetyBackupFailed` after which
    ///   nothing was changed; `FileError`, `RemoteError`, `CancellationError`.
    public func run(_ backup: Backup, into path: FilePath) async throws -> Outcome {
        let directory: StoresDirectory
        do {
            directory = try StoresDirectory(path)
        } catch let error as FileError where error.isMissing {
            throw OperationError.noStores(path)
        }
        try directory.refuseRemote(folder)
        let opened = try await OpenedBackup(backup, in: folder, context: context)
        return try await context.withLock(on: directory.path) {
            let plan = try await opened.look { opened -> Plan in
                try self.plan(of: opened, backup, in: directory)
            }
            guard !options.isDryRun else { return plan.outcome }
            var outcome = plan.outcome
            if options.restore.makesSafetyBackup {
                outcome.safetyBackup = try await RestoreBackup(
                    from: folder,
                    options: options.restore,
                    context: context
                ).makeSafetyBackup(
                    of: directory,
                    before: opened.plan,
                    keeping: nil,
                    holding: [directory.path]
                )
            }
            let context = context
            outcome.rows = try await opened.look { opened -> RowReturn.Outcome in
                try plan.bringFiles(from: opened) {
                    try plan.rows.run(
                        on: plan.store,
                        busyTimeout: Self.busyTimeout,
                        check: context.checkCancellation
                    )
                }
            }
            return outcome
        }
    }

    // MARK: - The plan

    /// Rows that were found, with what they need.
    private struct Plan {
        var outcome: Outcome
        var store: Store
        var rows: RowReturn
        /// The paths of files that are not there.
        var files: [RelativePath]

        /// Puts the files in place, and takes them away again if `body` fails.
        func bringFiles<Result>(
            from opened: OpenedBackup,
            _ body: () throws -> Result
        ) throws -> Result {
            let fileSystem = LocalFileSystem()
            var written: [FilePath] = []
            do {
                let wanted = Set(files)
                for item in try opened.items(where: wanted.contains) {
                    let source = try opened.source(of: item)
                    let path = item.attributes.path.below(store.directory)
                    try fileSystem.createDirectories(path.removingLastComponent())
                    // Somebody may have written it since: a name stands for its content.
                    guard try FileInfo.ifPresent(path) == nil else { continue }
                    let bytes = try source.readExactly(count: Int(item.size), at: 0)
                    try fileSystem.write(bytes, to: path, mode: item.attributes.mode)
                    written.append(path)
                }
                return try body()
            } catch {
                for path in written { try? fileSystem.remove(path) }
                throw error
            }
        }
    }

    private func plan(
        of opened: OpenedBackup,
        _ backup: Backup,
        in directory: StoresDirectory
    ) throws -> Plan {
        let name = try storeName(in: opened)
        let source = try ReadableStore(opened.store(name))
        let stores = try directory.survey(isCancelled: context.checkCancellation).stores
        guard let store = stores.first(where: { $0.path.description == name }) else {
            throw LookingError.noStore(
                name,
                in: "'\(printable(directory.path))'",
                stores: stores.map(\.path.description)
            )
        }
        let live = try ReadableStore(
            StoreSnapshot.ofNow(
                store,
                scratchParent: context.scratch,
                busyTimeout: Self.busyTimeout
            )
        )
        let (before, now) = (try source.reading { try source.schema() }, try live.schema())
        let names = try source.reading { try CoreDataNames(source, before) }
        let table = try found(options.table, in: before, names, place: opened.name)
        let present = try found(table.name, in: now, nil, place: "'\(name)'")
        let rows = try rows(from: source, table, into: present)
        var outcome = Outcome(
            backup: backup,
            store: name,
            table: present.name,
            entity: names?.entity(ofTable: present.name),
            rows: try source.reading { try rows.preview(in: live) },
            files: 0,
            lostColumns: rows.lostColumns,
            problems: []
        )
        let files = try files(of: rows, store, in: opened, &outcome)
        outcome.files = files.count
        return Plan(outcome: outcome, store: store, rows: rows, files: files)
    }

    private func storeName(in opened: OpenedBackup) throws -> String {
        let names = try opened.stores()
        guard let wanted = options.store else {
            return try StoreChoice.only(of: names, in: opened.name)
        }
        guard let name = names.first(where: { $0 == wanted }) else {
            throw LookingError.noStore(wanted, in: opened.name, stores: names)
        }
        return name
    }

    private func found(
        _ name: String,
        in schema: StoreSchema,
        _ names: CoreDataNames?,
        place: String
    ) throws -> TableSchema {
        let tables = schema.tables.filter { $0.kind == .table || $0.kind == .shadow }
        let folded = name.foldedIdentifier
        let table = tables.first { $0.name.foldedIdentifier == folded }
        let ofEntity = tables.first {
            names?.entity(ofTable: $0.name)?.foldedIdentifier == folded
        }
        guard let found = table ?? ofEntity else {
            let entities = tables.compactMap { names?.entity(ofTable: $0.name) }
            throw LookingError.noTable(
                name,
                in: place,
                tables: entities + tables.map(\.name)
            )
        }
        return found
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
            throw LookingError.badCondition(options.condition ?? "", reason: reason)
        }
    }

    /// Returns the files that rows refer to and that are not there.
    private func files(
        of rows: RowReturn,
        _ store: Store,
        in opened: OpenedBackup,
        _ outcome: inout Outcome
    ) throws -> [RelativePath] {
        let references = try rows.references().sorted { $0.name < $1.name }
        let paths = try references.compactMap { reference in
            let path = store.externalDataDirectory.appending(try RelativePath(reference.name).name)
            return try FileInfo.ifPresent(path.below(store.directory)) == nil ? path : nil
        }
        let wanted = Set(paths)
        let there = Set(try opened.items(where: wanted.contains).map(\.attributes.path))
        for path in paths where !there.contains(path) {
            let problem = Problem(
                kind: .missingExternalData,
                path: path.description,
                reason: "a row refers to this file, and it is not in the backup"
            )
            context.tell([problem])
            outcome.problems.append(problem)
        }
        return paths.filter(there.contains)
    }
}
