/// The part of a schema that a view needs; closures answer the questions that only SQLite can.
public struct ViewSchema {
    /// A column that syncs.
    public struct Column: Sendable {
        public let name: ColumnName
        /// The value of a row without such a cell: the constant default, else NULL.
        public let missing: Value

        public init(_ name: ColumnName, missing: Value = .null) {
            self.name = name
            self.missing = missing
        }
    }

    /// A reference to a row of a table that syncs.
    public struct Reference: Sendable {
        public let columns: [ColumnName]
        public let table: TableName
        /// The referenced columns of the other table; empty if the values are row ids.
        public let targets: [ColumnName]
        /// Whether the child is shown with NULL if its parent is missing.
        ///
        /// This holds if its columns may be NULL, and a delete of the parent does not delete the child.
        public let yields: Bool
        /// The values with which a row is shown if its reference is cut: NULL, or a default that names no row; `nil`
        /// if the schema allows neither.
        public let empty: [Value]?
        /// A closure that returns values in a form that is equal if SQLite compares the values of the other table's
        /// columns as equal.
        public let folded: @Sendable ([Value]) -> [Value]

        public init(
            _ columns: [ColumnName],
            to table: TableName,
            targets: [ColumnName] = [],
            yields: Bool,
            empty: [Value]? = nil,
            folded: @escaping @Sendable ([Value]) -> [Value] = { $0 }
        ) {
            self.columns = columns
            self.table = table
            self.targets = targets
            self.yields = yields
            self.empty = empty ?? (yields ? columns.map { _ in .null } : nil)
            self.folded = folded
        }

        /// Returns the row that the values of a row named where they were written; `nil` if they do not say so.
        public func namedRow(in state: RowState) -> RowID? {
            let ids = Set(columns.compactMap { state.cell($0)?.value.namedRow })
            return ids.count == 1 ? ids.first : nil
        }
    }

    public struct Table: Sendable {
        public let name: TableName
        public let columns: [Column]
        /// The columns that identify a row; a row that is the same as another keeps its own.
        public let key: Set<ColumnName>
        public let references: [Reference]

        public init(
            _ name: TableName,
            columns: [Column],
            key: Set<ColumnName> = [],
            references: [Reference] = []
        ) {
            self.name = name
            self.columns = columns
            self.key = key
            self.references = references
        }
    }

    /// A key that only one row of a table may have.
    public struct UniqueKey: Sendable {
        /// The key, marked with its index.
        public let bytes: [UInt8]
        /// Whether rows with the same key are the same thing, of which one row is shown in the place of all.
        ///
        /// Else the key is a place that only one row can have, and the others wait until it is free.
        public let identifies: Bool

        public init(_ bytes: [UInt8], identifies: Bool) {
            self.bytes = bytes
            self.identifies = identifies
        }
    }

    public let tables: [Table]
    /// A closure that returns the row that a reference's values name; `nil` if they name no possible row.
    ///
    /// It is not called if one of the values is NULL: then there is no reference.
    public let parent: (Reference, [Value]) -> RowID?
    /// A closure that returns whether a row breaks NOT NULL, a CHECK or a STRICT type.
    public let refuses: (Table, ViewRow) -> Bool
    /// A closure that returns the keys of a row.
    ///
    /// Rows of a table that share a key collide.
    ///
    /// A key with a NULL, and an index that does not apply to the row, give none.
    public let uniqueKeys: (Table, ViewRow) -> [UniqueKey]

    public init(
        tables: [Table],
        parent: @escaping (Reference, [Value]) -> RowID? = ViewSchema.rowID,
        refuses: @escaping (Table, ViewRow) -> Bool = { _, _ in false },
        uniqueKeys: @escaping (Table, ViewRow) -> [UniqueKey] = { _, _ in [] }
    ) {
        self.tables = tables
        self.parent = parent
        self.refuses = refuses
        self.uniqueKeys = uniqueKeys
    }

    /// Returns the row that a reference of one column names by its id.
    public static func rowID(_ reference: Reference, _ values: [Value]) -> RowID? {
        if values.count == 1, case .row(let id) = values[0] { id } else { nil }
    }
}
