internal import GRDB

/// The tables of the sample store.
enum GrocerySchema {
    /// The schema's versions, in order.
    ///
    /// A version that was released never changes: there are stores of it.
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
        // The key of a row is its identity. GRDB checks foreign keys at a migration's end.
        migrator.registerMigration("2: identities, thumbnails") { database in
            try database.create(table: "given_identity") { definition in
                definition.primaryKey("identity", .text)
            }
            // A PNG as it is: Core Data, too, keeps what is small in the row.
            try database.alter(table: "item") { $0.add(column: "thumbnail", .blob) }
            try GroceryDefaults.identifyFirst(database)
        }
        return migrator
    }
}
