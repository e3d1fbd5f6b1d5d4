import Files

@testable import Sync

/// What a device and its store were before an exchange, to show what that did to the store.
struct StoreWatch {
    private let version: [String]
    private let modified: Int64
    private let hasNews: Bool

    init(_ device: Device, isEdited: Bool) throws {
        version = try device.rows("PRAGMA data_version")
        modified = try FileInfo(of: device.storePath).modified
        hasNews = try device.inspect { access in
            try isEdited || device.options.refills || access.dirty.count > 0
                || !access.intents.all().isEmpty || access.membership.phase != .on
                || access.integer("rolled") != nil
        }
    }

    /// Returns what should not have been done to the store, which its application has open.
    func fault(_ device: Device, _ outcome: ExchangeOutcome) throws -> String? {
        let isNews = hasNews || outcome.taken.changes > 0 || outcome.taken.unknownOwn > 0
        if !isNews, try device.rows("PRAGMA data_version") != version {
            return "was written, and nothing had arrived"
        }
        // Its pages are in the log until the application folds it in.
        return try FileInfo(of: device.storePath).modified == modified ? nil : "was checkpointed"
    }
}
