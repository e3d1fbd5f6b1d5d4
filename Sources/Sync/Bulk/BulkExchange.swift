internal import Changes
internal import Files
internal import Stores

/// The bulk part of a write: rows that nothing was known of go from the state into the store, without a view.
///
/// | killed | there is | the next run |
/// | --- | --- | --- |
/// | before the store commits | the rows in the shadow alone | takes them out of it; the view decides |
/// | after that | the rows in both | ends the range |
struct BulkExchange {
    /// The greatest number of attempts for a range, each without the rows that SQLite refused in the last.
    private static let attemptsLimit = 3

    let exchange: StoreExchange
    let longWrite: LongWrite

    private var sidecar: Sidecar { exchange.sidecar }

    /// Writes the rows of all ranges that the store takes as they are, and leaves the others to the view.
    func run(_ outcome: inout ExchangeOutcome) async throws {
        guard try sidecar.read({ try !$0.bulkRows.ranges().isEmpty }) else { return }
        let layout = try exchange.withSnapshot { _, schema, tables in
            StoreLayout(schema: schema, tables: tables)
        }
        longWrite.layout = layout
        let work = try sidecar.write { access in
            if !exchange.options.acceptsLoss { try access.dirty.guardDeletions(of: layout.tables) }
            try access.dirty.takeView(of: layout.tables)
            let ranges = Dictionary(grouping: try access.bulkRows.ranges(), by: \.table)
            let tables = try layout.schema.bulkTables(layout.tables, access)
            for (name, ranges) in ranges where !tables.contains(where: { $0.name == name }) {
                try access.bulkRows.release(ranges)
            }
            return tables.flatMap { table in (ranges[table.name] ?? []).map { (table, $0) } }
        }
        for (table, range) in work { try await write(range, of: table, layout, &outcome) }
        // Rows that are left to the view may lack values that only a capture gives them.
        if try sidecar.read({ try !$0.dirty.isEmpty }) { longWrite.layout = nil }
    }

    private func write(
        _ range: BulkRange,
        of table: TableMapping,
        _ layout: StoreLayout,
        _ outcome: inout ExchangeOutcome
    ) async throws {
        for attempt in 0..<Self.attemptsLimit {
            try exchange.options.check()
            let part = try sidecar.write { try BulkPart(range, of: table, $0) }
            if part.steps.isEmpty { break }
            let rows = part.steps.map(WrittenRow.init)
            if attempt == 0 { try await exchange.options.willWrite(rows) }
            let refused = try insert(part, of: range, layout.schema)
            try exchange.pass(.written)
            if refused?.isEmpty == true {
                try sidecar.write { try $0.bulkRows.settle() }
                outcome.inserted += rows.count
                longWrite.added[table.name, default: 0] += Int64(rows.count)
                try exchange.pass(.settled)
                return try await exchange.options.didWrite(rows)
            }
            try sidecar.write { access in
                try access.bulkRows.undo()
                for id in refused ?? [] { try access.dirty.mark(id) }
            }
            // Another file is in the store's place, or its schema is another.
            if refused == nil { break }
        }
        try sidecar.write { try $0.bulkRows.release([range]) }
    }

    /// Inserts the rows of a part, which the shadow shows from before that.
    ///
    /// - Returns: see `BulkWrite.run`.
    private func insert(
        _ part: BulkPart,
        of range: BulkRange,
        _ schema: SyncSchema
    ) throws -> [RowID]? {
        try sidecar.write { access in
            let shared = try access.sharedNumbers(of: part.table)
            try access.bulkRows.begin(part.steps.compactMap(\.shown), of: range, sharing: shared)
        }
        try exchange.pass(.planned)
        do {
            return try BulkWrite(
                connection: longWrite.connection,
                name: exchange.store.path.description,
                schema: schema,
                part: part
            ).run()
        } catch {
            try sidecar.write { access in
                try access.bulkRows.undo()
                try access.bulkRows.releaseAll()
            }
            throw error
        }
    }
}

extension WritePlan.Step {
    /// The row as the shadow has it after the step; `nil` for a deleted row.
    fileprivate var shown: ShownRow? {
        new.map { ShownRow(key: key, id: id, causalLength: causalLength, image: $0) }
    }
}

/// The insertion of new rows into a store, in one transaction.
private struct BulkWrite {
    let connection: StoreConnection
    let name: String
    let schema: SyncSchema
    let part: BulkPart

    /// Inserts the rows, or none.
    ///
    /// - Returns: the rows that SQLite refuses, or that would name rows which the store lacks; empty if all rows were
    ///   written, and `nil` if the store is another one, or has another schema.
    /// - Throws: `StoreError`; nothing is written then.
    func run() throws -> [RowID]? {
        var refused: [RowID]?
        let isWritten: Bool? = try connection.writing(schema.triggers) { handle in
            let rows = StoreRows(handle, name: name, [part.table.name: part.numbers])
            guard try rows.schemaVersion() == schema.version else { return nil }
            refused = []
            for step in part.steps {
                guard case .insert(let values) = step.change else { continue }
                if try rows.insert(step, values) != nil { refused?.append(step.id) }
            }
            if refused?.isEmpty == true {
                refused = try Array(
                    rows.orphans(among: part.steps, of: part.table, in: schema).keys
                )
            }
            return refused?.isEmpty == true ? true : nil
        }
        if isWritten != true, refused?.isEmpty == true { return nil }
        return refused
    }
}
