internal import Changes
internal import Foundation
internal import GRDB

/// A row of the state: all that the group knows of it.
struct KnownRow: Equatable {
    var table: TableName
    var delta: RowDelta

    var id: RowID { delta.id }
    var state: RowState { delta.state }
}

// The state.
extension SidecarAccess {
    private static let columns = "id, t, cl, clock, device, hint, body"

    /// Returns what is known of a row; `nil` if nothing is.
    func known(_ id: RowID) throws -> KnownRow? {
        try row("SELECT \(Self.columns) FROM row WHERE id = ?", [Data(id.bytes)]).map(known)
    }

    /// Lends all rows of the state, in the order of their ids.
    func forEachKnown(_ body: (KnownRow) throws -> Void) throws {
        try forEach("SELECT \(Self.columns) FROM row ORDER BY id") { try body(known($0)) }
    }

    /// Lends all rows of the state, table after table, in the order of their ids.
    func forEachKnownByTable(_ body: (KnownRow) throws -> Void) throws {
        try forEach("SELECT \(Self.columns) FROM row ORDER BY t, id") { try body(known($0)) }
    }

    /// Joins a delta with the state.
    ///
    /// - Returns: the row as it was known before, and as it is now; `nil` if the delta changed nothing.
    @discardableResult
    func join(_ delta: RowDelta, in table: TableName) throws -> (old: KnownRow?, new: KnownRow)? {
        guard let old = try known(delta.id) else {
            let new = KnownRow(table: table, delta: delta)
            try save(new)
            return (nil, new)
        }
        // Two tables with one id are impossible but by malice; the first one stays.
        guard old.table == table else { return nil }
        let joined = old.delta.joined(with: delta)
        guard joined != old.delta else { return nil }
        let new = KnownRow(table: table, delta: joined)
        try save(new)
        try markAltered(delta.id)
        return (old, new)
    }

    private func save(_ row: KnownRow) throws {
        let state = row.state
        let stamp = state.isAlive ? state.birth : state.deletion
        try run(
            """
            INSERT OR REPLACE INTO row (id, t, cl, clock, device, hint, body)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                Data(row.id.bytes), number(of: row.table), Int64(state.causalLength),
                stamp.map { Int64($0.clock) }, stamp.map { try number(of: $0.device) },
                row.delta.hint.map { Data($0.encoded) }, Data(body(of: state)),
            ]
        )
    }

    /// Each cell's column and value, and its stamp unless that is the birth's.
    private func body(of state: RowState) throws -> [UInt8] {
        var writer = ByteWriter()
        for cell in state.cells {
            let isBirth = cell.stamp == state.birth
            try writer.varint(UInt64(number(of: cell.column)) << 1 | (isBirth ? 1 : 0))
            if !isBirth {
                try writer.varint(UInt64(number(of: cell.stamp.device)))
                writer.varint(cell.stamp.clock)
            }
            writer.value(cell.value)
        }
        return writer.bytes
    }

    private func known(_ row: Row) throws -> KnownRow {
        guard let id = RowID(bytes: row.bytes(0)), let length: Int64 = row[2],
            let length = UInt32(exactly: length)
        else { throw damaged("a row has no id") }
        let clock: Int64? = row[3]
        let stamp = try clock.map { clock in
            Stamp(clock: UInt64(bitPattern: clock), device: try device(row[4]))
        }
        let hint: Value? = try reading(row.bytes(5)) { $0.left == 0 ? nil : try $0.value() }
        let state =
            length % 2 == 0
            ? RowState(causalLength: length, deletion: stamp ?? .zero)
            : RowState(causalLength: length, birth: stamp, cells: try cells(row.bytes(6), stamp))
        return KnownRow(table: try table(row[1]), delta: RowDelta(id, state, hint: hint))
    }

    private func cells(_ body: [UInt8], _ birth: Stamp?) throws -> [Cell] {
        try reading(body) { reader in
            var cells: [Cell] = []
            while reader.left > 0 {
                let head = try reader.varint()
                let name = try column(Int64(head >> 1))
                let stamp: Stamp
                if head & 1 == 1, let birth {
                    stamp = birth
                } else {
                    let device = try device(Int64(reader.varint()))
                    stamp = Stamp(clock: try reader.varint(), device: device)
                }
                cells.append(Cell(name, stamp, try reader.value()))
            }
            return cells
        }
    }

    private func reading<Result>(
        _ bytes: [UInt8],
        _ body: (inout ByteReader) throws -> Result
    ) throws -> Result {
        try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            do {
                return try body(&reader)
            } catch let breach as FormatBreach {
                throw damaged("a row cannot be read: \(breach.reason)")
            }
        }
    }
}

// Rows whose state is not, or may not be, in the store.
extension SidecarAccess {
    func markDirty(_ id: RowID) throws {
        try run("INSERT OR IGNORE INTO dirty (id) VALUES (?)", [Data(id.bytes)])
    }

    func clean(_ id: RowID) throws {
        try run("DELETE FROM dirty WHERE id = ?", [Data(id.bytes)])
    }

    var dirtyCount: Int64 { get throws { try count("SELECT count(*) FROM dirty") } }

    /// Whether something about a row has arrived that is not written yet.
    func isUnwritten(_ id: RowID) throws -> Bool {
        try row("SELECT 1 FROM dirty WHERE id = ?", [Data(id.bytes)]) != nil
    }
}
