internal import Changes
internal import Foundation
internal import GRDB

// Rows whose state is not, or may not be, in the store.
extension SidecarAccess {
    func markDirty(_ id: RowID) throws {
        try perform("INSERT OR IGNORE INTO dirty (id) VALUES (?)", .id(id))
    }

    func clean(_ id: RowID) throws { try perform("DELETE FROM dirty WHERE id = ?", .id(id)) }

    var dirtyCount: Int64 { get throws { try count("SELECT count(*) FROM dirty") } }

    /// Returns whether changes of a row have arrived that are not written yet.
    func isUnwritten(_ id: RowID) throws -> Bool {
        try has("SELECT 1 FROM dirty WHERE id = ?", .id(id))
    }
}
