public import Foundation
internal import GRDB

extension RunLog {
    /// An installed schedule.
    public struct Installation: Sendable, Equatable {
        public var schedule: String
        /// The time since which it is in force.
        public var since: Date
    }

    /// Records that a schedule was installed; the time stays if it is the same as before.
    ///
    /// - Throws: `HistoryError`, `FileError`.
    public func recordInstallation(_ name: String, _ schedule: String, at time: Date) throws {
        try writing { database in
            try database.execute(
                sql: """
                    INSERT INTO schedule (name, schedule, since) VALUES (?, ?, ?)
                        ON CONFLICT (name) DO UPDATE SET schedule = excluded.schedule,
                            since = excluded.since WHERE schedule <> excluded.schedule
                    """,
                arguments: [name, schedule, milliseconds(time)]
            )
        }
    }

    /// Forgets an installed schedule.
    ///
    /// - Throws: `HistoryError`, `FileError`.
    public func forgetInstallation(_ name: String) throws {
        guard try installation(name) != nil else { return }
        try writing { database in
            try database.execute(sql: "DELETE FROM schedule WHERE name = ?", arguments: [name])
        }
    }

    /// Returns an installed schedule; `nil` if none was recorded.
    ///
    /// - Throws: `HistoryError`, `FileError`.
    public func installation(_ name: String) throws -> Installation? {
        try reading(else: nil) { database in
            try Row.fetchOne(
                database,
                sql: "SELECT schedule, since FROM schedule WHERE name = ?",
                arguments: [name]
            )
            .map { Installation(schedule: $0["schedule"], since: date($0["since"])) }
        }
    }
}
