import Files
import Foundation
import TestSupport

// The command after the one that was disturbed.
extension FaultScenario {
    /// The arguments of the command that comes next, and has to clean up.
    func next(in trial: Trial, before: Contents?) throws -> [String] {
        if let next { return absolute(next, in: trial) }
        let isThere = try before != nil || FileInfo.ifPresent(trial.stores) != nil
        return isThere ? ["backup"] : arguments
    }

    /// Whether the command after it did its work: a rotation that is done leaves nothing that its key opens.
    func isDone(_ next: Tool.Outcome, in trial: Trial) throws -> Bool {
        guard isRotation, next.status == 12 else { return next.status == 0 }
        let check = ["key", "check", "--all", "--identity", "Key", "--json"]
        let answer = try trial.run(absolute(check, in: trial)).text
        let rows = try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [[String: Any]]
        return rows?.isEmpty == false && rows?.contains { $0["opens"] as? Bool != false } == false
    }
}
