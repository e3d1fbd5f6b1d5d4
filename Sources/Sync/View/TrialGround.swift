/// All that rows are tried with while a view is computed, perhaps of more and more rows.
final class TrialGround {
    let tables: [TableMapping]
    let mirror: Mirror
    var keys: LocalKeys

    init(_ tables: [TableMapping], _ keys: LocalKeys) throws {
        self.tables = tables
        self.keys = keys
        mirror = try Mirror(tables.map(\.schema))
    }
}
