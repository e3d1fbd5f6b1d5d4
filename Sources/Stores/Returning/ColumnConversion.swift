internal import Files

/// A converter of values to the types of their target columns (https://www.sqlite.org/datatype3.html, 3).
///
/// SQLite converts them, in a table in memory whose columns have the same affinities.
struct ColumnConversion {
    private let write: Statement
    private let read: Statement
    private let scratch: ScratchDatabase
    private let count: Int

    /// Compares the columns of two states of a table; `nil` if no value needs conversion.
    ///
    /// - Throws: `StoreError`.
    init?(of rows: RowReturn) throws {
        let affinities = rows.columns.map { rows.into.conversion($0) }
        let others = rows.columns.map { place in
            rows.from.column(rows.into.columns[place].name).map(rows.from.conversion)
        }
        guard zip(affinities, others).contains(where: { $0 != .blob && $0 != $1 }) else {
            return nil
        }
        count = affinities.count
        scratch = try ScratchDatabase(name: rows.into.name)
        let columns = affinities.enumerated().map { "c\($0) \($1.rawValue)" }
        try scratch.run(
            "CREATE TABLE t (row INTEGER PRIMARY KEY, \(columns.joined(separator: ", ")))"
        )
        let values = affinities.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let names = affinities.indices.map { "c\($0)" }.joined(separator: ", ")
        write = try scratch.prepare("INSERT OR REPLACE INTO t VALUES (1, \(values))")
        read = try scratch.prepare("SELECT \(names) FROM t")
    }

    /// Returns a row's values as they are after writing.
    ///
    /// - Throws: `StoreError`.
    func converted(_ values: [StoredValue]) throws -> [StoredValue] {
        try write.run(values)
        defer { read.reset() }
        guard try read.step() else { return values }
        return (0..<count).map { read.value(CInt($0)) }
    }
}

extension TableSchema {
    /// Returns the affinity by which a column converts values; `ANY` in a strict table keeps all values.
    fileprivate func conversion(_ place: Int) -> ColumnSchema.Affinity {
        let column = columns[place]
        return isStrict && column.declaredType.foldedIdentifier == "any" ? .blob : column.affinity
    }
}
