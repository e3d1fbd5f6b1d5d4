public import Foundation
internal import GRDB

extension RunLog {
    /// The runs of one command with the same places.
    public struct Job: Sendable, Hashable {
        public var command: String
        public var profile: String?
        public var stores: String
        public var remote: String

        public init(_ command: String, profile: String?, stores: String, remote: String) {
            (self.command, self.profile) = (command, profile)
            (self.stores, self.remote) = (stores, remote)
        }

        fileprivate func arguments(_ receiver: String) -> StatementArguments {
            [command, profile ?? "", stores, remote, receiver]
        }
    }

    /// Returns the last run of a job; `nil` if there was none.
    ///
    /// - Throws: `HistoryError`, `FileError`.
    public func lastRun(of job: Job) throws -> Entry? {
        var filter = Filter()
        (filter.command, filter.profile) = (job.command, job.profile)
        (filter.stores, filter.remote) = (job.stores, job.remote)
        return try entries(filter, limit: 1).first
    }

    /// Returns the last condition of a job that a receiver was notified of; `nil` if there was none.
    ///
    /// - Throws: `HistoryError`, `FileError`.
    public func condition(of job: Job, for receiver: String) throws -> String? {
        try notice(of: job, for: receiver)?.condition
    }

    /// Returns the last condition of a job that a receiver was notified of, with its time; `nil` if there was none.
    ///
    /// - Throws: `HistoryError`, `FileError`.
    public func notice(
        of job: Job,
        for receiver: String
    ) throws -> (condition: String, time: Date)? {
        try reading(else: nil) { database in
            try Row.fetchOne(
                database,
                sql: """
                    SELECT condition, time FROM notice WHERE command = ? AND profile = ?
                        AND stores = ? AND remote = ? AND receiver = ?
                    """,
                arguments: job.arguments(receiver)
            )
            .map { ($0["condition"], date($0["time"])) }
        }
    }

    /// Records the condition of a job that a receiver was notified of.
    ///
    /// - Throws: `HistoryError`, `FileError`.
    public func setCondition(
        _ condition: String,
        of job: Job,
        for receiver: String,
        at time: Date
    ) throws {
        try writing { database in
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO notice
                        (command, profile, stores, remote, receiver, condition, time)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: job.arguments(receiver) + [condition, milliseconds(time)]
            )
        }
    }
}

extension RunLog.Entry {
    /// The job that the run belongs to.
    public var job: RunLog.Job {
        RunLog.Job(command, profile: profile, stores: stores, remote: remote)
    }
}
