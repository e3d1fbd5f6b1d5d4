public import Backups
internal import Files
public import Stores
public import SystemPackage

/// What a restore would change, as far as that can be told in a few seconds.
public struct RestorePreview: Sendable {
    /// A table of which rows would change.
    public struct Table: Sendable {
        /// The store's path, printable.
        public var store: String
        public var table: String
        /// The entity that the table is for, in a store of Core Data.
        public var entity: String?
        /// Added rows come back, removed ones are lost.
        public var rows: RowCounts
    }

    /// How many files would change, stores aside; directories do not count.
    public struct Files: Sendable, Equatable {
        public var added = 0
        public var removed = 0
        public var changed = 0

        public var isEmpty: Bool { self == Files() }
    }

    /// Those of which rows differ, in the order of stores and names.
    public var tables: [Table] = []
    /// Stores that would come back as a whole, or go.
    public var stores: [StoreDifference] = []
    /// Files that hold values of rows, such as pictures.
    public var externalData = Files()
    public var files = Files()
    /// Whether all was compared; else time was up, or something could not be read.
    public var isComplete = true

    public var isEmpty: Bool {
        tables.isEmpty && stores.isEmpty && externalData.isEmpty && files.isEmpty
    }

    /// Compares the live state with a backup's.
    ///
    /// What is wrong with either is not told here: the restore tells it.
    ///
    /// - Parameters:
    ///   - backup: the backup, on this machine.
    ///   - folder: the folder that it is in.
    ///   - stores: the stores directory that would be replaced.
    ///   - only: the paths that would be replaced, if not all.
    ///   - limit: how long it may take.
    ///   - context: asked whether to stop.
    /// - Throws: `LookingError.noFile` if one of the paths is not in the backup; `CancellationError`.
    public init(
        of backup: Backup,
        in folder: BackupFolder,
        replacing stores: FilePath,
        only: [String] = [],
        within limit: Duration = .seconds(5),
        context: OperationContext
    ) async throws {
        let end = ContinuousClock.now + limit
        var bounded = context
        bounded.report = { _ in }
        bounded.checkCancellation = {
            try context.checkCancellation()
            if ContinuousClock.now > end { throw TimeIsUp() }
        }
        // A restore says what is wrong with such a name.
        guard !NamedPaths(only).haveAll else { return }
        let told = Told()
        var options = CompareStates.Options()
        options.only = only
        do {
            _ = try await CompareStates(
                in: folder,
                with: stores,
                options: options,
                context: bounded
            ).run(from: .live, to: .backup(backup)) { told.differences.append($0) }
        } catch let error as CancellationError {
            throw error
        } catch LookingError.noFile(let path, _, let nearest) {
            throw LookingError.noFile(path, in: "'\(backup.displayName)'", nearest: nearest)
        } catch {
            isComplete = false
        }
        for difference in told.differences { add(difference) }
    }

    private struct TimeIsUp: Error {}

    private final class Told {
        var differences: [Difference] = []
    }

    private mutating func add(_ difference: Difference) {
        switch difference {
        case .file(let file) where file.type != "directory":
            guard file.change != .changed || file.aspects.contains(.content) else { return }
            let path = file.externalDataOf == nil ? \RestorePreview.files : \.externalData
            switch file.change {
            case .added: self[keyPath: path].added += 1
            case .removed: self[keyPath: path].removed += 1
            case .changed: self[keyPath: path].changed += 1
            }
        case .store(let store) where store.change != .changed: stores.append(store)
        case .table(let table):
            guard !stores.contains(where: { $0.path == table.store }), table.kind != .shadow
            else { return }
            if table.failure != nil { isComplete = false }
            guard let rows = table.rows, !rows.isEmpty else { return }
            tables.append(
                Table(store: table.store, table: table.table, entity: table.entity, rows: rows)
            )
        case .file, .store, .row, .moreRows, .statement: break
        }
    }
}
