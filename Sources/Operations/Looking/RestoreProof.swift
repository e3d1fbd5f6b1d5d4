public import Foundation
internal import History

/// The proof that a backup can be restored: a restore, or the rehearsal of one.
public struct RestoreProof: Sendable {
    public enum Kind: String, Sendable {
        case restore, check
    }

    public var kind: Kind
    public var time: Date
    /// The file name of the backup; `nil` if the log does not have it.
    public var backup: String?

    /// Finds the last proof in the log; `nil` if there is none.
    ///
    /// - Parameters:
    ///   - log: the log.
    ///   - stores: the stores directory, as the log has it.
    ///   - address: the remote folder's address.
    /// - Throws: `HistoryError`, `FileError`.
    init?(in log: RunLog, stores: String, _ address: String) throws {
        var filter = RunLog.Filter()
        filter.command = Run.Command.restore.rawValue
        filter.stores = stores
        filter.remote = address
        filter.isSuccess = true
        let run = try log.entries(filter, limit: 1).first
        let check = try log.lastGoodCheck(at: address, depth: .restore)
        if let check, check.time > run?.ended ?? .distantPast {
            (kind, time, backup) = (.check, check.time, check.name)
        } else if let run {
            (kind, time, backup) = (.restore, run.ended, run.backup)
        } else {
            return nil
        }
    }
}
