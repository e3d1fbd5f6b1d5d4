internal import Files
internal import Operations

/// A line on the terminal with the progress of long work; it appears after a second.
struct ProgressBar {
    private static let patience = Duration.seconds(1)
    private static let interval = Duration.milliseconds(100)
    private static let width = 24

    private let start = ContinuousClock.now
    private var progress: Progress?
    private var lastDrawn = ContinuousClock.now
    private var isDrawn = false

    mutating func begin(_ stage: OperationEvent.Stage, total: Int64?) {
        progress = Progress(stage, total: total)
        draw()
    }

    mutating func advance(_ bytes: Int64) {
        progress?.advance(bytes)
        draw()
    }

    /// Erases the line.
    mutating func clear() {
        guard isDrawn else { return }
        writeAll("\r\u{1B}[K", to: 2)
        isDrawn = false
    }

    private mutating func draw() {
        let now = ContinuousClock.now
        guard let progress, now - start > Self.patience,
            !isDrawn || now - lastDrawn > Self.interval
        else { return }
        lastDrawn = now
        isDrawn = true
        writeAll("\r\u{1B}[K\(Self.line(progress, at: now))", to: 2)
    }

    /// Returns the line's text: percentage, rate and remaining time, if the total is known.
    static func line(_ progress: Progress, at now: ContinuousClock.Instant) -> String {
        guard let part = progress.part else {
            return "\(progress.stage.rawValue) \(Sign.ellipsis)"
        }
        let filled = Int(part * Double(width))
        let bar =
            String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        let left = progress.secondsLeft(at: now).map {
            "  \($0 / 60):\($0 % 60 < 10 ? "0" : "")\($0 % 60) left"
        }
        let rate = byteCount(Int64(progress.rate(at: now)))
        return
            "\(progress.stage.rawValue) [\(bar)] \(Int(part * 100)) %  \(rate)/s\(left ?? "")"
    }
}
