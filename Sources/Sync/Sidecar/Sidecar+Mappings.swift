internal import Changes
internal import Stores

extension SidecarAccess {
    /// Returns the numbers of the columns that travel, in their order.
    func numbers(of table: TableMapping) throws -> [Int64] {
        try table.columns.map { try number(of: $0.name) }
    }
}

extension Sidecar {
    /// Returns what of a store syncs by the group's map, and how its tables travel.
    func tables(in snapshot: StoreSnapshot) throws -> (SyncSchema, [TableMapping]) {
        let rules = try read { SchemaRules(try $0.map) }
        let schema = try SyncSchema(of: snapshot, rules: rules)
        return (schema, TableMapping.mappings(of: schema.tables))
    }
}
