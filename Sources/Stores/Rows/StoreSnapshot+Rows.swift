internal import Files

extension StoreSnapshot {
    /// Reads the schema, in the snapshot's transaction.
    ///
    /// - Returns: all tables but SQLite's own.
    /// - Throws: `StoreError`.
    public func schema() throws -> StoreSchema {
        try reading { try StoreSchema(of: connection.handle(), name: path.description) }
    }

    /// Begins to read a table, in the snapshot's transaction; see `TableCursor`, whose steps go in `reading`.
    ///
    /// - Parameters:
    ///   - table: as the snapshot's schema has it.
    ///   - columns: places in the table's columns; all stored ones if not given.
    ///   - order: by which keys.
    ///   - rowIDs: only these rows, of a table with rowids in their order.
    /// - Returns: a cursor before the first row.
    /// - Throws: `StoreError`, also if rows of this table have no key that can be told.
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
