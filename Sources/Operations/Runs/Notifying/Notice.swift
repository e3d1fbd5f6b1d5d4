internal import Backups
internal import Files
public import Foundation
public import History

/// A message about a job to a person.
struct Notice: Sendable {
    let title: String
    let text: String
    /// Whether something is wrong.
    let isBad: Bool

    /// The longest line in bytes: mail allows 998, and other services less in all.
    private static let lineLimit = 900

    init(title: String, lines: [String], isBad: Bool) {
        func short(_ text: String) -> String {
            let line = printable(bytes: text.utf8)
            guard line.utf8.count > Self.lineLimit else { return line }
            return line.prefix(Self.lineLimit / 4) + SecretMask.hidden
        }
        self.title = short(title)
        text = lines.map(short).joined(separator: "\n")
        self.isBad = isBad
    }

    /// The title and the text, for services without titles.
    var whole: String { "\(title)\n\(text)" }
}

/// The state of a job, of which a change is reported.
public enum JobCondition: String, Sendable {
    case good, partial, damaged, failed, missed

    /// The events that a user can choose to be notified of.
    public enum Event: String, Sendable, CaseIterable {
        /// A run failed, or was done in part.
        case failure
        /// A run succeeded after that.
        case recovery
        /// A run succeeded, as the first one or after a failure.
        case success
        /// A scheduled run did not happen.
        case missed
    }

    /// Returns the condition after a run; `nil` if a person interrupted it, who knows that it did not succeed.
    init?(exitCode: Int32) {
        switch exitCode {
        case 0: self = .good
        case 3: self = .partial
        case 20: self = .damaged
        case 128 + SIGINT: return nil
        default: self = .failed
        }
    }

    /// Returns the events of a change to this condition.
    func events(after previous: JobCondition?) -> Set<Event> {
        guard self != previous else { return [] }
        return switch self {
        case .good: previous == nil ? [.success] : [.success, .recovery]
        case .missed: [.missed]
        case .partial, .damaged, .failed: [.failure]
        }
    }

    /// The end of a sentence about the job.
    func words(after previous: JobCondition?) -> String {
        switch self {
        case .good: previous == nil ? "succeeded" : "works again"
        case .partial: "was done in part"
        case .damaged: "found damage"
        case .failed: "failed"
        case .missed: "was missed"
        }
    }
}

/// The facts about a job that a notification has.
public struct JobReport: Sendable {
    public var job: RunLog.Job
    public var condition: JobCondition
    /// The reason, if it is not good.
    public var reason: String?
    public var exitCode: Int32?
    /// The time of the run, or the time at which it should have been.
    public var time: Date
    /// The machine and the stores directory.
    public var origin: String?

    public init(_ job: RunLog.Job, _ condition: JobCondition, at time: Date) {
        (self.job, self.condition, self.time) = (job, condition, time)
    }

    /// Creates the report of a run; `nil` if a person interrupted it, or a hook skipped it.
    public init?(_ entry: RunLog.Entry) {
        guard entry.exitCode != Hooks.skipCode,
            let condition = JobCondition(exitCode: entry.exitCode)
        else { return nil }
        self.init(entry.job, condition, at: entry.began + entry.duration.inSeconds)
        (reason, exitCode, origin) = (entry.message, entry.exitCode, entry.origin)
    }

    /// Returns the message about the change from another condition.
    func notice(after previous: JobCondition?, in timeZone: LocalZone, mask: SecretMask) -> Notice {
        let subject = job.command + (job.profile.map { " of \($0)" } ?? "")
        var lines = reason.map { [$0, ""] } ?? []
        lines.append("time: \(Timestamp.rfc3339(time, in: timeZone))")
        if let exitCode, exitCode != 0 { lines.append("exit code: \(exitCode)") }
        lines += ["stores: \(job.stores)", "remote: \(job.remote)"]
        if let origin { lines.append("origin: \(origin)") }
        let option = job.profile.map { " " + Advice.option("profile", $0) } ?? ""
        lines.append("see: grocerydude log\(option)")
        return Notice(
            title: mask("grocerydude: \(subject) \(condition.words(after: previous))"),
            lines: lines.map { mask($0) },
            isBad: condition != .good
        )
    }
}
