internal import Files
internal import Processes
internal import Synchronization

/// The output of a program, as a limited number of lines that are safe to print.
final class CommandOutput: Sendable {
    private struct State {
        var reader = LineReader()
        var count = 0
        var lastLine: String?
        var complaint: String?
    }

    private let linesLimit: Int
    private let state = Mutex(State())

    init(linesLimit: Int) {
        self.linesLimit = linesLimit
    }

    /// The last line that was not empty.
    var lastLine: String? { state.withLock { $0.lastLine } }

    /// The last line that a log marks as an error or a warning; if there is none, the last line.
    var complaint: String? { state.withLock { $0.complaint ?? $0.lastLine } }

    /// Takes output, and returns the lines to show.
    func receive(_ bytes: [UInt8]) -> [String] {
        state.withLock { take($0.reader.lines(bytes), &$0) }
    }

    /// Returns the last line to show if it did not end with a newline.
    func finish() -> [String] {
        state.withLock { take($0.reader.finish().map { [$0] } ?? [], &$0) }
    }

    private func take(_ lines: [[UInt8]], _ state: inout State) -> [String] {
        var shown: [String] = []
        for line in lines where !line.isEmpty {
            let text = printable(bytes: line)
            state.lastLine = text
            if text.contains("ERROR") || text.contains("WARNING") { state.complaint = text }
            state.count += 1
            if state.count <= linesLimit { shown.append(text) }
            if state.count == linesLimit + 1 { shown.append("(more than that is not shown)") }
        }
        return shown
    }
}
