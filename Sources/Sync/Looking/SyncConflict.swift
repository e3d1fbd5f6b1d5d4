internal import Changes
public import Foundation
internal import GRDB

/// An edit that lost, as shown to a person.
public struct SyncConflict: Sendable {
    /// The edit's number in the list of its store.
    public var number: Int64
    /// The time at which it was found.
    public var found: Date
    public var table: String
    /// The row's id, 32 hexadecimal digits.
    public var row: String
    /// A text of the row by which a person may recognise it.
    public var title: String?
    /// The column; `nil` if the whole row is concerned.
    public var column: String?
    /// The way in which it lost: `edited`, `deleted`, `inserted`, `overwritten` or `seed`.
    public var kind: String
    /// The values; `nil` if there is none.
    public var won: String?
    public var lost: String?
    /// The ids of the devices that wrote the values.
    public var wonBy: String
    public var lostBy: String
}

extension Sidecar {
    /// Returns the listed edits that lost, newest first.
    ///
    /// - Throws: `SidecarError`.
    public func conflicts() throws -> [SyncConflict] {
        try read { access in
            try access.rows(
                "SELECT id, won, lost, c, n, at, t, kind, won_by, lost_by FROM conflict ORDER BY n DESC"
            ).map { row in
                guard let id = RowID(bytes: row.bytes(0)) else {
                    throw access.damaged("a conflict has no row")
                }
                let column: Int64? = row["c"]
                return SyncConflict(
                    number: row["n"],
                    found: Date(milliseconds: row["at"]),
                    table: try access.table(row["t"]).description,
                    row: id.description,
                    title: try access.title(of: id),
                    column: try column.map { try access.column($0).description },
                    kind: row["kind"],
                    won: try access.value(row.bytes(1))?.forPeople,
                    lost: try access.value(row.bytes(2))?.forPeople,
                    wonBy: try access.device(row["won_by"]).description,
                    lostBy: try access.device(row["lost_by"]).description
                )
            }
        }
    }

    /// Removes all conflicts from the list; the values that won stay.
    ///
    /// - Returns: the number of conflicts.
    /// - Throws: `SidecarError`.
    public func clearConflicts() throws -> Int64 {
        try write { access in
            let count = try access.conflictCount
            try access.run("DELETE FROM conflict")
            try access.run("DELETE FROM lost")
            return count
        }
    }

    /// Makes the value that lost a new edit of this device; the next exchange writes and sends it.
    ///
    /// A deleted row is inserted again, with all its earlier values.
    ///
    /// - Parameters:
    ///   - number: the conflict's number.
    ///   - date: the time of the person's decision.
    ///   - program: the program and its version, as files name it.
    /// - Returns: whether there is such a conflict, with a value.
    /// - Throws: `SidecarError`, `FileError`, `ChangeError`.
    public func takeConflict(_ number: Int64, at date: Date, program: String) throws -> Bool {
        let now = Int64((date.timeIntervalSince1970 * 1000).rounded())
        return try write { access in
            let listed = try access.rows("SELECT id FROM conflict WHERE n = ?", [number]).first
            guard let id = listed.flatMap({ RowID(bytes: $0.bytes(0)) }),
                let known = try access.known(id)
            else { return false }
            var clock = try access.clock
            let stamp = Stamp(clock: clock.tick(now: now, modified: now), device: try access.own)
            let numbers = try access.conflictNumbers(with: number, of: known)
            let cells = try access.lostCells(numbers, of: id, known.state, stamp)
            guard !cells.isEmpty else { return false }
            let state =
                known.state.inserted(at: stamp, cells: cells)
                ?? RowState(
                    causalLength: known.state.causalLength,
                    birth: nil,
                    cells: cells
                )
            let delta = RowDelta(id, state)
            try access.join(delta, in: known.table)
            try access.markDirty(id)
            try access.wakeHeld()
            let outgoing = Outgoing(
                access,
                outbox: outbox,
                clock: stamp.clock,
                wall: now,
                program: program
            )
            try outgoing.add(delta, to: known.table)
            try outgoing.finish()
            try access.setClock(clock)
            for number in numbers { try access.run("DELETE FROM conflict WHERE n = ?", [number]) }
            if !known.state.isAlive { try access.forgetLost(id) }
            return true
        }
    }
}

extension SidecarAccess {
    /// Returns the conflicts that are settled with one: all of a deleted row, else those of columns that have to fit
    /// its column.
    fileprivate func conflictNumbers(with number: Int64, of row: KnownRow) throws -> [Int64] {
        let listed = try rows(
            "SELECT n, c FROM conflict WHERE id = ? ORDER BY n",
            [Data(row.id.bytes)]
        ).map { (number: $0[0] as Int64, column: $0[1] as Int64?) }
        guard row.state.isAlive else { return listed.map(\.number) }
        guard let place = listed.first(where: { $0.number == number })?.column else {
            return [number]
        }
        let column = try column(place)
        let group =
            try columnMeanings?.group(of: column, in: row.table) ?? [column.description]
        if group.count == 1 { return [number] }
        return try listed.filter { entry in
            try entry.column.map { group.contains(try self.column($0).description) } ?? false
        }.map(\.number)
    }

    /// Returns the values that lost, as cells of a new edit; if a column has several, the last one.
    fileprivate func lostCells(
        _ numbers: [Int64],
        of id: RowID,
        _ state: RowState,
        _ stamp: Stamp
    ) throws -> [Cell] {
        var cells: [ColumnName: Cell] = [:]
        if !state.isAlive {
            for (column, value) in try lost(id) { cells[column] = Cell(column, stamp, value) }
        }
        for number in numbers {
            let sql = "SELECT c, lost FROM conflict WHERE n = ? AND c IS NOT NULL"
            guard let row = try self.row(sql, [number]),
                let value = try value(row.bytes(1))
            else { continue }
            let column = try column(row[0])
            cells[column] = Cell(column, stamp, value)
        }
        return Array(cells.values)
    }
}

extension SidecarAccess {
    /// Returns a short text of a row, which is its name if it has one.
    func title(of id: RowID) throws -> String? {
        let cells = try known(id)?.state.cells.map { ($0.column, $0.value) } ?? []
        let texts = try (cells.isEmpty ? lost(id) : cells).compactMap {
            cell -> (name: String, text: String)? in
            guard case .text(let bytes) = cell.1, !bytes.isEmpty, bytes.count <= 80,
                let text = String(validating: bytes, as: UTF8.self)
            else { return nil }
            return (cell.0.description, text)
        }
        let named = texts.first { ["name", "title", "subject", "label"].contains($0.name) }
        return (named ?? texts.first)?.text
    }
}

extension Value {
    /// The value in a few words; they may contain any characters.
    fileprivate var forPeople: String {
        switch self {
        case .null: "NULL"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let bytes): String(decoding: bytes, as: UTF8.self)
        case .blob(let bytes): "\(bytes.count) bytes"
        case .row(let id): id == .zero ? "no row" : "row \(id)"
        case .file(_, let content), .longText(let content), .longBlob(let content):
            "\(content.size) bytes"
        case .plain(let value): value.forPeople
        }
    }
}
