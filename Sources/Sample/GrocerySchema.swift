internal import GRDB

/// The tables of the sample store.
enum GrocerySchema {
    /// The schema's versions, in order.
    ///
    /// A released version never changes, since stores of it exist.
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
                // The value is 0x02, the UUID of a file in the external data as text, and NUL.
                definition.column("photo", .blob)
            }
        }
        // The key of a row is its identity. GRDB checks foreign keys at the end of a migration.
        migrator.registerMigration("2: identities, thumbnails") { database in
            try database.create(table: "given_identity") { definition in
                definition.primaryKey("identity", .text)
            }
            // The value is a plain PNG; Core Data also keeps small data in the row.
            try database.alter(table: "item") { $0.add(column: "thumbnail", .blob) }
            try GroceryDefaults.identifyFirst(database)
        }
        return migrator
    }
}
