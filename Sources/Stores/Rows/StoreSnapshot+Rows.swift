internal import Files

extension StoreSnapshot {
    /// Reads the schema, in the snapshot's transaction.
    ///
    /// - Returns: all tables except SQLite's own.
    /// - Throws: `StoreError`.
    public func schema() throws -> StoreSchema {
        try connection.refuseUnparsedSchema()
        return try reading { try StoreSchema(of: connection.handle(), name: path.description) }
    }

    /// Begins to read a table, in the snapshot's transaction; see `TableCursor`.
    ///
    /// Its steps must run within `reading`.
    ///
    /// - Parameters:
    ///   - table: the table in the snapshot's schema.
    ///   - columns: indices of the table's columns; all stored ones by default.
    ///   - order: the keys that determine the order.
    ///   - rowIDs: the rows to read, for a table with rowids in their order; all by default.
    /// - Returns: a cursor before the first row.
    /// - Throws: `StoreError`, also if the rows of this table have no accessible key.
    public func rows(
        of table: TableSchema,
        columns: [Int]? = nil,
        order: TableCursor.Order = .local,
        rowIDs: ClosedRange<Int64>? = nil
    ) throws -> TableCursor {
        try reading {
            try TableCursor(
                table,
                in: connection.handle(),
                owner: self,
                name: path.description,
                columns: columns,
                order: order,
                rowIDs: rowIDs
            )
        }
    }
}

extension StoreSnapshot {
    /// Returns the greatest rowid in a table; `nil` if it has no rows, or no rowids.
    ///
    /// - Throws: `StoreError`.
    public func greatestRowID(of table: TableSchema) throws -> Int64? {
        try reading { try RowFinder(self).greatestRowID(of: table) }
    }
}
