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

    /// Something of a store's schema that would change.
    public struct SchemaPart: Sendable, Hashable {
        /// The store's path, printable.
        public var store: String
        /// `table`, `view`, `virtual table`, `index` or `trigger`.
        public var kind: String
        public var name: String
        /// Added comes back, removed is lost.
        public var change: SchemaDiff.Change
    }

    /// A virtual table whose data would change: which of its rows, only its module knows.
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

    /// How many files would change, stores aside.
    public struct Files: Sendable, Equatable {
        public var added = 0
        public var removed = 0
        public var changed = 0

        public var isEmpty: Bool { self == Files() }
    }

    /// Those of which rows differ, in the order of stores and names.
    public var tables: [Table] = []
    /// What else of stores would change, in the order in which it was found.
    public var schemas: [SchemaPart] = []
    public var virtualTables: [VirtualTable] = []
    public var numbers: [Number] = []
    /// Those that differ, and that could not be read on one side.
    public var unread: [UnreadStore] = []
    /// Stores that would come back as a whole, or go.
    public var stores: [StoreDifference] = []
    /// Files that hold values of rows, such as pictures.
    public var externalData = Files()
    public var files = Files()
    public var directories = Files()
    /// How many files, directories and links would get another mode, owner or time, and have the same content.
    public var attributes = 0
    /// Whether all was compared; else time was up, or something could not be read.
    public var isComplete = true

    public var isEmpty: Bool {
        tables.isEmpty && stores.isEmpty && externalData.isEmpty && files.isEmpty
            && schemas.isEmpty && virtualTables.isEmpty && directories.isEmpty && attributes == 0
            && numbers.isEmpty && unread.isEmpty
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
    ///   - count: how many directories to take off the names in another program's archive; `nil` to find out.
    ///   - removingMissing: whether what only the stores directory has goes, if it is among them.
    ///   - limit: how long it may take.
    ///   - context: asked whether to stop.
    /// - Throws: `LookingError.noFile` if one of the paths is not in the backup; `CancellationError`.
    public init(
        of backup: Backup,
        in folder: BackupFolder,
        replacing stores: FilePath,
        only: [String] = [],
        strippingOf count: Int? = nil,
        removingMissing: Bool = false,
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
        options.onlyOfEither = removingMissing
        options.strips = true
        options.stripsComponents = count
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
        case .file(let file):
            // As a store it was told already.
            guard !unread.contains(where: { $0.path == file.path }) else { return }
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
            if store.change != .changed { stores.append(store) }
            numbers += store.numbers.map {
                Number(store: store.path, name: $0.name, old: $0.old, new: $0.new)
            }
        case .unread(let store):
            unread.append(store)
            isComplete = false
        case .table(let table):
            guard !stores.contains(where: { $0.path == table.store }) else { return }
            if table.kind == .shadow {
                guard let of = table.virtualTable else { return addSchema(of: table) }
                let virtual = VirtualTable(store: table.store, table: of)
                if !virtualTables.contains(virtual) { virtualTables.append(virtual) }
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
