internal import Files

extension StoreSnapshot {
    /// Reads the schema, in the snapshot's transaction.
    ///
    /// - Throws: `StoreError`.
    public func schema() throws -> StoreSchema {
        try StoreSchema(of: connection.handle(), name: path.description)
    }

    /// Begins to read a table, in the snapshot's transaction; see `RowCursor`.
    ///
    /// - Parameters:
    ///   - columns: places in the table's columns; all stored ones if not given.
    ///   - rowIDs: only these rows, of a table with rowids in their order.
    /// - Throws: `StoreError`, also if rows of this table have no key that can be told.
    public func rows(
        of table: TableSchema,
        columns: [Int]? = nil,
        order: RowCursor.Order = .local,
        rowIDs: ClosedRange<Int64>? = nil
    ) throws -> RowCursor {
        try RowCursor(
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
