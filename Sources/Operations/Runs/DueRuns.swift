internal import Files
public import Foundation
public import History
public import SystemPackage

/// The times at which a scheduler begins runs of a command.
public struct DueTimes: Sendable {
    public var command: Run.Command
    /// The time since which the schedule is in force; `nil` if it is not known.
    public var since: Date?
    /// The time in seconds for which a run may wait for other runs.
    public var patience: TimeInterval
    /// Returns the times after a moment, in order, each when it is asked for.
    public var times: @Sendable (Date) -> AnySequence<Date>

    public init(
        _ command: Run.Command,
        since: Date?,
        patience: TimeInterval = 0,
        times: @escaping @Sendable (Date) -> AnySequence<Date>
    ) {
        self.command = command
        self.since = since
        self.patience = patience
        self.times = times
    }

    /// Returns the time in seconds after which a run that is not in the log was missed.
    ///
    /// A run may begin late, and is logged at its end. To read all backups takes longer than to make one.
    fileprivate func grace(before gap: TimeInterval) -> TimeInterval {
        min(max(gap / 2, 120), command == .check ? 86_400 : 3600) + patience
    }
}

/// The runs that a schedule should have begun until now: the time of each, and how it was answered.
///
/// A run answers a time if it began then or later, but before the next time, or if it was still busy then. A time that
/// nothing answers was missed as soon as its run would be in the log.
public struct DueRuns: Sendable {
    public enum Answer: Sendable, Equatable {
        /// A logged run.
        case run(RunLog.Entry)
        /// A run in progress, which is not logged yet.
        case running
        /// None so far, but it may still come.
        case awaited
        case missed
    }

    /// A time at which a run should have begun.
    public struct Due: Sendable, Equatable {
        public var time: Date
        public var answer: Answer
    }

    /// The tolerance in seconds for a timer that fires a little early.
    private static let tolerance: TimeInterval = 60

    /// The due runs, oldest first.
    public private(set) var all: [Due] = []
    /// Whether no run of the command is logged.
    public let isFirst: Bool

    /// Finds the due runs.
    ///
    /// None is due before the schedule was in force; if that time is not known, or is older than a full log, none is due
    /// before the oldest logged run.
    ///
    /// - Parameters:
    ///   - due: the times of a schedule.
    ///   - runs: the runs of any commands, in any order.
    ///   - start: the moment from which they are wanted, unless the last run is older; `nil` for the last run.
    ///   - now: the present time.
    ///   - isRunning: whether a run is in progress.
    public init(
        _ due: DueTimes,
        in runs: [RunLog.Entry],
        from start: Date? = nil,
        until now: Date,
        isRunning: Bool = false
    ) {
        // A run that began in the future says nothing about the past.
        let runs = runs.filter { $0.command == due.command.rawValue && $0.began <= now }
            .sorted { $0.began < $1.began }
        isFirst = runs.isEmpty
        let oldest = runs.first?.began
        let isLogFull = runs.count >= RunLog.keptRuns
        let base = isLogFull ? [due.since, oldest].compactMap(\.self).max() : due.since ?? oldest
        guard let base else { return }
        // Before the last run, those that changed nothing are not known.
        let start = due.command == .sync ? nil : start
        let wanted = [start, runs.last?.began].compactMap(\.self).min() ?? base
        var times = Array(due.times(max(base, wanted)).prefix { $0 <= now })
        times.append(due.times(now).first { _ in true } ?? .distantFuture)
        let answers = Self.answers(to: times, by: runs)
        for (index, run) in answers.enumerated() {
            let time = times[index]
            let grace = due.grace(before: times[index + 1].timeIntervalSince(time))
            let isAwaited = now.timeIntervalSince(time) <= grace
            let answer = run.map { Answer.run($0) } ?? (isAwaited ? .awaited : .missed)
            all.append(Due(time: time, answer: answer))
        }
        if isRunning, let last = all.indices.last, answers[last] == nil {
            all[last].answer = .running
        }
    }

    /// Returns the run that answers each time but the last one; times and runs are in order.
    private static func answers(
        to times: [Date],
        by runs: [RunLog.Entry]
    ) -> [RunLog.Entry?] {
        var next = runs.startIndex
        // The run so far that ended last.
        var latest: RunLog.Entry?
        return zip(times, times.dropFirst()).map { time, end in
            var answer = latest.flatMap { $0.ended >= time ? $0 : nil }
            while next < runs.endIndex, runs[next].began < end - tolerance {
                let run = runs[next]
                if run.began >= time - tolerance || run.ended >= time { answer = answer ?? run }
                if latest.map({ $0.ended < run.ended }) ?? true { latest = run }
                next += 1
            }
            return answer
        }
    }

    /// The times that were missed, oldest first.
    public var missed: [Date] { all.filter { $0.answer == .missed }.map(\.time) }

    /// The times that were missed since the last one that a run answered, oldest first.
    public var missedLately: [Date] {
        let open = all.reversed().prefix { $0.answer == .missed || $0.answer == .awaited }
        return open.reversed().filter { $0.answer == .missed }.map(\.time)
    }
}

extension DueRuns {
    /// Finds the due runs since the last one with these stores and this folder.
    ///
    /// - Parameters:
    ///   - due: the times of a schedule.
    ///   - log: the log.
    ///   - stores: the stores directory; while it is locked, a backup is in progress.
    ///   - remote: the folder's address, as the log has it.
    ///   - now: the present time.
    /// - Throws: `HistoryError`, `FileError`.
    public init(
        _ due: DueTimes,
        in log: RunLog,
        of stores: FilePath,
        to remote: String,
        until now: Date
    ) throws {
        var filter = RunLog.Filter()
        filter.command = due.command.rawValue
        filter.stores = printable(stores)
        filter.remote = remote
        let isRunning = due.command != .check && Self.isBusy(stores)
        let runs =
            try log.entries(filter)
            + log.uneventful(due.command.rawValue, printable(stores), remote)
        self.init(due, in: runs, until: now, isRunning: isRunning)
    }

    /// Returns whether another run has the stores.
    static func isBusy(_ stores: FilePath) -> Bool { ((try? LockHolder.of(stores)) ?? nil) != nil }
}
