internal import Changes
internal import Foundation
internal import GRDB
internal import Stores

// Edits that lost.
extension SidecarAccess {
    var conflictCount: Int64 { get throws { try count("SELECT count(*) FROM conflict") } }

    /// Returns the number of a table's rows with initial values that lost.
    func yieldingCount(in table: TableName) throws -> Int64 {
        try count(
            "SELECT count(DISTINCT id) FROM conflict WHERE t = ? AND kind = ?",
            [number(of: table), Conflict.Kind.seed.rawValue]
        )
    }
}
