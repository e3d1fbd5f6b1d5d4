internal import Changes
internal import Foundation
internal import GRDB
internal import Stores

/// A row of the state, with all that is known of it.
struct KnownRow: Equatable {
    var table: TableName
    var delta: RowDelta

    var id: RowID { delta.id }
    var state: RowState { delta.state }
}

/// The states of all known rows: the owner of `row`.
final class RowStates {
    unowned let access: SidecarAccess
    /// The row that was read last, since one step reads a row several times.
    private var lastKnown: (id: RowID, row: KnownRow?)?
    /// The rowid of the row that was added last; `nil` if the store showed it already.
    private(set) var addedRowID: Int64?
    /// The changes in the numbers of alive and deleted rows, by table, that are not saved yet.
    private var tallies: [TableName: (alive: Int64, dead: Int64)] = [:]

    init(_ access: SidecarAccess) { self.access = access }

    /// Returns the known state of a row; `nil` if nothing is known.
    func known(_ id: RowID) throws -> KnownRow? {
        if let lastKnown, lastKnown.id == id { return lastKnown.row }
        let row = try access.first(
            """
            SELECT id, t, cl, clock, device, hint, body FROM row WHERE id = ? AND cl > 0
            """,
            .id(id),
            read: known
        )
        lastKnown = (id, row)
        return row
    }

    /// Passes all rows of the state, in no order.
    func forEach(_ body: (KnownRow) throws -> Void) throws {
        try forEachRow(
            "SELECT id, t, cl, clock, device, hint, body FROM row WHERE cl > 0",
            body: body
        )
    }

    /// Passes the rows of a table that are alive, in the order of their ids.
    func forEachAlive(in table: TableName, _ body: (KnownRow) throws -> Void) throws {
        // Sorting the rows is faster than looking up each by the index of ids.
        try forEachRow(
            """
            SELECT id, t, cl, clock, device, hint, body FROM row WHERE t = ? AND cl % 2 = 1
            ORDER BY +id
            """,
            .integer(access.number(of: table)),
            body: body
        )
    }

    /// Passes all rows of the state, by table, in the order of their ids.
    func forEachByTable(_ body: (KnownRow) throws -> Void) throws {
        try forEachRow(
            "SELECT id, t, cl, clock, device, hint, body FROM row WHERE cl > 0 ORDER BY t, id",
            body: body
        )
    }

    /// Passes the rows of a table that are alive and not shown, in no order.
    func forEachUnshown(in table: TableName, _ body: (KnownRow) throws -> Void) throws {
        try forEachRow(
            """
            SELECT id, t, cl, clock, device, hint, body FROM row
            WHERE t = ? AND cl % 2 = 1 AND h IS NULL
            """,
            .integer(access.number(of: table)),
            body: body
        )
    }

    /// Returns the rows of a range of rowids that are not dirty.
    func known(from low: Int64, to high: Int64) throws -> [KnownRow] {
        try access.all(
            """
            SELECT id, t, cl, clock, device, hint, body FROM row
            WHERE rowid BETWEEN ? AND ? AND h IS NULL AND id NOT IN (SELECT id FROM dirty)
            """,
            .integer(low),
            .integer(high),
            read: known
        )
    }

    /// Passes the rows of a query; `body` may run the same query.
    private func forEachRow(
        _ sql: StaticString,
        _ values: SidecarValue...,
        body: (KnownRow) throws -> Void
    ) throws {
        let statement = try access.ownStatement(sql)
        try statement.begin(values)
        while try statement.step() { try body(known(statement)) }
    }

    /// Joins a delta with the state.
    ///
    /// - Returns: the row before and after; `nil` if the delta changed nothing.
    @discardableResult
    func join(_ delta: RowDelta, in table: TableName) throws -> (old: KnownRow?, new: KnownRow)? {
        let added = KnownRow(table: table, delta: delta)
        if try add(added) {
            tally(added, 1)
            return (nil, added)
        }
        guard let old = try known(delta.id) else { throw access.damaged("a row is gone") }
        // Only a hostile file has one id in two tables; the first table stays.
        guard old.table == table else { return nil }
        let joined = old.delta.joined(with: delta)
        guard joined != old.delta else { return nil }
        let new = KnownRow(table: table, delta: joined)
        try save(new)
        if old.state.isAlive != new.state.isAlive {
            tally(old, -1)
            tally(new, 1)
        }
        try access.dirty.markAltered(delta.id)
        return (old, new)
    }

    /// Counts a change in a table's rows; see `saveTallies`.
    private func tally(_ row: KnownRow, _ change: Int64) {
        if row.state.isAlive {
            tallies[row.table, default: (0, 0)].alive += change
        } else {
            tallies[row.table, default: (0, 0)].dead += change
        }
    }

    /// Saves the numbers of alive and deleted rows: before they are read, and at the end of a transaction.
    func saveTallies() throws {
        for (table, tally) in tallies {
            try access.perform(
                "UPDATE tab SET alive = alive + ?, dead = dead + ? WHERE t = ?",
                .integer(tally.alive),
                .integer(tally.dead),
                .integer(access.number(of: table))
            )
        }
        tallies = [:]
    }

    /// Whether no row is known.
    var isEmpty: Bool {
        get throws { try access.row("SELECT 1 FROM row WHERE cl > 0 LIMIT 1") == nil }
    }

    /// The number of known rows, alive and deleted.
    var count: Int64 {
        get throws {
            try saveTallies()
            return try access.count("SELECT sum(alive + dead) FROM tab")
        }
    }

    /// Adds the state of a row, and returns whether nothing was known of it.
    private func add(_ row: KnownRow) throws -> Bool {
        if let lastKnown, lastKnown.id == row.id, lastKnown.row != nil { return false }
        try write(
            """
            INSERT OR IGNORE INTO row (id, t, cl, clock, device, hint, body) VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            row
        )
        addedRowID = access.database.changesCount == 1 ? access.database.lastInsertedRowID : nil
        if addedRowID == nil {
            try write(
                """
                UPDATE row SET t = ?2, cl = ?3, clock = ?4, device = ?5, hint = ?6, body = ?7
                WHERE id = ?1 AND cl = 0
                """,
                row
            )
            guard access.database.changesCount == 1 else { return false }
        }
        lastKnown = (row.id, row)
        return true
    }

    /// Adds the state of a row of which nothing is known, and shows it.
    ///
    /// - Parameters:
    ///   - row: the row.
    ///   - shown: the row as it is in the store.
    ///   - shared: see `Shadow.show`.
    /// - Returns: whether nothing was known of it; otherwise nothing is done.
    /// - Throws: `SidecarError`.
    func add(_ row: KnownRow, showing shown: ShownRow, sharing shared: Set<Int64>) throws -> Bool {
        try write(
            """
            INSERT OR IGNORE INTO row (id, t, cl, clock, device, hint, body, h, length, image)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            row,
            .bytes(shown.key.bytes),
            .integer(Int64(shown.causalLength)),
            .bytes(shown.image.kept(sharing: shared))
        )
        guard access.database.changesCount == 1 else { return false }
        lastKnown = (row.id, row)
        tally(row, 1)
        return true
    }

    /// Replaces the state of a known row.
    func save(_ row: KnownRow) throws {
        // What the store shows of it may be that which the state had.
        let shown = try access.shadow.sharing(row.id)
        try write(
            """
            UPDATE row SET t = ?2, cl = ?3, clock = ?4, device = ?5, hint = ?6, body = ?7 WHERE id = ?1
            """,
            row
        )
        lastKnown = (row.id, row)
        if let shown { try access.shadow.show(shown.row, in: shown.table) }
    }

    /// Runs a statement whose first parameters are the state of a row.
    private func write(_ sql: StaticString, _ row: KnownRow, _ others: SidecarValue...) throws {
        let state = row.state
        let stamp = state.isAlive ? state.birth : state.deletion
        let values: [SidecarValue] = try [
            .id(row.id),
            .integer(access.number(of: row.table)),
            .integer(Int64(state.causalLength)),
            .optional(stamp.map { Int64($0.clock) }),
            .optional(stamp.map { try access.number(of: $0.device) }),
            .optional(row.delta.hint?.encoded),
            .bytes(body(of: state)),
        ]
        try access.statement(sql).run(values + others)
    }

    /// Encodes each cell's column and value, and its stamp unless that is the birth's.
    private func body(of state: RowState) throws -> [UInt8] {
        let access = access
        var writer = ByteWriter()
        for cell in state.cells {
            let isBirth = cell.stamp == state.birth
            try writer.varint(UInt64(access.number(of: cell.column)) << 1 | (isBirth ? 1 : 0))
            if !isBirth {
                try writer.varint(UInt64(access.number(of: cell.stamp.device)))
                writer.varint(cell.stamp.clock)
            }
            writer.value(cell.value)
        }
        return writer.bytes
    }

    /// Returns the row of a query that begins with `id, t, cl, clock, device, hint, body`.
    private func known(_ row: Stores.Statement) throws -> KnownRow {
        guard let id = row.id(0), let length = UInt32(exactly: row.integer(2)), length > 0 else {
            throw access.damaged("a row has no id, or no state")
        }
        let stamp = try row.optionalInteger(3).map { clock in
            Stamp(clock: UInt64(bitPattern: clock), device: try access.device(row.integer(4)))
        }
        let hint: Value? = try reading(row, 5) { $0.left == 0 ? nil : try $0.value() }
        let state =
            length % 2 == 0
            ? RowState(causalLength: length, deletion: stamp ?? .zero)
            : RowState(causalLength: length, birth: stamp, cells: try cells(row, stamp))
        return KnownRow(
            table: try access.table(row.integer(1)),
            delta: RowDelta(id, state, hint: hint)
        )
    }

    private func cells(_ row: Stores.Statement, _ birth: Stamp?) throws -> [Cell] {
        let access = access
        return try reading(row, 6) { reader in
            var cells: [Cell] = []
            while reader.left > 0 {
                let head = try reader.varint()
                let name = try access.column(Int64(head >> 1))
                let stamp: Stamp
                if head & 1 == 1, let birth {
                    stamp = birth
                } else {
                    let device = try access.device(Int64(reader.varint()))
                    stamp = Stamp(clock: try reader.varint(), device: device)
                }
                cells.append(Cell(name, stamp, try reader.value()))
            }
            return cells
        }
    }

    private func reading<Result>(
        _ row: Stores.Statement,
        _ column: CInt,
        _ body: (inout ByteReader) throws -> Result
    ) throws -> Result {
        var reader = ByteReader(row.unsafeBytes(column))
        do {
            return try body(&reader)
        } catch let breach as FormatBreach {
            throw access.damaged("a row cannot be read: \(breach.reason)")
        }
    }
}

extension ByteReader {
    /// Returns the places of the values among the bytes of a row's cells, by the columns' numbers.
    static func values(
        ofCells cells: UnsafeRawBufferPointer
    ) throws(FormatBreach) -> [(column: UInt64, place: Range<Int>)] {
        var reader = ByteReader(cells)
        var values: [(UInt64, Range<Int>)] = []
        while reader.left > 0 {
            let head = try reader.varint()
            if head & 1 == 0 {
                _ = try reader.varint()
                _ = try reader.varint()
            }
            let start = reader.position
            try reader.skipValue()
            values.append((head >> 1, start..<reader.position))
        }
        return values
    }
}
