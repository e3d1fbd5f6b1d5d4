internal import Files
internal import Operations

/// The progress of a stage of long work.
struct Progress {
    let stage: OperationEvent.Stage
    /// The total in bytes, if it is known.
    let total: Int64?
    let start: ContinuousClock.Instant
    private(set) var done: Int64 = 0

    init(_ stage: OperationEvent.Stage, total: Int64?, since start: ContinuousClock.Instant = .now)
    {
        self.stage = stage
        self.total = total
        self.start = start
    }

    mutating func advance(_ bytes: Int64) { done = done.addingSaturated(bytes) }

    /// The completed share from 0 to 1; `nil` if the total is unknown.
    var part: Double? {
        guard let total, total > 0 else { return nil }
        return min(1, Double(done) / Double(total))
    }

    /// Returns the average rate in bytes per second.
    func rate(at now: ContinuousClock.Instant) -> Double {
        let seconds = (now - start).inSeconds
        return seconds > 0 ? Double(done) / seconds : 0
    }

    /// Returns the remaining time in seconds at the average rate; `nil` if it is unknown.
    func secondsLeft(at now: ContinuousClock.Instant) -> Int? {
        let rate = rate(at: now)
        guard let total, rate > 0 else { return nil }
        // An archive may claim a size whose time exceeds the range of numbers.
        return Int(min(Double(max(0, total - done)) / rate, 1e9))
    }
}
