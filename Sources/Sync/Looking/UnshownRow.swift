internal import Changes
internal import Foundation
internal import GRDB

/// A row of the group that the store does not show, or not with all its references, or that waits for a change, as shown
/// to a person.
public struct UnshownRow: Sendable {
    /// The number under which this device lists it; `nil` before the end of the run that found it, and for a row that no
    /// command can show.
    public var number: Int64?
    public var table: String
    /// The column whose reference is shown empty; `nil` if the whole row is not shown.
    public var column: String?
    /// The row's id, 32 hexadecimal digits.
    public var row: String
    /// A text of the row by which a person may recognise it.
    public var title: String?
    /// The reason, as a word.
    public var why: String
    /// The text of the row that it waits for, or that is its stand-in.
    public var other: String?
    /// SQLite's words, if it refuses the row; the reason for which a change of it waits.
    public var words: String?
    /// Whether moves on several devices made the row its own ancestor by the reference that is shown empty.
    public var isInRing = false

    /// Whether the row is shown, and a change of it cannot be written yet.
    public var waits: Bool { why == HeldRow.Why.waits.rawValue }

    private static let lacksContent =
        "a long value or a file of it is not in the container: run 'grocerydude sync' on a device that has it"

    /// The reason in words.
    public var reason: String {
        let other = self.other.map { " ('\($0)')" } ?? ""
        if let column, isInRing {
            return
                "its '\(column)' names no other row here, since moves on several devices made it a part of itself\(other)"
        }
        if let column {
            return "its '\(column)' is empty here, since the row that it names is not shown"
        }
        return switch HeldRow.Why(rawValue: why) {
        case .unborn: "only an edit of it has come, and not yet the row"
        case .table: "the store has no such table, or the map leaves it out"
        case .reference: "it refers to a table to which the store's schema has no reference"
        case .same: "it is one with another row\(other)"
        case .refused:
            "the store's schema does not allow its values" + (words.map { " (\($0))" } ?? "")
        case .parent:
            "a row that it belongs to\(other) is deleted, not shown, or has another name now"
        case .unique: "another row\(other) has the same unique value"
        case .yields:
            "it waits until another row\(other) gives up the same unique value, or it gets another value"
        case .unsettled: "it and other rows take unique values from each other"
        case .blob:
            words.map { "a file of it cannot be written: \($0)" } ?? Self.lacksContent
        case .waits: "a change of it waits: \(words ?? Self.lacksContent)"
        case .kept:
            "it goes with what was deleted elsewhere, and is still here, since a row of '\(words ?? "")' refers to it"
        case nil: why
        }
    }
}

extension Sidecar {
    /// Returns the rows that are alive and not shown, those with empty references and those that wait, by their tables.
    ///
    /// - Parameter waiting: whether only those that wait are returned.
    /// - Returns: the rows.
    /// - Throws: `SidecarError`.
    public func unshownRows(waiting: Bool = false) throws -> [UnshownRow] {
        try read { access in
            try access.rows(
                """
                SELECT u.id, u.key, u.t, u.why, u.words, NULL AS c, (SELECT max(n) FROM removed
                    WHERE removed.id = u.id AND kind IN ('yielded', 'hidden') AND settled = 1) AS n,
                    tab.name AS name
                FROM unshown u JOIN tab ON tab.t = u.t WHERE ?1 = 0 OR u.why = 'waits'
                UNION ALL SELECT e.id, NULL, row.t, 'emptied', NULL, e.c, (SELECT max(n) FROM removed
                    WHERE removed.id = e.id AND removed.c = e.c AND kind = 'emptied' AND settled = 1), tab.name
                FROM emptied e JOIN row ON row.id = e.id JOIN tab ON tab.t = row.t WHERE ?1 = 0
                ORDER BY name, why, id
                """,
                [waiting]
            ).map { row in
                guard let id = RowID(bytes: row.bytes(0)) else {
                    throw access.damaged("a row that is not shown has no id")
                }
                let number: Int64? = row["c"]
                let column = try number.map { try access.column($0) }
                let other =
                    try column.map { try CutRings(access: access).parent(of: id, by: $0) }
                    ?? RowID(bytes: row.bytes(1))
                return UnshownRow(
                    number: row["n"],
                    table: try access.table(row["t"]).description,
                    column: column?.description,
                    row: id.description,
                    title: try access.states.title(of: id),
                    why: row["why"],
                    other: try other.flatMap { try access.states.title(of: $0) },
                    words: row["words"],
                    isInRing: column != nil && other != nil
                )
            }
        }
    }
}

/// The rings of rows of one table that were cut at a row, so that its reference is shown empty.
struct CutRings {
    let access: SidecarAccess

    /// Returns the row that a column names, if the reference was cut: that row is shown.
    func parent(of id: RowID, by column: ColumnName) throws -> RowID? {
        guard let row = try access.states.known(id) else { return nil }
        if case .row(let parent)? = row.state.cell(column)?.value {
            return try access.shadow.place(of: parent)?.table == row.table ? parent : nil
        }
        return try rows(with: id).first
    }

    /// Returns the shown rows of a ring that was cut at a row.
    func rows(with id: RowID) throws -> [RowID] {
        let sql = """
            SELECT other FROM tie JOIN row r ON r.id = other JOIN row c ON c.id = tie.id AND c.t = r.t
            WHERE tie.id = ? AND kind = 0 AND other IN (SELECT id FROM shown)
            """
        return try access.rows(sql, [Data(id.bytes)]).compactMap { RowID(bytes: $0.bytes(0)) }
    }
}
