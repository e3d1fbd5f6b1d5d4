internal import Backups
internal import Files
public import Stores
internal import SystemPackage

/// The changes that a restore would make, as far as they can be found in a few seconds.
public struct RestorePreview: Sendable {
    /// A table whose rows would change.
    public struct Table: Sendable {
        /// The store's path, printable.
        public var store: String
        public var table: String
        /// The entity that the table belongs to, in a Core Data store.
        public var entity: String?
        /// The counts of rows: added rows come back, removed rows are lost.
        public var rows: RowCounts
    }

    /// A part of a store's schema that would change.
    public struct SchemaPart: Sendable, Hashable {
        /// The store's path, printable.
        public var store: String
        /// `table`, `view`, `virtual table`, `index` or `trigger`.
        public var kind: String
        public var name: String
        /// The change: an added part comes back, a removed part is lost.
        public var change: SchemaDiff.Change
    }

    /// A virtual table whose data would change.
    ///
    /// Only its module knows which of its rows change.
    public struct VirtualTable: Sendable, Hashable {
        /// The store's path, printable.
        public var store: String
        public var table: TableDifference.VirtualTable
    }

    /// A number in a store's header that would change.
    public struct Number: Sendable, Hashable {
        /// The store's path, printable.
        public var store: String
        public var name: String
        public var old: Int64
        public var new: Int64
    }

    /// The numbers of files that would change, without stores.
    public struct Files: Sendable, Equatable {
        public var added = 0
        public var removed = 0
        public var changed = 0

        public var isEmpty: Bool { self == Files() }
    }

    /// The tables with differing rows, sorted by store and name.
    public var tables: [Table] = []
    /// The other changes of schemas, in the order found.
    public var schemas: [SchemaPart] = []
    public var virtualTables: [VirtualTable] = []
    public var numbers: [Number] = []
    /// The stores that differ, and could not be read on one side.
    public var unread: [UnreadStore] = []
    /// The stores that would come back or disappear as a whole.
    public var stores: [StoreDifference] = []
    /// The files with external values of rows, such as pictures.
    public var externalData = Files()
    public var files = Files()
    public var directories = Files()
    /// The number of files, directories and links with the same content, but another mode, owner or time.
    public var attributes = 0
    /// Whether everything was compared.
    ///
    /// If not, the time was up, or something could not be read.
    public var isComplete = true

    /// Whether everything was compared, and no content would change.
    public var changesNothing: Bool {
        isComplete && tables.isEmpty && schemas.isEmpty && virtualTables.isEmpty && numbers.isEmpty
            && unread.isEmpty && stores.isEmpty && externalData.isEmpty && files.isEmpty
            && directories.isEmpty
    }

    // Sets of the items in the lists above, for fast lookup.
    private var unreadPaths: Set<ExactString> = []
    private var wholePaths: Set<ExactString> = []
    private var reportedVirtualTables: Set<VirtualTable> = []

    public var isEmpty: Bool {
        tables.isEmpty && stores.isEmpty && externalData.isEmpty && files.isEmpty
            && schemas.isEmpty && virtualTables.isEmpty && directories.isEmpty && attributes == 0
            && numbers.isEmpty && unread.isEmpty
    }

    /// Compares the live state with a backup's.
    ///
    /// Errors in either are not reported here: the restore reports them.
    ///
    /// - Parameters:
    ///   - archived: the opened backup, on this machine, with names as a restore has them.
    ///   - folder: the folder that contains it.
    ///   - stores: the stores directory that would be replaced.
    ///   - only: the paths that would be replaced; empty for all.
    ///   - removingMissing: whether the chosen paths that only the stores directory has would be removed.
    ///   - limit: the time limit.
    ///   - context: the context whose cancellation check is called.
    /// - Throws: `LookingError.noFile` if one of the paths is not in the backup; `CancellationError`.
    init(
        of archived: ArchivedBackup,
        in folder: BackupFolder,
        replacing stores: FilePath,
        only: [String],
        removingMissing: Bool,
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
        // A restore reports the error in such a name.
        guard !NamedPaths(only).haveAll else { return }
        let found = Found()
        var options = CompareStates.Options()
        options.only = only
        options.onlyOfEither = removingMissing
        do {
            _ = try await CompareStates(
                in: folder,
                with: stores,
                options: options,
                context: bounded
            ).run(from: .live, to: .opened(OpenedBackup(archived, context: bounded))) {
                found.differences.append($0)
            }
        } catch let error as CancellationError {
            throw error
        } catch LookingError.noFile(let path, _, let nearest) {
            let name = BackupName.display(archived.name)
            throw LookingError.noFile(path, in: "'\(name)'", nearest: nearest)
        } catch {
            isComplete = false
        }
        for difference in found.differences { add(difference) }
    }

    private struct TimeIsUp: Error {}

    private final class Found {
        var differences: [Difference] = []
    }

    private mutating func add(_ difference: Difference) {
        switch difference {
        case .file(let file):
            // The file was already added as a store.
            guard !unreadPaths.contains(file.path.exact) else { return }
            let isOther = file.aspects.contains(.content) || file.aspects.contains(.type)
            guard file.change != .changed || isOther else {
                attributes += 1
                return
            }
            let path =
                file.type == "directory"
                ? \RestorePreview.directories
                : file.externalDataOf == nil ? \RestorePreview.files : \.externalData
            switch file.change {
            case .added: self[keyPath: path].added += 1
            case .removed: self[keyPath: path].removed += 1
            case .changed: self[keyPath: path].changed += 1
            }
        case .store(let store):
            if store.change != .changed {
                stores.append(store)
                wholePaths.insert(store.path.exact)
            }
            numbers += store.numbers.map {
                Number(store: store.path, name: $0.name, old: $0.old, new: $0.new)
            }
        case .unread(let store):
            unread.append(store)
            unreadPaths.insert(store.path.exact)
            isComplete = false
        case .table(let table):
            guard !wholePaths.contains(table.store.exact) else { return }
            if table.kind == .shadow {
                guard let of = table.virtualTable else { return addSchema(of: table) }
                let virtual = VirtualTable(store: table.store, table: of)
                if reportedVirtualTables.insert(virtual).inserted { virtualTables.append(virtual) }
                return
            }
            addSchema(of: table)
            if table.failure != nil { isComplete = false }
            guard let rows = table.rows, !rows.isEmpty else { return }
            tables.append(
                Table(store: table.store, table: table.table, entity: table.entity, rows: rows)
            )
        case .row, .moreRows, .statement: break
        }
    }

    private mutating func addSchema(of table: TableDifference) {
        guard let schema = table.schema else { return }
        func add(_ kind: String, _ name: String, _ change: SchemaDiff.Change) {
            schemas.append(
                SchemaPart(store: table.store, kind: kind, name: name, change: change)
            )
        }
        let change = schema.change ?? (schema.columns.isEmpty ? nil : .changed)
        if let change {
            let kind =
                switch schema.kind {
                case .table, .shadow: "table"
                case .view: "view"
                case .virtual: "virtual table"
                }
            add(kind, schema.name, change)
        }
        for part in schema.parts { add(part.kind, part.name, part.change) }
    }
}
