internal import Changes
internal import Files
internal import Stores

// The store's part of an exchange: it is written until it shows its view.
extension StoreExchange {
    /// The greatest number of plans in a row because an application keeps writing.
    private static let roundsLimit = 3

    /// Writes until the store shows its view, or an application writes too often.
    func write(_ outcome: inout ExchangeOutcome) async throws {
        // A file that a killed run fetched may be truncated, since fetching does not wait for the disk.
        try BlobCache(sidecar: sidecar).clear()
        guard try sidecar.read({ try !$0.dirty.isEmpty }) else { return }
        try sidecar.write { access in
            try access.dirty.wakeWaiting()
            try access.dirty.retryRefused()
        }
        if options.isDryRun {
            try sidecar.write { try $0.bulkRows.releaseAll() }
            let connection = StoreConnection(store, busyTimeout: options.busyTimeout)
            let steps = try plan(LongWrite(connection: connection), &outcome).0?.plan.steps ?? []
            return outcome.count(steps)
        }
        guard let reservation = try await options.reserve() else {
            outcome.isPutOff = true
            return try sidecar.write { try $0.bulkRows.releaseAll() }
        }
        defer { withExtendedLifetime(reservation) {} }
        var fetched: Set<BlobReference> = []
        let longWrite = LongWrite(
            connection: StoreConnection(store, busyTimeout: options.busyTimeout)
        )
        defer { longWrite.connection.close() }
        try await BulkExchange(exchange: self, longWrite: longWrite).run(&outcome)
        try sidecar.write { try $0.dirty.orderLooks(moreThan: options.mostRows) }
        while try sidecar.read({ try $0.dirty.isUnfinished }),
            try await writePart(longWrite, &outcome, &fetched)
        {
            try options.check()
        }
        try BlobCache(sidecar: sidecar).clear()
    }

    /// Writes the rows that are computed at once: all altered rows, or a part if there are very many.
    ///
    /// - Returns: whether they were written.
    private func writePart(
        _ longWrite: LongWrite,
        _ outcome: inout ExchangeOutcome,
        _ fetched: inout Set<BlobReference>
    ) async throws -> Bool {
        var isReported = false
        var again = RepeatedRefusals()
        var rounds = 0
        while rounds < Self.roundsLimit {
            rounds += 1
            let (planned, missing) = try plan(longWrite, &outcome)
            // Content that rows wait for is fetched once; if it is missing, only these rows wait.
            let lacking = missing.subtracting(fetched)
            if !lacking.isEmpty, try await fetch(lacking, &outcome) {
                fetched.formUnion(lacking)
                try sidecar.write { try $0.dirty.wakeWaiting() }
                continue
            }
            fetched.formUnion(lacking)
            guard let planned else { return true }
            let rows = planned.plan.steps.map(WrittenRow.init)
            if !isReported { try await options.willWrite(rows) }
            isReported = true
            let before = outcome.written
            let applied = try apply(planned, longWrite, &outcome)
            if outcome.written > before { try await options.didWrite(rows) }
            switch applied {
            case .done: return true
            case .retry: break
            case .refused(let rows):
                let rows = again.take(rows)
                if rows.isEmpty { break }
                try sidecar.write { try $0.dirty.refuse(rows) }
                rounds -= 1
            case .dangling(let rows):
                let rows = again.take(rows)
                longWrite.left.merge(rows) { $1 }
                if !rows.isEmpty { rounds -= 1 }
            }
        }
        // Rows that an application keeps changing wait for the next run.
        return false
    }

    private func fetch(
        _ blobs: Set<BlobReference>,
        _ outcome: inout ExchangeOutcome
    ) async throws -> Bool {
        guard outcome.trouble == nil else { return false }
        let fetched = try await BlobCache(sidecar: sidecar)
            .fetch(blobs, from: container, options.check)
        outcome.trouble = fetched.failure
        return fetched.isAnyThere
    }

    /// A plan, with the schema that it is for.
    private struct Planned {
        var plan: WritePlan
        var layout: StoreLayout
        var numbers: [TableName: [Int64]]
        /// The files that rows will name.
        var files: [RowFile: BlobReference]

        init(_ plan: WritePlan, _ view: StoreView, _ layout: StoreLayout) {
            (self.plan, self.layout) = (plan, layout)
            (numbers, files) = (view.numbers, view.files)
        }

        /// Returns the write of the plan into a store.
        func write(
            by connection: StoreConnection,
            to store: Store,
            _ sidecar: Sidecar
        ) -> StoreWrite {
            StoreWrite(
                connection: connection,
                name: store.path.description,
                schema: layout.schema,
                plan: plan,
                numbers: numbers,
                sidecar: sidecar
            ) { table, key, reference in
                guard let table = layout.tables.first(where: { $0.schema.name == table.name })
                else { return true }
                return try sidecar.read { access in
                    let id = try access.shadow.id(at: key, in: table.name)
                    guard let state = try id.flatMap(access.states.known)?.state else {
                        return true
                    }
                    return table.plainPlaces(in: state).isDisjoint(with: reference.columns)
                }
            }
        }
    }

    /// Compares the view with the store, after a capture unless no process has written since the last part.
    ///
    /// - Returns: `nil` for the plan if nothing has to be written.
    private func plan(
        _ longWrite: LongWrite,
        _ outcome: inout ExchangeOutcome
    ) throws -> (Planned?, missing: Set<BlobReference>) {
        if let layout = longWrite.layout,
            let planned = try longWrite.connection.reading({
                try plan(layout, $0, longWrite, &outcome)
            })
        {
            return planned
        }
        // The connection must not be open while the store's files are opened.
        longWrite.connection.close()
        return try withSnapshot { snapshot, schema, tables in
            let layout = StoreLayout(schema: schema, tables: tables)
            longWrite.layout = layout
            return try plan(layout, RowFinder(snapshot), longWrite, &outcome)
        }
    }

    private func plan(
        _ layout: StoreLayout,
        _ finder: RowFinder,
        _ longWrite: LongWrite,
        _ outcome: inout ExchangeOutcome
    ) throws -> (Planned?, missing: Set<BlobReference>) {
        try sidecar.write { access in
            let look = ViewLook(
                layout.tables,
                access,
                BlobCache(sidecar: sidecar, files: files),
                finder,
                // A dry run writes nothing, so it does not divide the rows into parts.
                mostRows: options.isDryRun ? .max : options.mostRows,
                partRows: options.mostRows / 2
            )
            // This is done once per run, since it counts all rows.
            if !options.acceptsLoss, outcome.looked == 0 { try look.guardDeletions() }
            let view = try look.view()
            outcome.looked += view.part.isAll ? view.part.rows.count : view.part.ids.count
            var plan = try WritePlan(
                view,
                access,
                longWrite.added,
                acceptsChanges: options.acceptsLoss
            )
            try look.keep(view, plan)
            if options.comparesViews { try look.compare(plan, of: view) }
            let values = WireValues(
                tables: layout.tables,
                access: access,
                files: files,
                finder: finder
            )
            try KeptRows(schema: layout.schema, values: values, finder: finder).keep(&plan, view)
            plan.leave(Set(longWrite.left.keys))
            try plan.listWaiting(longWrite.left.merging(view.words) { one, _ in one }, access)
            try access.dirty.wait(view.held.filter { $0.why == .blob }.map(\.id))
            if plan.isEmpty, view.files.isEmpty { return (nil, view.missing) }
            try access.intents.drop()
            try Removals(values: values, view: view, finder: finder).keep(plan)
            try noteFiles(of: plan, writing: view.files, access)
            return (Planned(plan, view, layout), view.missing)
        }
    }

    /// The result of applying a plan.
    private enum Applied {
        case done
        /// The application has changed some of the plan's rows meanwhile, or data on which they depend.
        case retry
        /// SQLite refuses some rows, so nothing was written.
        case refused([RowID: String])
        /// Some changes would leave references that name no row, so nothing was written.
        case dangling([RowID: String])

        /// Creates the result of a write that wrote nothing.
        init(_ result: StoreWrite.Result) {
            switch result {
            case .refused(let rows): self = .refused(rows)
            case .dangling(let rows): self = .dangling(rows)
            case .written, .outdated: self = .retry
            }
        }
    }

    /// Writes a plan into the store, and records the written rows.
    private func apply(
        _ planned: Planned,
        _ longWrite: LongWrite,
        _ outcome: inout ExchangeOutcome
    ) throws -> Applied {
        let write = planned.write(by: longWrite.connection, to: store, sidecar)
        try sidecar.write { try $0.intents.add(planned.plan.intents) }
        try pass(.planned)
        let result: StoreWrite.Result
        do {
            result = try writeFiles(planned.files) ? write.run() : .outdated
        } catch {
            // The application may give the rows' numbers to its own, so only a killed run leaves its intents.
            try sidecar.write { try $0.intents.drop() }
            throw error
        }
        guard case .written(let written) = result else {
            try sidecar.write { try $0.intents.drop() }
            longWrite.layout = nil
            return Applied(result)
        }
        try pass(.written)
        try sidecar.write { access in
            for (step, image) in written.rows {
                outcome.hidden += try image == nil && access.held.hides(step.id) ? 1 : 0
                try access.intents.settle(step.intent(new: image))
                try access.dirty.clean(step.id)
            }
            for id in written.leftOut { try access.dirty.mark(id) }
            try access.removed.companions.keep(written.left)
            // The list shows what could not come back with its row.
            for (step, _) in written.rows where written.left[step.id]?.isEmpty == false {
                try access.removed.add(Conflict(.hidden, step.table.name, step.id, cells: []))
            }
            try access.removed.companions.forget(written.back)
            // A row may lack a file after it was written.
            try access.dirty.wait(planned.plan.waiting.keys)
            try access.intents.drop()
        }
        // The next steps may need the store for themselves.
        if try !sidecar.read({ try $0.dirty.isUnfinished }) { longWrite.connection.close() }
        try pass(.settled)
        outcome.inserted += written.inserted
        outcome.updated += written.updated
        outcome.deleted += written.deleted
        if written.leftOut.isEmpty { return .done }
        longWrite.layout = nil
        return .retry
    }
}

/// The tables of a store at its last comparison with the shadow.
struct StoreLayout {
    var schema: SyncSchema
    var tables: [TableMapping]
}

/// The rows that were refused twice in a row.
///
/// A row that is refused again after a new comparison is none that the application just took.
private struct RepeatedRefusals {
    private var last: [RowID: String] = [:]

    /// Returns the rows among refused ones that were refused the last time as well.
    mutating func take(_ rows: [RowID: String]) -> [RowID: String] {
        defer { last = rows }
        return rows.filter { last[$0.key] != nil }
    }
}

/// A long write in consecutive parts.
final class LongWrite {
    let connection: StoreConnection
    /// The tables of the store; `nil` if it must be compared again.
    var layout: StoreLayout?
    /// The rows that stay as they are in this run, and the reasons in words.
    var left: [RowID: String] = [:]
    /// The numbers of rows that were added in bulk, by table.
    var added: [TableName: Int64] = [:]

    init(connection: StoreConnection) {
        self.connection = connection
    }
}
