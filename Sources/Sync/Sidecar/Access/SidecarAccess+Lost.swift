internal import Changes
internal import Foundation
internal import GRDB

// The values of rows that were deleted while they were edited here; a person may want them back.
extension SidecarAccess {
    /// Keeps all values of a deleted row.
    func keepLost(_ cells: [(column: ColumnName, value: Value)], of id: RowID) throws {
        for (column, value) in cells where !column.isReserved {
            try run(
                "INSERT OR REPLACE INTO lost (id, c, value) VALUES (?, ?, ?)",
                [Data(id.bytes), number(of: column), Data(value.encoded)]
            )
        }
    }

    /// Returns the values of a deleted row; empty if it was not edited here.
    func lost(_ id: RowID) throws -> [(column: ColumnName, value: Value)] {
        try rows("SELECT c, value FROM lost WHERE id = ?", [Data(id.bytes)]).compactMap { row in
            guard let value = try value(row.bytes(1)) else { return nil }
            return (try column(row[0]), value)
        }
    }

    func forgetLost(_ id: RowID) throws {
        try run("DELETE FROM lost WHERE id = ?", [Data(id.bytes)])
    }

    /// Reads a value of the list of conflicts; `nil` if there is none.
    func value(_ bytes: [UInt8]) throws -> Value? {
        guard !bytes.isEmpty else { return nil }
        return try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            do {
                return try reader.value()
            } catch {
                throw damaged("a conflict has no value")
            }
        }
    }
}
