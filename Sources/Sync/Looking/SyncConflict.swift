internal import Changes
public import Foundation
internal import GRDB
internal import Stores

/// An edit that lost, or what sync took out of the store, as shown to a person.
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
    /// The way in which it lost: `edited`, `deleted`, `inserted`, `renamed`, `overwritten` or `seed`; or went: `yielded`,
    /// `hidden` or `emptied`.
    public var kind: String
    /// The values; `nil` if there is none.
    public var won: String?
    public var lost: String?
    /// The ids of the devices that wrote the values.
    public var wonBy: String
    public var lostBy: String
    /// The fate of a row that was not shown, or the reason why it still is not, in words; `nil` if it is unknown.
    public var fate: String?
}

extension Sidecar {
    /// Returns the listed edits that lost, newest first.
    ///
    /// - Parameter all: whether everything is returned that sync took out of the store.
    /// - Returns: the edits, or all entries.
    /// - Throws: `SidecarError`.
    public func conflicts(all: Bool = false) throws -> [SyncConflict] {
        let reasons = Dictionary(
            try unshownRows().filter { $0.column == nil }.map { ($0.row, $0.reason) }
        ) { first, _ in first }
        return try read { access in
            try access.rows(
                """
                SELECT id, won, lost, c, n, at, t, kind, won_by, lost_by FROM removed
                WHERE settled = 1 AND (conflict = 1 OR ?) ORDER BY n DESC
                """,
                [all]
            ).map { row in
                guard let id = RowID(bytes: row.bytes(0)) else {
                    throw access.damaged("a conflict has no row")
                }
                let column: Int64? = row["c"]
                var conflict = SyncConflict(
                    number: row["n"],
                    found: Date(milliseconds: row["at"]),
                    table: try access.table(row["t"]).description,
                    row: id.description,
                    title: try access.states.title(of: id),
                    column: try column.map { try access.column($0).description },
                    kind: row["kind"],
                    won: try access.removed.decoded(row.bytes(1)).map { try $0.words(in: access) },
                    lost: try access.removed.decoded(row.bytes(2)).map { try $0.words(in: access) },
                    wonBy: try access.device(row["won_by"]).description,
                    lostBy: try access.device(row["lost_by"]).description
                )
                if ["yielded", "hidden"].contains(conflict.kind) {
                    conflict.fate = try access.held.fate(of: id)
                }
                if conflict.kind == Conflict.Kind.hidden.rawValue, conflict.fate == nil {
                    conflict.fate = reasons[conflict.row].map { "not shown any more: \($0)" }
                }
                return conflict
            }
        }
    }

    /// Returns all values of an entry: of a row, or the one that was replaced; `nil` if there is no such entry.
    ///
    /// - Throws: `SidecarError`.
    public func removedValues(_ number: Int64) throws -> [(column: String, value: String)]? {
        try read { access in
            let sql = "SELECT id, cells, c, lost FROM removed WHERE n = ? AND settled = 1"
            guard let row = try access.row(sql, [number]) else { return nil }
            var cells = try access.removed.cells(row.bytes(1))
            let place: Int64? = row["c"]
            if cells.isEmpty, let id = RowID(bytes: row.bytes(0)) {
                let known = try access.states.known(id)?.state
                if known?.isAlive != true {
                    cells = try access.removed.lastCells(of: id)
                } else if place == nil {
                    let present = known?.cells.filter { !$0.column.isReserved } ?? []
                    cells = present.map { ($0.column, $0.value) }
                }
            }
            if let place, let value = try access.removed.decoded(row.bytes(3)) {
                let column = try access.column(place)
                cells.removeAll { $0.column == column }
                cells.append((column, value))
            }
            let companions =
                try RowID(bytes: row.bytes(0)).map(access.removed.companions.companions) ?? []
            return try cells.map { ($0.column.description, try $0.value.words(in: access)) }
                + companions.flatMap { companion in
                    try companion.values.map {
                        ("\(companion.table).\($0.0)", try $0.1.wire.words(in: access))
                    }
                }
        }
    }

    /// Removes all edits that lost from the list, or one entry; the values that won stay.
    ///
    /// - Parameter number: the entry's number; `nil` for all edits that lost.
    /// - Returns: the number of entries.
    /// - Throws: `SidecarError`.
    public func clearConflicts(_ number: Int64? = nil) throws -> Int64 {
        try write { access in
            if let number {
                let count = try access.count("SELECT count(*) FROM removed WHERE n = ?", [number])
                try access.run("DELETE FROM removed WHERE n = ?", [number])
                return count
            }
            let count = try access.removed.conflictCount
            try access.run("DELETE FROM removed WHERE conflict = 1")
            try access.run("DELETE FROM lost")
            return count
        }
    }
}

extension HeldRows {
    /// Returns the fate of a row that was not shown; `nil` if it is not shown yet.
    fileprivate func fate(of id: RowID) throws -> String? {
        guard try access.states.known(id)?.state.isAlive == true else {
            return try access.shadow.has(id)
                ? "was deleted elsewhere, and is still here" : "was deleted while it was not shown"
        }
        if let held = try row(id), held.why == .same {
            let other = try held.other.flatMap { try access.states.title(of: $0) }
            return
                "is one with another row\(other.map { " ('\($0)')" } ?? "") since that was edited"
        }
        return try access.shadow.has(id) ? "is shown again" : nil
    }
}

extension RowStates {
    /// Returns a short text of a row: its name, else the names of rows that it refers to, and its first numbers.
    func title(of id: RowID) throws -> String? {
        let cells = try cells(of: id)
        if let name = cells.name { return name }
        let parts = try cells.prefix(3).compactMap { column, value -> String? in
            switch value.unmarked {
            case .row(let other): try self.cells(of: other).name
            case .integer, .real: "\(column) \(value.forPeople)"
            default: nil
            }
        }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// Returns the present values of a row, or the last ones of a deleted row.
    private func cells(of id: RowID) throws -> [(column: ColumnName, value: Value)] {
        let cells = try known(id)?.state.cells.map { ($0.column, $0.value) } ?? []
        return try (cells.isEmpty ? access.removed.lastCells(of: id) : cells)
            .filter { !$0.0.isReserved }
    }
}

extension [(column: ColumnName, value: Value)] {
    /// The text by which a person may recognise the row: the first short one, or that of a column for names.
    fileprivate var name: String? {
        let texts = compactMap { column, value -> (column: String, text: String)? in
            guard case .text(let bytes) = value.unmarked, !bytes.isEmpty, bytes.count <= 80,
                let text = String(validating: bytes, as: UTF8.self)
            else { return nil }
            return (column.description, text)
        }
        let named = texts.first { ["name", "title", "subject", "label"].contains($0.column) }
        return (named ?? texts.first)?.text
    }
}

extension Value {
    /// Returns a value in a few words: of a reference, the title of the row, or its number in this store.
    func words(in access: SidecarAccess) throws -> String {
        guard case .row(let id) = unmarked else { return forPeople }
        if let title = try access.states.title(of: id) { return title }
        if case .rowID(let number)? = try access.shadow.row(id)?.key { return "\(number)" }
        return forPeople
    }

    /// The value in a few words; they may contain any characters.
    fileprivate var forPeople: String {
        switch unmarked {
        case .null: "NULL"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let bytes): String(decoding: bytes, as: UTF8.self)
        case .blob(let bytes): "\(bytes.count) bytes"
        case .row(let id): id == .zero ? "no row" : "row \(id)"
        case .file(_, let content), .longText(let content), .longBlob(let content):
            "\(content.size) bytes"
        case .plain, .naming: "a value"
        }
    }
}
