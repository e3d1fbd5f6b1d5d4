internal import Files
internal import Operations

/// A line on the terminal that shows the progress of long work; it appears after a second.
struct ProgressBar {
    private static let patience = Duration.seconds(1)
    private static let interval = Duration.milliseconds(100)
    private static let width = 24

    private let start = ContinuousClock.now
    private var stage: OperationEvent.Stage?
    private var stageStart = ContinuousClock.now
    private var total: Int64?
    private var done: Int64 = 0
    private var lastDrawn = ContinuousClock.now
    private var isDrawn = false

    mutating func begin(_ stage: OperationEvent.Stage, total: Int64?) {
        self.stage = stage
        self.total = total
        done = 0
        stageStart = .now
        draw()
    }

    mutating func advance(_ bytes: Int64) {
        done += bytes
        draw()
    }

    /// Wipes the line.
    mutating func clear() {
        guard isDrawn else { return }
        writeAll("\r\u{1B}[K", to: 2)
        isDrawn = false
    }

    private mutating func draw() {
        let now = ContinuousClock.now
        guard let stage, now - start > Self.patience, !isDrawn || now - lastDrawn > Self.interval
        else { return }
        lastDrawn = now
        isDrawn = true
        let line = Self.line(stage, done: done, total: total, elapsed: now - stageStart)
        writeAll("\r\u{1B}[K\(line)", to: 2)
    }

    /// Returns the line's text: percent, rate and time left, if the total is known.
    static func line(
        _ stage: OperationEvent.Stage,
        done: Int64,
        total: Int64?,
        elapsed: Duration
    ) -> String {
        let seconds = elapsed.inSeconds
        let rate = seconds > 0 ? Double(done) / seconds : 0
        guard let total, total > 0 else { return "\(stage.rawValue) …" }
        let part = min(1, Double(done) / Double(total))
        let filled = Int(part * Double(width))
        let bar =
            String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        // An archive may claim a size that takes longer than a number can hold.
        let left = rate > 0 ? Int(min(Double(max(0, total - done)) / rate, 1e9)) : 0
        let time = "\(left / 60):\(left % 60 < 10 ? "0" : "")\(left % 60)"
        return
            "\(stage.rawValue) [\(bar)] \(Int(part * 100)) %  \(byteCount(Int64(rate)))/s  \(time) left"
    }
}
