/// A line of gitignore(5), which matches paths below a directory as Git does.
///
/// Names are bytes, and case matters. A pattern with a slash before its last character matches the whole path, any
/// other the name alone.
public struct PathPattern: Sendable, Equatable, CustomStringConvertible {
    /// The pattern as written.
    public let text: String
    /// Whether it includes again what an earlier pattern excluded.
    public let isNegated: Bool
    private let isForDirectories: Bool
    private let isForPaths: Bool
    /// The literal beginning.
    ///
    /// Git compares it first, and treats a `**` behind it as standing alone.
    private let prefix: [UInt8]
    private let rest: Glob

    /// Parses a pattern.
    ///
    /// - Throws: `PathPatternError` if it cannot match anything.
    public init(_ text: String) throws(PathPatternError) {
        func refuse(_ reason: String) -> PathPatternError {
            PathPatternError(pattern: text, reason: reason)
        }
        self.text = text
        var bytes = Self.withoutTrailingSpaces(Array(text.utf8))[...]
        guard !bytes.isEmpty else { throw refuse("it is empty") }
        guard bytes.first != UInt8(ascii: "#") else {
            throw refuse(
                "a line with '#' at its beginning is a comment: write '\\#' for a name with one"
            )
        }
        guard !bytes.contains(0), !bytes.contains(0x0A) else {
            throw refuse("it has a NUL or a line break in it")
        }
        isNegated = bytes.first == UInt8(ascii: "!")
        if isNegated { bytes = bytes.dropFirst() }
        isForDirectories = bytes.last == slash
        if isForDirectories { bytes = bytes.dropLast() }
        isForPaths = bytes.contains(slash)
        if bytes.first == slash { bytes = bytes.dropFirst() }
        guard !bytes.isEmpty else { throw refuse("it names nothing") }
        let names = bytes.split(separator: slash, omittingEmptySubsequences: false)
        guard !names.contains(where: { [[], [0x2E], [0x2E, 0x2E]].contains(Array($0)) }) else {
            throw refuse("no path below the stores directory has '.', '..' or '//' in it")
        }
        if let fault = Glob(bytes: Array(bytes)).fault { throw refuse(fault) }
        prefix = Array(bytes.prefix { !Self.specials.contains($0) })
        rest = Glob(bytes: Array(bytes.dropFirst(prefix.count)))
    }

    /// The characters with a special meaning.
    private static let specials = Set("*?[\\".utf8)

    /// Returns whether the pattern matches a path.
    ///
    /// The content of a matching directory is decided elsewhere.
    public func matches(_ path: RelativePath, isDirectory: Bool) -> Bool {
        guard isDirectory || !isForDirectories else { return false }
        let bytes = path.bytes
        let start = isForPaths ? 0 : bytes.lastIndex(of: slash).map { $0 + 1 } ?? 0
        let subject = bytes[start...]
        guard subject.starts(with: prefix) else { return false }
        let remainder = subject.dropFirst(prefix.count)
        return rest.bytes.isEmpty ? remainder.isEmpty : rest.matches(remainder)
    }

    /// Removes trailing spaces, unless a backslash protects them.
    private static func withoutTrailingSpaces(_ bytes: [UInt8]) -> [UInt8] {
        var (position, end) = (0, 0)
        while position < bytes.count {
            let isEscaped = bytes[position] == UInt8(ascii: "\\") && position + 1 < bytes.count
            let isSpace = bytes[position] == UInt8(ascii: " ")
            position += isEscaped ? 2 : 1
            if !isSpace { end = position }
        }
        return Array(bytes[..<end])
    }

    public var description: String { text }
}

/// An error that refuses a pattern.
public struct PathPatternError: ExplainedError, Equatable {
    public let pattern: String
    public let reason: String

    public var description: String {
        "the pattern '\(printable(bytes: pattern.utf8))' is refused: \(reason)"
    }
    public var hint: String? { "patterns are those of gitignore(5)" }
}

extension [PathPattern] {
    /// Returns whether a path is excluded.
    ///
    /// The last matching pattern wins; `nil` if none matches.
    ///
    /// Everything in an excluded directory is excluded, and must not be passed.
    public func verdict(on path: RelativePath, isDirectory: Bool) -> Bool? {
        last { $0.matches(path, isDirectory: isDirectory) }.map { !$0.isNegated }
    }

    /// Parses the patterns of a file: one per line, without empty lines and comments.
    ///
    /// - Throws: `PathPatternError`.
    public init(lines: String) throws(PathPatternError) {
        self = []
        let text = lines.hasPrefix("\u{FEFF}") ? lines.dropFirst() : lines[...]
        for line in text.split(whereSeparator: { $0 == "\n" || $0 == "\r\n" }) {
            guard !line.hasPrefix("#"), line.contains(where: { $0 != " " }) else { continue }
            append(try PathPattern(String(line)))
        }
    }
}

private let slash = UInt8(ascii: "/")
