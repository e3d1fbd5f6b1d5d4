internal import GRDB

/// The tables of the log.
enum RunLogSchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: runs, checks") { database in
            try database.create(table: "run") { definition in
                definition.autoIncrementedPrimaryKey("id")
                definition.column("command", .text).notNull()
                definition.column("profile", .text)
                definition.column("stores", .text).notNull()
                definition.column("remote", .text).notNull()
                // `began` is in milliseconds since 1970-01-01 UTC, `duration` in milliseconds.
                definition.column("began", .integer).notNull()
                definition.column("duration", .integer).notNull()
                definition.column("exit_code", .integer).notNull()
                definition.column("message", .text)
                definition.column("backup", .text)
                definition.column("size", .integer)
                definition.column("bytes", .integer)
            }
            try database.create(
                index: "run_kind",
                on: "run",
                columns: ["command", "profile", "stores", "remote"]
            )
            try database.create(table: "backup_check") { definition in
                definition.column("id", .text).notNull()
                definition.column("address", .text).notNull()
                definition.column("name", .text).notNull()
                definition.column("depth", .text).notNull()
                definition.column("time", .integer).notNull()
                definition.column("damage", .text)
                definition.primaryKey(["id", "address", "name", "depth"])
            }
        }
        migrator.registerMigration("2: origins") { database in
            try database.alter(table: "run") { $0.add(column: "origin", .text) }
        }
        migrator.registerMigration("3: notices", migrate: addNotices)
        migrator.registerMigration("4: uneventful runs", migrate: addUneventfulRuns)
        migrator.registerMigration("5: futile restores", migrate: addFutileRestores)
        migrator.registerMigration("6: safety backups", migrate: addSafetyBackups)
        migrator.registerMigration("7: sizes of checked files", migrate: addCheckedSizes)
        return migrator
    }

    /// Adds what was reported to whom, and the schedules that were installed.
    private static func addNotices(_ database: Database) throws {
        try database.create(table: "notice") { definition in
            let job = ["command", "profile", "stores", "remote"]
            for name in job { definition.column(name, .text).notNull() }
            // A digest of the target's address.
            definition.column("receiver", .text).notNull()
            definition.column("condition", .text).notNull()
            definition.column("time", .integer).notNull()
            definition.primaryKey(job + ["receiver"])
        }
        try database.create(table: "schedule") { definition in
            definition.primaryKey("name", .text)
            definition.column("schedule", .text).notNull()
            definition.column("since", .integer).notNull()
        }
    }

    /// Adds the last run without news of each job.
    private static func addUneventfulRuns(_ database: Database) throws {
        try database.create(table: "uneventful") { definition in
            let job = ["command", "profile", "stores", "remote"]
            for name in job { definition.column(name, .text).notNull() }
            definition.column("began", .integer).notNull()
            definition.column("duration", .integer).notNull()
            definition.primaryKey(job)
        }
    }
}
