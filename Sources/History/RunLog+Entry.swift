public import Foundation
internal import GRDB

extension RunLog {
    /// One run of a command.
    public struct Entry: Sendable, Equatable {
        /// The command's name: `backup`.
        public var command: String
        /// The profile of the run, if it had one.
        public var profile: String?
        /// The stores directory.
        public var stores: String
        /// The name of the origin of the run's own backups.
        public var origin: String?
        /// The remote folder's address.
        public var remote: String
        public var began: Date
        public var duration: Duration
        public var exitCode: Int32
        /// The problem, or a remark.
        public var message: String?
        /// The file name of the backup that was made or restored.
        public var backup: String?
        /// The size of its archive in bytes.
        public var size: Int64?
        /// The size of all its files in bytes before compression.
        public var bytes: Int64?
        /// The identity of the safety backup that a restore made.
        public var safety: String?

        public init(
            command: String,
            profile: String? = nil,
            stores: String,
            remote: String,
            began: Date,
            duration: Duration,
            exitCode: Int32
        ) {
            self.command = command
            self.profile = profile
            self.stores = stores
            self.remote = remote
            self.began = began
            self.duration = duration
            self.exitCode = exitCode
        }
    }

    /// The properties of wanted runs; `nil` matches any value.
    public struct Filter: Sendable {
        public var command: String?
        public var profile: String?
        public var stores: String?
        public var remote: String?
        /// Whether to return only runs with exit code 0.
        public var isSuccess = false

        public init() {}
    }
}

extension RunLog.Entry {
    init(_ row: Row) {
        self.init(
            command: row["command"],
            profile: row["profile"],
            stores: row["stores"],
            remote: row["remote"],
            began: date(row["began"]),
            duration: .milliseconds(row["duration"] as Int64),
            exitCode: row["exit_code"]
        )
        message = row["message"]
        backup = row["backup"]
        size = row["size"]
        bytes = row["bytes"]
        origin = row["origin"]
        safety = row["safety"]
    }
}
