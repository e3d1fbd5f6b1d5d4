internal import Synchronization

/// A watchdog that sees from rclone's log whether rclone makes progress.
final class RcloneWatchdog: Sendable {
    private struct State {
        var log = RcloneLog()
        /// The time without progress, as far as it was observed.
        var waited = Duration.zero
        var lastLook = ContinuousClock.now
        var hasToldOfWaiting = false
        /// The number of reported bytes.
        var reported: Int64 = 0
        var verdict: (any Error)?

        mutating func move() {
            waited = .zero
            hasToldOfWaiting = false
            log.forgetConnectionError()
        }
    }

    /// The maximum time that one look counts, since the machine may have slept.
    private static let longestLook = Duration.seconds(1)
    /// The time without progress after which it is reported.
    private static let patience = Duration.seconds(5)

    private let rclone: Rclone
    private let job: Rclone.Job
    private let idleLimit: Duration
    private let state = Mutex(State())

    init(_ rclone: Rclone, _ job: Rclone.Job) {
        self.rclone = rclone
        self.job = job
        idleLimit = rclone.patience(for: job)
        state.withLock { $0.log.mask = job.mask }
    }

    /// The error because of which rclone was ended.
    var verdict: (any Error)? { state.withLock { $0.verdict } }

    /// Notes output of rclone other than its log.
    func moved() {
        state.withLock { $0.move() }
    }

    /// Processes a part of rclone's log.
    func receiveLog(_ bytes: [UInt8]) {
        let advance = state.withLock { state -> Int64? in
            if state.log.receive(bytes) { state.move() }
            guard job.transfer != nil else { return nil }
            let advance = max(0, state.log.counts.bytes - state.reported)
            state.reported += advance
            return advance
        }
        if let advance { rclone.report(.advanced(advance)) }
    }

    /// Returns the whole log.
    func finish() -> RcloneLog {
        state.withLock {
            $0.log.finish()
            return $0.log
        }
    }

    /// Throws if rclone has to be ended; the error is the verdict.
    func check() throws {
        do {
            try rclone.checkCancellation()
            let waited = try state.withLock { try check(&$0) }
            if let waited { rclone.report(.waiting(for: job.address, since: waited)) }
        } catch {
            state.withLock { $0.verdict = $0.verdict ?? error }
            throw error
        }
    }

    /// - Returns: the time without progress, if it is to be reported now.
    private func check(_ state: inout State) throws -> Duration? {
        if let reason = state.log.refusal {
            throw RemoteError.unauthorized(job.address, reason: reason)
        }
        let now = ContinuousClock.now
        state.waited += min(now - state.lastLook, Self.longestLook)
        state.lastLook = now
        let waited = state.waited
        if let reason = state.log.connectionError, rclone.connectTimeout > .zero,
            waited >= rclone.connectTimeout
        {
            throw RemoteError.unreachable(job.address, reason: reason)
        }
        // Only a remote that has received the whole file assembles it.
        let isSending = job.isUpload && state.log.counts.bytes < job.serverBytes
        let idleLimit = isSending ? rclone.idleTimeout : idleLimit
        if idleLimit > .zero, waited >= idleLimit {
            throw RemoteError.stalled(job.address, after: idleLimit)
        }
        guard waited >= Self.patience, !state.hasToldOfWaiting else { return nil }
        state.hasToldOfWaiting = true
        return waited
    }
}
