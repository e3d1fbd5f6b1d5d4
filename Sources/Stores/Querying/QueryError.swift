public import Files

/// Why a question in SQL was not answered; nothing was changed.
public enum QueryError: ExplainedError, Equatable {
    /// SQLite makes no sense of it, or cannot do it.
    case wrong(reason: String, near: Place?, nearest: String?)
    /// It would change something, or reach for something else.
    case refused(String)
    /// It took longer than it may.
    case tookTooLong(Duration)

    /// Where in the text the fault is.
    public struct Place: Sendable, Equatable {
        /// Both count from 1; the column in characters.
        public var line: Int
        public var column: Int
        /// The rest of the line, or its beginning.
        public var text: String
    }

    public var description: String {
        switch self {
        case .wrong(let reason, let place?, _):
            "the query is wrong in line \(place.line), column \(place.column), at '\(place.text)': \(reason)"
        case .wrong(let reason, nil, _): "the query failed: \(reason)"
        case .refused(let reason): "the query is refused before it runs: \(reason)"
        case .tookTooLong(let limit):
            "the query took longer than \(limit.components.seconds) s, and was ended"
        }
    }

    public var hint: String? {
        switch self {
        case .wrong(_, _, let nearest): nearest.map { "did you mean '\($0)'?" }
        case .refused: "nothing here writes; to change a store, use a copy of it"
        case .tookTooLong: "ask for less, or allow more time"
        }
    }
}

extension QueryError.Place {
    /// Finds the place of a byte of a text.
    init(ofByte offset: Int, in text: String) {
        let bytes = Array(text.utf8)
        let before = bytes.prefix(offset)
        let newline = UInt8(ascii: "\n")
        line = before.count { $0 == newline } + 1
        let start = before.lastIndex(of: newline).map { $0 + 1 } ?? 0
        column = String(decoding: before[start...], as: UTF8.self).count + 1
        let rest = bytes.dropFirst(offset).prefix { $0 != newline }
        let shown = String(decoding: rest, as: UTF8.self)
        self.text = shown.count > 24 ? "\(shown.prefix(24))…" : shown
    }
}
