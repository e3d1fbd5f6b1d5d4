internal import Operations

/// Lines for programs that tell the progress of long work, as restic's do: one a second at most, the
/// first after a second.
struct StatusLines {
    /// What a line says; `Documentation/Schemas/message.json`.
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

    private var progress: Progress?
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

    /// Returns a line if it is time for one.
    mutating func advance(_ bytes: Int64, at now: ContinuousClock.Instant = .now) -> Line? {
        progress?.advance(bytes)
        guard let progress, now - lastSaid >= Self.interval else { return nil }
        // Not later and later, each time by what the last one was late.
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
