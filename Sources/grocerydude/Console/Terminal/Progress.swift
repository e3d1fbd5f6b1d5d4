internal import Files
internal import Operations

/// How far a stage of long work is.
struct Progress {
    let stage: OperationEvent.Stage
    /// Bytes, if they are known.
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

    /// From 0 to 1; `nil` if the total is not known.
    var part: Double? {
        guard let total, total > 0 else { return nil }
        return min(1, Double(done) / Double(total))
    }

    /// Bytes a second so far.
    func rate(at now: ContinuousClock.Instant) -> Double {
        let seconds = (now - start).inSeconds
        return seconds > 0 ? Double(done) / seconds : 0
    }

    /// Seconds, at the rate so far; `nil` if that cannot be told.
    func secondsLeft(at now: ContinuousClock.Instant) -> Int? {
        let rate = rate(at: now)
        guard let total, rate > 0 else { return nil }
        // An archive may claim a size that takes longer than a number can hold.
        return Int(min(Double(max(0, total - done)) / rate, 1e9))
    }
}
