internal import Operations

/// Lines for programs about the progress of long work, as in restic: at most one per second, the first after a second.
struct StatusLines {
    /// The content of a line; see `Documentation/Schemas/message.json`.
    struct Line: Encodable, Equatable {
        var messageType = "status"
        var stage: String
        var percentDone: Double?
        var bytesDone: Int64
        var totalBytes: Int64?
        var secondsElapsed: Int
        var secondsRemaining: Int?
        var profile: String?
    }

    private static let interval = Duration.seconds(1)

    private(set) var progress: Progress?
    private var lastSaid: ContinuousClock.Instant

    init(since start: ContinuousClock.Instant = .now) {
        lastSaid = start
    }

    mutating func begin(
        _ stage: OperationEvent.Stage,
        total: Int64?,
        at now: ContinuousClock.Instant = .now
    ) {
        progress = Progress(stage, total: total, since: now)
    }

    /// Returns a line if one is due.
    mutating func advance(_ bytes: Int64, at now: ContinuousClock.Instant = .now) -> Line? {
        progress?.advance(bytes)
        guard let progress, now - lastSaid >= Self.interval else { return nil }
        // This keeps the delays of single lines from adding up.
        lastSaid = now - lastSaid < Self.interval * 2 ? lastSaid + Self.interval : now
        return Line(
            stage: progress.stage.rawValue,
            percentDone: progress.part,
            bytesDone: min(progress.done, progress.total ?? .max),
            totalBytes: progress.total,
            secondsElapsed: Int((now - progress.start).components.seconds),
            secondsRemaining: progress.secondsLeft(at: now)
        )
    }
}
