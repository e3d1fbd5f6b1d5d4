public import Foundation
internal import GRDB

extension RunLog {
    /// One run of a command.
    public struct Entry: Sendable, Equatable {
        /// The command's name: `backup`.
        public var command: String
        /// The profile that it was run with, if any.
        public var profile: String?
        /// The stores directory.
        public var stores: String
        /// The remote folder's address.
        public var remote: String
        public var began: Date
        public var duration: Duration
        public var exitCode: Int32
        /// The problem, or another remark.
        public var message: String?
        /// The backup that was made or restored: its file name.
        public var backup: String?
        /// Bytes in its archive.
        public var size: Int64?
        /// Bytes in all files before compression.
        public var bytes: Int64?

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

    /// The runs to look for; `nil` is any.
    public struct Filter: Sendable {
        public var command: String?
        public var profile: String?
        public var stores: String?
        public var remote: String?
        /// Only runs that ended with 0.
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
    }
}
