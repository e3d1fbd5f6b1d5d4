internal import Files

/// The differences between two states of a store, table by table and row by row.
///
/// Rows are streamed, so memory grows neither with the tables nor with their differences.
public final class StoreDiff {
    /// The state before.
    public let old: ReadableStore
    /// The state after.
    public let new: ReadableStore
    public let schema: SchemaDiff
    /// All tables with rows of their own; views and virtual tables have none.
    public let tables: [TablePair]
    /// All tables, including views and virtual tables.
    let pairs: [TablePair]

    /// Whether both states keep texts in UTF-8.
    let isUTF8: Bool
    private let isSameEncoding: Bool
    private let segments: SharedSegments?
    /// A closure that is called now and then, and throws to stop.
    private let check: () throws -> Void
    /// The ranges of rowids outside of which both states of a table are the same, by the table's name.
    private var ranges: [ExactString: [ClosedRange<Int64>]] = [:]

    /// Reads the schemas.
    ///
    /// - Parameters:
    ///   - old: the state before.
    ///   - new: the state after.
    ///   - segments: the segments that are equal in both files, and need to be read from one only.
    ///   - check: a closure that is called now and then during long work, and throws to stop.
    /// - Throws: `StoreError`.
    public init(
        from old: ReadableStore,
        to new: ReadableStore,
        sharing segments: SharedSegments? = nil,
        check: @escaping () throws -> Void = {}
    ) throws {
        (self.segments, self.check) = (segments, check)
        let before = try old.reading { try old.schema() }
        let after = try new.reading { try new.schema() }
        self.old = old
        self.new = new
        isUTF8 = before.encoding == "UTF-8" && after.encoding == "UTF-8"
        isSameEncoding = before.encoding == after.encoding
        schema = SchemaDiff(from: before, to: after)
        pairs = TablePair.pairs(from: before, to: after)
        tables = pairs.compactMap(\.withRows)
    }

    /// Returns how the same row is recognised in both states; `nil` if only one state has the table.
    public func identity(of pair: TablePair) -> TableIdentity? {
        guard let old = pair.old, let new = pair.new else { return nil }
        return TableIdentity(of: old, and: new, isUTF8: isUTF8)
    }

    /// Counts the rows that differ.
    ///
    /// - Throws: `StoreError`.
    public func counts(of pair: TablePair) throws -> RowCounts {
        try reading { try countsOnce(of: pair) }
    }

    /// Runs `body`, which reads both stores.
    ///
    /// - Throws: any error of `body`; if bytes could not be read, the reason in place of SQLite's error.
    func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try old.reading { try new.reading(body) }
    }

    private func countsOnce(of pair: TablePair) throws -> RowCounts {
        var counts = RowCounts()
        guard let old = pair.old, let new = pair.new, let identity = identity(of: pair) else {
            if let table = pair.old { counts.removed = try self.old.count(of: table) }
            if let table = pair.new { counts.added = try self.new.count(of: table) }
            return counts
        }
        try forEachDifference(old, new, by: identity) { change, _ in
            switch change {
            case .added: counts.added += 1
            case .removed: counts.removed += 1
            case .changed: counts.changed += 1
            }
            return true
        }
        return counts
    }

    /// Calls `body` for each row that differs, in the order of their keys, until it returns `false`.
    ///
    /// - Throws: `StoreError`; any error of `body`.
    public func forEachChange(
        of pair: TablePair,
        _ body: (RowChange) throws -> Bool
    ) throws {
        try reading { try forEachChangeOnce(of: pair, body) }
    }

    private func forEachChangeOnce(
        of pair: TablePair,
        _ body: (RowChange) throws -> Bool
    ) throws {
        guard let old = pair.old, let new = pair.new, let identity = identity(of: pair) else {
            if let table = pair.old { try forEachRow(of: table, in: self.old, .removed, body) }
            if let table = pair.new { try forEachRow(of: table, in: self.new, .added, body) }
            return
        }
        try forEachDifference(old, new, by: identity) { change, diff in
            try body(RowChange(change, diff, identity))
        }
    }

    private func forEachRow(
        of table: TableSchema,
        in store: ReadableStore,
        _ kind: SchemaDiff.Change,
        _ body: (RowChange) throws -> Bool
    ) throws {
        let identity = TableIdentity(inStore: table)
        var cursor = try store.rows(of: table, order: identity.order)
        while try cursor.next() {
            guard try body(RowChange(kind, cursor, identity)) else { return }
        }
    }

    /// Calls `body` at each difference of a table's two states, until it returns `false`.
    func forEachDifference(
        _ old: TableSchema,
        _ new: TableSchema,
        by identity: TableIdentity,
        _ body: (RowDiff.Change, borrowing RowDiff) throws -> Bool
    ) throws {
        try self.old.interruptible(by: check) {
            try self.new.interruptible(by: check) {
                try forEachDifferenceOnce(old, new, by: identity, body)
            }
        }
    }

    private func forEachDifferenceOnce(
        _ old: TableSchema,
        _ new: TableSchema,
        by identity: TableIdentity,
        _ body: (RowDiff.Change, borrowing RowDiff) throws -> Bool
    ) throws {
        let ranges = try changedRanges(old, new)
        if let ranges, identity == .rowID {
            for range in ranges {
                guard try forEachDifference(old, new, identity, range, body) else { return }
            }
        } else if ranges?.isEmpty != true {
            _ = try forEachDifference(old, new, identity, nil, body)
        }
    }

    private func forEachDifference(
        _ old: TableSchema,
        _ new: TableSchema,
        _ identity: TableIdentity,
        _ rowIDs: ClosedRange<Int64>?,
        _ body: (RowDiff.Change, borrowing RowDiff) throws -> Bool
    ) throws -> Bool {
        let pairs: (old: [Int]?, new: [Int]?) =
            identity == .content ? Self.commonColumns(old, new) : (nil, nil)
        let order = identity.order
        var diff = RowDiff(
            from: try self.old.rows(of: old, columns: pairs.old, order: order, rowIDs: rowIDs),
            to: try self.new.rows(of: new, columns: pairs.new, order: order, rowIDs: rowIDs)
        )
        while let change = try diff.next() {
            guard try body(change, diff) else { return false }
        }
        return true
    }

    /// Returns the columns that both states have; their values identify rows.
    private static func commonColumns(
        _ old: TableSchema,
        _ new: TableSchema
    ) -> (old: [Int]?, new: [Int]?) {
        let common = old.storedColumns.compactMap { place in
            new.column(old.columns[place].name).map { (old: place, new: $0) }
        }
        return (common.map(\.old), common.map(\.new))
    }

    /// Returns the ranges of rowids outside of which two states of a table are the same, by their pages; `nil` if
    /// unknown.
    private func changedRanges(
        _ old: TableSchema,
        _ new: TableSchema
    ) throws -> [ClosedRange<Int64>]? {
        // Pages can be compared only under one statement: records name columns by position, and may lack those with
        // defaults.
        guard old.sql == new.sql, isSameEncoding, old.rowIDName != nil,
            let oldPages = self.old.pages, let newPages = self.new.pages,
            oldPages.pageSize == newPages.pageSize
        else { return nil }
        if let known = ranges[new.name.exact] { return known }
        let key = Self.hashKey
        guard
            let before = try oldPages.tree(of: old, key: key, sharing: segments, check: check),
            let after = try newPages.tree(of: new, key: key, with: before, check: check)
        else { return nil }
        let changes = Leaf.changes(from: before.leaves, to: after.leaves)
        ranges[new.name.exact] = changes
        return changes
    }

    /// The key is random, so that nobody can construct two pages with the same hash.
    private static let hashKey: [UInt8] = (0..<192).map { _ in .random(in: .min ... .max) }
}

/// The numbers of rows that differ in a table.
public struct RowCounts: Sendable, Equatable, Codable {
    public var added: Int64 = 0
    public var removed: Int64 = 0
    public var changed: Int64 = 0

    public init() {}

    public var isEmpty: Bool { added == 0 && removed == 0 && changed == 0 }
}

/// A row that differs between two states of a table.
public struct RowChange: Sendable, Equatable {
    /// A value for display: of a large value only the size is read.
    public enum Value: Sendable, Equatable {
        case stored(StoredValue)
        case large(StorageClass, bytes: Int64)
    }

    /// A value of the row, by the name of its column.
    public struct Cell: Sendable, Equatable {
        public var column: String
        /// The value in the old state; `nil` if it has no such row.
        public var old: Value?
        public var new: Value?
    }

    public var kind: SchemaDiff.Change
    /// The values of the row's key; empty if all of its values identify the row.
    public var key: [(column: String, value: Value)] { keys.map { ($0.column, $0.value) } }
    /// The values that differ, or all values of a row that only one state has.
    public var cells: [Cell]

    private struct Key: Sendable, Equatable {
        var column: String
        var value: Value
    }

    private var keys: [Key]
}

extension RowChange {
    fileprivate init(
        _ change: RowDiff.Change,
        _ diff: borrowing RowDiff,
        _ identity: TableIdentity
    ) throws {
        switch change {
        case .added: try self.init(.added, diff.new, identity)
        case .removed: try self.init(.removed, diff.old, identity)
        case .changed(let places):
            let cells = try places.map { place in
                let pair = diff.pairs[place]
                return Cell(
                    column: diff.new.table.columns[diff.new.columns[pair.new]].name,
                    old: try diff.old.shownValue(pair.old),
                    new: try diff.new.shownValue(pair.new)
                )
            }
            let keys = try Self.keys(of: diff.new, identity)
            self.init(kind: .changed, cells: cells, keys: keys)
        }
    }

    fileprivate init(
        _ kind: SchemaDiff.Change,
        _ row: borrowing TableCursor,
        _ identity: TableIdentity
    ) throws {
        var cells: [Cell] = []
        for (index, place) in row.columns.enumerated() {
            let value = try row.shownValue(index)
            var cell = Cell(column: row.table.columns[place].name)
            if kind == .added { cell.new = value } else { cell.old = value }
            cells.append(cell)
        }
        self.init(kind: kind, cells: cells, keys: try Self.keys(of: row, identity))
    }

    private static func keys(
        of row: borrowing TableCursor,
        _ identity: TableIdentity
    ) throws -> [Key] {
        switch identity {
        case .content: return []
        case .rowID:
            let name = row.table.rowIDAlias.map { row.table.columns[$0].name } ?? "rowid"
            return [Key(column: name, value: .stored(.integer(row.rowID)))]
        case .primaryKey:
            var keys: [Key] = []
            for place in row.table.primaryKey {
                guard let index = row.columns.firstIndex(of: place) else { continue }
                let name = row.table.columns[place].name
                keys.append(Key(column: name, value: try row.shownValue(index)))
            }
            return keys
        }
    }
}

extension TableCursor {
    /// Returns a value for display.
    fileprivate func shownValue(_ index: Int) throws -> RowChange.Value {
        switch storageClass(index) {
        case let kind where kind == .text || kind == .blob:
            let size = byteCount(index)
            return size > Int64(Self.largeSize)
                ? .large(kind, bytes: size) : .stored(try value(index))
        default: return .stored(try value(index))
        }
    }
}

extension TablePair {
    /// The pair without states that have no rows of their own; `nil` if neither has any.
    fileprivate var withRows: TablePair? {
        func rows(_ table: TableSchema?) -> TableSchema? {
            table.flatMap { $0.kind == .table || $0.kind == .shadow ? $0 : nil }
        }
        let (old, new) = (rows(old), rows(new))
        return old == nil && new == nil ? nil : TablePair(old: old, new: new)
    }
}
