internal import GRDB

/// The tables of the sample store.
enum GrocerySchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: items, units, locations") { database in
            for table in ["unit", "location_at_home", "location_at_shop"] {
                try database.create(table: table) { definition in
                    definition.primaryKey("id", .text)
                    definition.column("name", .text).notNull().unique()
                }
            }
            try database.create(table: "item") { definition in
                definition.primaryKey("id", .text)
                definition.column("name", .text).notNull().indexed()
                definition.column("quantity", .double).notNull().defaults(to: 1)
                definition.column("listed", .boolean).notNull().defaults(to: false)
                definition.column("collected", .boolean).notNull().defaults(to: false)
                definition.column("unit_id", .text).references("unit", onDelete: .setNull)
                definition.column("location_at_home_id", .text)
                    .references("location_at_home", onDelete: .setNull)
                definition.column("location_at_shop_id", .text)
                    .references("location_at_shop", onDelete: .setNull)
                // 0x02, the UUID of a file in the external data as text, NUL.
                definition.column("photo", .blob)
            }
        }
        return migrator
    }
}
