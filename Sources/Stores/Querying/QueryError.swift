public import Files

/// The reason why a query in SQL was not answered; nothing was changed.
public enum QueryError: ExplainedError, Equatable {
    /// SQLite cannot parse the query, or cannot run it.
    case wrong(reason: String, near: Place?, nearest: String?)
    /// The query would change something, or access something else.
    case refused(String)
    /// The query exceeded its time limit.
    case tookTooLong(Duration)

    /// The position of the error in the text.
    public struct Place: Sendable, Equatable {
        /// The line and the column both count from 1; the column counts characters.
        public var line: Int
        public var column: Int
        /// The rest of the line, or the beginning of the rest.
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
        case .tookTooLong: "ask for less, or allow more time with '--timeout'"
        }
    }
}

extension QueryError.Place {
    /// Finds the line and the column of a byte in a text.
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
