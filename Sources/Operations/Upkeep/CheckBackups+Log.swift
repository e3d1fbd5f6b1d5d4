public import Foundation
public import Stores

extension CheckBackups.Result {
    /// How thoroughly the backup was checked, as the log has it.
    public var depth: RunLog.Check.Depth {
        subset == nil ? .restore : part == nil ? .data : .part
    }

    /// The part of the data that was read; `nil` if all was.
    public var part: RunLog.Check.Part? {
        switch subset {
        case nil, .all, .share(percent: 100), .part(_, of: 1): nil
        case .share(let percent): .share(DataSubset.share(percent: percent).description)
        case .part(let part, let count): .one(part, of: count)
        }
    }

    /// Records the check in the log, unless the backup could not be checked.
    ///
    /// - Throws: what `RunLog.recordCheck` throws.
    public func record(in log: RunLog, address: String, at time: Date) throws {
        guard isGood || !damage.isEmpty else { return }
        try log.recordCheck(
            RunLog.Check(
                address: address,
                name: backup.name,
                size: backup.size,
                time: time,
                depth: depth,
                part: part,
                damage: damage.first
            )
        )
    }
}
