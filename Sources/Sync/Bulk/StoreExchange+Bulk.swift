internal import Changes
internal import Files
internal import Stores

// The bulk part of a write: rows that nothing was known of go from the state into the store, without a view.
//
// | killed | there is | the next run |
// | --- | --- | --- |
// | before the store commits | the rows in the shadow alone | takes them out of it; the view decides |
// | after that | the rows in both | ends the range |
extension StoreExchange {
    /// The greatest number of attempts for a range, each without the rows that SQLite refused in the last.
    private static let attemptsLimit = 3

    /// Writes the rows of all ranges that the store takes as they are, and leaves the others to the view.
    func writeBulk(_ longWrite: LongWrite, _ outcome: inout ExchangeOutcome) async throws {
        guard try sidecar.read({ try !$0.bulk.ranges().isEmpty }) else { return }
        let layout = try withSnapshot { _, schema, tables in
            StoreLayout(schema: schema, tables: tables)
        }
        longWrite.layout = layout
        let work = try sidecar.write { access in
            if !acceptsLoss { try access.dirty.guardDeletions(of: layout.tables) }
            try access.dirty.takeView(of: layout.tables)
            let ranges = Dictionary(grouping: try access.bulk.ranges(), by: \.table)
            let tables = try layout.schema.bulkTables(layout.tables, access)
            for (name, ranges) in ranges where !tables.contains(where: { $0.name == name }) {
                try access.bulk.release(ranges)
            }
            return tables.flatMap { table in (ranges[table.name] ?? []).map { (table, $0) } }
        }
        for (table, range) in work {
            try await write(range, of: table, longWrite, &outcome)
        }
        // Rows that are left to the view may lack values that only a capture gives them.
        if try sidecar.read({ try $0.dirty.count > 0 }) { longWrite.layout = nil }
    }

    private func write(
        _ range: BulkRange,
        of table: TableMapping,
        _ longWrite: LongWrite,
        _ outcome: inout ExchangeOutcome
    ) async throws {
        guard let layout = longWrite.layout else { return }
        for attempt in 0..<Self.attemptsLimit {
            try options.check()
            let (steps, numbers) = try sidecar.write { access in
                (try BulkPart(range, of: table, access).steps, try access.numbers(of: table))
            }
            if steps.isEmpty { break }
            let rows = steps.map(WrittenRow.init)
            if attempt == 0 { try await options.willWrite(rows) }
            try sidecar.write { try $0.bulk.begin(steps, of: range) }
            try pass(.planned)
            let write = BulkWrite(
                connection: longWrite.connection,
                name: store.path.description,
                schema: layout.schema,
                table: table,
                steps: steps,
                numbers: numbers
            )
            let refused: [RowID]?
            do {
                refused = try write.run()
            } catch {
                try sidecar.write { access in
                    try access.bulk.undo()
                    try access.bulk.releaseAll()
                }
                throw error
            }
            try pass(.written)
            if refused?.isEmpty == true {
                try sidecar.write { try $0.bulk.settle() }
                outcome.inserted += steps.count
                longWrite.added[table.name, default: 0] += Int64(steps.count)
                try pass(.settled)
                return try await options.didWrite(rows)
            }
            try sidecar.write { access in
                try access.bulk.undo()
                for id in refused ?? [] { try access.dirty.mark(id) }
            }
            // Another file is in the store's place, or its schema is another.
            if refused == nil { break }
        }
        try sidecar.write { try $0.bulk.release([range]) }
    }
}

/// The insertion of new rows into a store, in one transaction.
private struct BulkWrite {
    let connection: StoreConnection
    let name: String
    let schema: SyncSchema
    let table: TableMapping
    let steps: [WritePlan.Step]
    let numbers: [Int64]

    /// Inserts the rows, or none.
    ///
    /// - Returns: the rows that SQLite refuses, or that would name rows which the store lacks; empty if all rows were
    ///   written, and `nil` if the store is another one, or has another schema.
    /// - Throws: `StoreError`; nothing is written then.
    func run() throws -> [RowID]? {
        var refused: [RowID]?
        let isWritten: Bool? = try connection.writing(schema.triggers) { handle in
            let rows = StoreRows(handle, name: name, [table.name: numbers])
            guard try rows.schemaVersion() == schema.version else { return nil }
            refused = []
            for step in steps {
                guard case .insert(let values) = step.change else { continue }
                if try rows.insert(step, values) != nil { refused?.append(step.id) }
            }
            if refused?.isEmpty == true {
                refused = try Array(rows.orphans(among: steps, of: table, in: schema).keys)
            }
            return refused?.isEmpty == true ? true : nil
        }
        if isWritten != true, refused?.isEmpty == true { return nil }
        return refused
    }
}
