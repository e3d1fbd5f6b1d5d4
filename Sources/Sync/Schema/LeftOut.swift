/// A table or a column that does not sync, with the reason.
public struct LeftOut: Equatable, Sendable, CustomStringConvertible {
    /// The reasons why a table does not sync while others do.
    public enum Reason: Equatable, Sendable {
        case noPrimaryKey
        /// The columns have all names of the rowid.
        case noRowID
        case virtual
        case shadow
        case view
        /// The table records the migrations of this file.
        case migrations
        case excluded
        /// The table is Core Data's own, with this file's keys, model or history.
        case coreData
        /// Its name, or that of a column of its key, is no name in change files.
        case name
        /// The name of this column is none.
        case column(String)
    }

    public let table: String
    public let reason: Reason

    public var description: String {
        switch reason {
        case .noPrimaryKey:
            "'\(table)' has no primary key: name its identity in the map, or leave it"
        case .noRowID: "'\(table)' has columns with all names of the rowid"
        case .virtual: "'\(table)' is virtual: it is made of other tables"
        case .shadow: "'\(table)' is a part of a virtual table"
        case .view: "'\(table)' is a view"
        case .migrations: "'\(table)' is about this file alone"
        case .excluded: "'\(table)' is left out by the map"
        case .coreData: "'\(table)' is an internal table of Core Data"
        case .name:
            "'\(table.prefix(40))': its name, or that of a key's column, is empty or over 1,024 bytes"
        case .column(let name):
            "the column '\(name.prefix(40))' of '\(table)': its name is empty or over 1,024 bytes"
        }
    }

    /// Whether all of the table is left out.
    public var isOfTable: Bool { if case .column = reason { false } else { true } }

    /// The tables in which libraries record what they did to a file.
    static let migrationTables: Set<String> = [
        "__diesel_schema_migrations", "__drizzle_migrations", "__efmigrationshistory",
        "__efmigrationslock", "__migrationhistory", "_litestream_lock", "_litestream_seq",
        "_migrations", "_prisma_migrations", "_sqlx_migrations", "_yoyo_log", "_yoyo_migration",
        "_yoyo_version", "alembic_version", "android_metadata", "ar_internal_metadata",
        "d1_migrations", "databasechangelog", "databasechangeloglock", "django_migrations",
        "doctrine_migration_versions", "flyway_schema_history", "goose_db_version",
        "gorp_migrations", "grdb_migrations", "knex_migrations", "knex_migrations_lock",
        "kysely_migration", "kysely_migration_lock", "migratehistory", "mikro_orm_migrations",
        "phinxlog", "refinery_schema_history", "room_master_table", "schema_migrations",
        "sequelizemeta", "typeorm_metadata", "yoyo_lock",
    ]

    /// The names of tables that may be such, and may be an application's own.
    static let perhapsMigrationTables: Set<String> = [
        "applied_migrations", "database_version", "db_info", "db_version", "dbversion", "migration",
        "migration_history", "migrations", "schema_changes", "schema_history", "schema_info",
        "schema_version", "schema_versions", "schemaversion", "schemaversions", "version",
        "versioninfo", "versions",
    ]
}
