internal import Files
internal import Foundation
internal import History
internal import Operations

/// The reminder in unattended backups that nobody has opened one with the secret key.
///
/// Such a run only encrypts, and would go on if the key were lost.
struct KeyReminder {
    private let invocation: Invocation
    private let job: RunLog.Job

    init(_ invocation: Invocation) {
        self.invocation = invocation
        job = invocation.job(.backup)
    }

    /// The time after which it comes again.
    private static let pace: TimeInterval = 30 * 86_400

    /// The name for this reminder in place of a target's.
    private static let receiver = "key"

    private enum State: String {
        case untried, tried
    }

    /// Warns, at most once a month, if the key was never tried.
    func remind() {
        guard !invocation.profile.keys.recipients.isEmpty else { return }
        do {
            let last = try invocation.log.notice(of: job, for: Self.receiver)
            if last?.condition == State.tried.rawValue { return }
            if let last, invocation.now.timeIntervalSince(last.time) < Self.pace { return }
            if try isProved() { return }
            try keep(.untried)
            invocation.context.warn(
                "no backup here was ever opened with the secret key: run 'grocerydude key check latest' on a machine that has it"
            )
        } catch {
            // Without the log, it would come in each run.
            invocation.context.report(.detail("the log cannot be used: \(explain(error))"))
        }
    }

    /// Records that a key has opened a backup; a failure to do so is none of the command's.
    func recordTrial() {
        do {
            try keep(.tried)
        } catch {
            invocation.context.note("the trial was not logged: \(explain(error))")
        }
    }

    private func keep(_ state: State) throws {
        try invocation.log.setCondition(
            state.rawValue,
            of: job,
            for: Self.receiver,
            at: invocation.now
        )
    }

    /// Returns whether a restore, or a check that read data, proves that the key opens these backups.
    private func isProved() throws -> Bool {
        var filter = RunLog.Filter()
        filter.command = Run.Command.restore.rawValue
        filter.remote = job.remote
        filter.isSuccess = true
        return try !invocation.log.entries(filter, limit: 1).isEmpty
            || invocation.log.lastGoodCheck(at: job.remote, depth: .part) != nil
    }
}
