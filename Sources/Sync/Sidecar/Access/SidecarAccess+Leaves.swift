internal import Changes
internal import GRDB
internal import Stores

// The pages of rows at the time of the shadow, so that only changed pages are read.
extension SidecarAccess {
    /// Returns the key of the leaves' hashes, and creates it at the first call.
    func leafKey() throws -> [UInt8] {
        if let key = try bytes("leaf_key"), key.count == 16 { return key }
        let key = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        try set("leaf_key", bytes: key)
        return key
    }

    /// Returns the leaves of a table in order; empty if all rows must be read.
    func leaves(of table: TableName) throws -> [Leaf] {
        try rows("SELECT lo, hi, hash FROM leaf WHERE t = ? ORDER BY lo", [number(of: table)]).map {
            let (low, high): (Int64, Int64) = ($0[0], $0[1])
            guard low <= high else { throw damaged("a leaf ends before it begins") }
            return Leaf(rowIDs: low...high, hash: UInt64(bitPattern: $0[2] as Int64))
        }
    }

    /// Replaces the leaves of a table; with `nil`, its rows are read next time.
    func setLeaves(_ leaves: [Leaf]?, of table: TableName) throws {
        let number = try number(of: table)
        guard let leaves else { return try run("DELETE FROM leaf WHERE t = ?", [number]) }
        let old = Set(try self.leaves(of: table))
        let new = Set(leaves)
        for leaf in old.subtracting(new) {
            try run("DELETE FROM leaf WHERE t = ? AND lo = ?", [number, leaf.rowIDs.lowerBound])
        }
        for leaf in new.subtracting(old) {
            try run(
                "INSERT OR REPLACE INTO leaf (t, lo, hi, hash) VALUES (?, ?, ?, ?)",
                [
                    number, leaf.rowIDs.lowerBound, leaf.rowIDs.upperBound,
                    Int64(bitPattern: leaf.hash),
                ]
            )
        }
    }

    /// Forgets the leaf of a row, so that the next capture reads its page.
    ///
    /// The shadow has the row as it was written. If the store is put back, its page is the captured one, and would
    /// be skipped.
    func forgetLeaf(at key: RowKey, of table: TableName) throws {
        guard case .rowID(let rowID) = key else { return }
        try perform(
            """
            DELETE FROM leaf
            WHERE t = ?1 AND lo = (SELECT max(lo) FROM leaf WHERE t = ?1 AND lo <= ?2) AND hi >= ?2
            """,
            .integer(number(of: table)),
            .integer(rowID)
        )
    }

    /// Makes the next capture read all rows, since the shadow may differ from the captured store.
    func forgetLooks() throws {
        try run("DELETE FROM leaf")
        try set("look", nil)
    }
}
