/// A line of gitignore(5): which paths below a directory it means, as Git reads it.
///
/// Names are bytes, and case counts. A pattern with a slash that is not its last letter is about the whole
/// path, any other about the name alone.
public struct PathPattern: Sendable, Equatable, CustomStringConvertible {
    /// As it was written.
    public let text: String
    /// Whether it takes in again what an earlier one has left out.
    public let isNegated: Bool
    private let isForDirectories: Bool
    private let isForPaths: Bool
    /// The beginning without wildcards; Git compares it first, and lets a `**` behind it stand alone.
    private let prefix: [UInt8]
    private let rest: Glob

    /// Reads a pattern.
    ///
    /// - Throws: `PathPatternError` if it could match nothing.
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
        if let fault = Glob(bytes: Array(bytes)).fault { throw refuse(fault) }
        prefix = Array(bytes.prefix { !Self.specials.contains($0) })
        rest = Glob(bytes: Array(bytes.dropFirst(prefix.count)))
    }

    /// Letters that may mean others, or themselves.
    private static let specials = Set("*?[\\".utf8)

    /// Returns whether it means a path; whether something in a directory that it means is left out is
    /// another matter.
    public func matches(_ path: RelativePath, isDirectory: Bool) -> Bool {
        guard isDirectory || !isForDirectories else { return false }
        let bytes = path.bytes
        let start = isForPaths ? 0 : bytes.lastIndex(of: slash).map { $0 + 1 } ?? 0
        let subject = bytes[start...]
        guard subject.starts(with: prefix) else { return false }
        let remainder = subject.dropFirst(prefix.count)
        return rest.bytes.isEmpty ? remainder.isEmpty : rest.matches(remainder)
    }

    /// Takes spaces off the end, unless a backslash keeps them.
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

/// Why a pattern is refused.
public struct PathPatternError: ExplainedError, Equatable {
    public let pattern: String
    public let reason: String

    public var description: String {
        "the pattern '\(printable(bytes: pattern.utf8))' is refused: \(reason)"
    }
    public var hint: String? { "patterns are those of gitignore(5)" }
}

extension [PathPattern] {
    /// Returns whether a path is left out, by the last pattern that means it; `nil` if none does.
    ///
    /// Of something in a directory that is left out nothing is asked: it is left out too.
    public func verdict(on path: RelativePath, isDirectory: Bool) -> Bool? {
        last { $0.matches(path, isDirectory: isDirectory) }.map { !$0.isNegated }
    }

    /// Reads the patterns of a file: one a line, without empty lines and comments.
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
