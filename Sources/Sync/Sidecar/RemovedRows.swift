internal import Changes
internal import Foundation
internal import GRDB

/// The rows and values that sync took out of the store, and edits that lost: the owner of `removed` and `lost`.
struct RemovedRows {
    let access: SidecarAccess

    /// Adds an entry to the list of what went.
    ///
    /// - Parameters:
    ///   - conflict: the row or value.
    ///   - isSettled: whether it is gone already; if not, `Intents.settle` says so, and `drop` forgets it.
    /// - Throws: `SidecarError`.
    func add(_ conflict: Conflict, isSettled: Bool = true) throws {
        // No person has edited which row another one is the same as.
        if conflict.column == .same { return }
        try access.run(
            """
            INSERT INTO removed (at, t, id, c, kind, won, lost, won_by, lost_by, cells, conflict, settled)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                access.integer("now") ?? 0, access.number(of: conflict.table),
                Data(conflict.id.bytes),
                conflict.column.map { try access.number(of: $0) }, conflict.kind.rawValue,
                conflict.won.map { Data($0.encoded) }, conflict.lost.map { Data($0.encoded) },
                access.number(of: conflict.wonBy), access.number(of: conflict.lostBy),
                conflict.cells.map { Data(try bytes(of: $0)) }, conflict.isConflict, isSettled,
            ]
        )
    }

    private func bytes(of cells: [(column: ColumnName, value: Value)]) throws -> [UInt8] {
        var writer = ByteWriter()
        for (column, value) in cells {
            try writer.varint(UInt64(access.number(of: column)))
            writer.value(value)
        }
        return writer.bytes
    }

    /// Reads the values of a row that went.
    func cells(_ bytes: [UInt8]) throws -> [(column: ColumnName, value: Value)] {
        try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            var cells: [(column: ColumnName, value: Value)] = []
            do {
                while reader.left > 0 {
                    let name = try access.column(Int64(truncatingIfNeeded: reader.varint()))
                    cells.append((name, try reader.value()))
                }
            } catch let breach as FormatBreach {
                throw access.damaged("a removed row cannot be read: \(breach.reason)")
            }
            return cells
        }
    }

    /// Reads a value of the list of conflicts; `nil` if there is none.
    func decoded(_ bytes: [UInt8]) throws -> Value? {
        guard !bytes.isEmpty else { return nil }
        return try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            do {
                return try reader.value()
            } catch {
                throw access.damaged("a conflict has no value")
            }
        }
    }

    /// Returns the last known values of a deleted row; empty if this device has never had it, or has forgotten it.
    func lastCells(of id: RowID) throws -> [(column: ColumnName, value: Value)] {
        let lost = try self.lost(id)
        if !lost.isEmpty { return lost }
        let sql = """
            SELECT cells FROM removed WHERE id = ? AND cells IS NOT NULL AND settled = 1
            ORDER BY n DESC LIMIT 1
            """
        return try access.row(sql, [Data(id.bytes)]).map { try cells($0.bytes(0)) } ?? []
    }

    /// Returns the deleted row of a table that had values in some columns when this store last had it.
    func row(
        of table: TableName,
        with values: [(column: ColumnName, value: Value)]
    ) throws -> RowID? {
        let sql = """
            SELECT id, cells FROM removed WHERE t = ? AND cells IS NOT NULL AND settled = 1
            ORDER BY n DESC
            """
        for row in try access.rows(sql, [access.number(of: table)]) {
            let cells = try cells(row.bytes(1))
            let hasAll = values.allSatisfy { value in
                cells.contains { $0.column == value.column && $0.value.unmarked == value.value }
            }
            if hasAll { return RowID(bytes: row.bytes(0)) }
        }
        return nil
    }

    /// Returns whether an entry needs a person: it is an edit that lost, or a row that is not shown, or not whole.
    func isAsked(_ number: Int64) throws -> Bool {
        try access.count(
            """
            SELECT count(*) FROM removed WHERE n = ? AND (conflict = 1 OR kind IN ('yielded', 'hidden', 'emptied')
                AND (id IN (SELECT id FROM held) OR id IN (SELECT id FROM emptied)))
            """,
            [number]
        ) > 0
    }

    /// Returns whether an entry is a whole row that is shown at another key: taken, it would be there twice.
    func isAtAnotherKey(_ number: Int64) throws -> Bool {
        try access.count(
            """
            SELECT count(*) FROM removed JOIN held USING (id) WHERE n = ? AND kind = 'edited' AND c IS NULL
                AND why = 'same'
            """,
            [number]
        ) > 0
    }

    /// Returns the listed values of a row's column that lost to a value.
    func losses(of id: RowID, _ column: ColumnName, to won: Value) throws -> [Value] {
        let sql = "SELECT lost FROM conflict WHERE id = ? AND c = ? AND won = ?"
        let listed = try access.rows(
            sql,
            [Data(id.bytes), access.number(of: column), Data(won.encoded)]
        )
        return try listed.compactMap { try decoded($0.bytes(0)) }
    }

    var conflictCount: Int64 { get throws { try access.count("SELECT count(*) FROM conflict") } }

    /// Returns the number of a table's rows with initial values that lost.
    func yieldingCount(in table: TableName) throws -> Int64 {
        try access.count(
            "SELECT count(DISTINCT id) FROM conflict WHERE t = ? AND kind = ?",
            [access.number(of: table), Conflict.Kind.seed.rawValue]
        )
    }

    /// Forgets what went long ago, and the oldest entries beyond a size.
    ///
    /// Entries age by the time between two runs, and by a day at most: a clock that is ahead must not end the list.
    func expire(_ rules: UpkeepRules, now: Int64) throws {
        let passed = max(0, now - (try access.integer("expiring") ?? now))
        let time = min(
            now,
            (try access.integer("expired") ?? now) + min(passed, rules.removedAging)
        )
        try access.set("expiring", now)
        try access.set("expired", time)
        try access.run(
            "DELETE FROM removed WHERE conflict = 0 AND at < ?",
            [time - rules.removedKeeping]
        )
        try access.run(
            """
            DELETE FROM removed WHERE n IN (SELECT n FROM (SELECT n, sum(coalesce(length(lost), 0)
                + coalesce(length(won), 0) + coalesce(length(cells), 0)) OVER (ORDER BY n DESC) AS size
                FROM removed) WHERE size > ?)
            """,
            [rules.removedBytes]
        )
        try companions.expire()
    }

    /// Returns the number under which a row that is not shown is listed.
    func entry(ofHeld id: RowID) throws -> Int64? {
        try access.first(
            "SELECT max(n) FROM removed WHERE id = ? AND kind IN ('yielded', 'hidden') AND settled = 1",
            .id(id)
        ) { $0.optionalInteger(0) }
    }

    /// Adds the rows and references that are not shown and that the list lacks, so that each has a number.
    ///
    /// The store may never have shown a row, and a row that was taken may not be shown yet. Rows that this device cannot
    /// show whatever a person does get none.
    func addHeld(now: Int64) throws {
        let nobody = try access.number(of: DeviceID.zero)
        try access.run(
            """
            INSERT INTO removed (at, t, id, kind, won_by, lost_by)
                SELECT ?1, t, id, CASE WHEN why IN ('unique', 'yields') THEN 'yielded' ELSE 'hidden' END, ?2, ?2
                FROM held WHERE why NOT IN ('unborn', 'same', 'table', 'waits') AND NOT EXISTS (SELECT 1 FROM removed
                    WHERE removed.id = held.id AND kind IN ('yielded', 'hidden') AND settled = 1)
            """,
            [now, nobody]
        )
        try access.run(
            """
            INSERT INTO removed (at, t, id, c, kind, won_by, lost_by)
                SELECT ?1, row.t, e.id, e.c, 'emptied', ?2, ?2 FROM emptied e JOIN row ON row.id = e.id
                WHERE NOT EXISTS (SELECT 1 FROM removed WHERE removed.id = e.id AND removed.c = e.c
                    AND kind = 'emptied' AND settled = 1)
            """,
            [now, nobody]
        )
    }

    // MARK: - Deleted rows that were edited here

    /// Keeps all values of a deleted row.
    func keep(_ cells: [(column: ColumnName, value: Value)], of id: RowID) throws {
        for (column, value) in cells where !column.isReserved {
            try access.run(
                "INSERT OR REPLACE INTO lost (id, c, value) VALUES (?, ?, ?)",
                [Data(id.bytes), access.number(of: column), Data(value.encoded)]
            )
        }
    }

    /// Returns the values of a deleted row; empty if it was not edited here.
    func lost(_ id: RowID) throws -> [(column: ColumnName, value: Value)] {
        try access.rows("SELECT c, value FROM lost WHERE id = ?", [Data(id.bytes)]).compactMap {
            row in
            guard let value = try decoded(row.bytes(1)) else { return nil }
            return (try access.column(row[0]), value)
        }
    }

    func forget(_ id: RowID) throws {
        try access.run("DELETE FROM lost WHERE id = ?", [Data(id.bytes)])
    }

    // MARK: - Taking

    /// Returns the entries that are settled with one: all conflicts of a deleted row, else those of columns that have to
    /// fit its column; of values that were replaced, those that were replaced with its value.
    func numbers(with number: Int64, of row: KnownRow) throws -> [Int64] {
        let listed = try access.rows(
            """
            SELECT n, c FROM removed WHERE id = ?1 AND (conflict = 1 AND ?3 OR
                (SELECT conflict FROM removed WHERE n = ?2) = 0 AND conflict = 0 AND settled = 1
                AND (at, kind) = (SELECT at, kind FROM removed WHERE n = ?2)) ORDER BY n
            """,
            [
                Data(row.id.bytes), number,
                try !row.state.isAlive
                    || access.has(
                        "SELECT 1 FROM conflict WHERE n = ?",
                        .integer(number)
                    ),
            ]
        ).map { (number: $0[0] as Int64, column: $0[1] as Int64?) }
        guard row.state.isAlive else { return Set(listed.map(\.number) + [number]).sorted() }
        guard let place = listed.first(where: { $0.number == number })?.column else {
            return [number]
        }
        let group = try group(of: access.column(place), in: row.table)
        return try listed.filter { entry in
            try entry.column.map { group.contains(try access.column($0).description) } ?? false
        }.map(\.number)
    }

    private func group(of column: ColumnName, in table: TableName) throws -> Set<String> {
        try access.captured.columns?.group(of: column, in: table) ?? [column.description]
    }

    /// Returns an edit with the columns that have to fit its columns, as they were before an entry's value was replaced,
    /// or as they are.
    func completed(
        _ cells: [Cell],
        with number: Int64,
        of row: KnownRow,
        _ stamp: Stamp
    ) throws -> [Cell] {
        guard row.state.isAlive else { return cells }
        let names = Set(cells.map(\.column.description))
        let group = try cells.reduce(into: Set<String>()) {
            $0.formUnion(try self.group(of: $1.column, in: row.table))
        }
        return try cells
            + row.state.cells.compactMap { cell in
                let name = cell.column.description
                guard group.contains(name), !names.contains(name) else { return nil }
                let former = try former(cell.column, of: row.id, since: number)
                // The container has a long value that is as it was.
                if former == nil, cell.value.reference != nil { return nil }
                return Cell(cell.column, stamp, former ?? cell.value)
            }
    }

    /// Returns the value that a column had when an entry's value was replaced, if it was replaced since.
    private func former(
        _ column: ColumnName,
        of id: RowID,
        since number: Int64
    ) throws -> Value? {
        let sql = """
            SELECT lost FROM removed WHERE id = ? AND c = ? AND conflict = 0 AND kind = 'edited' AND settled = 1
                AND at > (SELECT at FROM removed WHERE n = ? AND conflict = 0) ORDER BY at, n LIMIT 1
            """
        return try access.row(sql, [Data(id.bytes), access.number(of: column), number])
            .flatMap { try decoded($0.bytes(0)) }
    }

    /// Returns the values that lost, as cells of a new edit; if a column has several, the last one.
    func lostCells(
        _ numbers: [Int64],
        of id: RowID,
        _ state: RowState,
        _ stamp: Stamp
    ) throws -> [Cell] {
        var cells: [ColumnName: Cell] = [:]
        if !state.isAlive {
            for (column, value) in try lastCells(of: id) {
                cells[column] = Cell(column, stamp, value)
            }
        }
        for number in numbers {
            let sql = "SELECT c, lost, kind, cells FROM removed WHERE n = ? AND settled = 1"
            guard let row = try access.row(sql, [number]),
                let kind = Conflict.Kind(rawValue: row[2])
            else { continue }
            // A row that is alive and only not shown has its values.
            if state.isAlive, [.yielded, .hidden, .emptied].contains(kind) { continue }
            for (column, value) in try self.cells(row.bytes(3)) {
                cells[column] = Cell(column, stamp, value)
            }
            let place: Int64? = row[0]
            guard let place, let value = try decoded(row.bytes(1)) else { continue }
            let column = try access.column(place)
            cells[column] = Cell(column, stamp, value)
        }
        return Array(cells.values)
    }
}

extension SidecarAccess {
    var removed: RemovedRows { RemovedRows(access: self) }
}
