internal import Files

/// HTML or SVG in which every text that is not a literal of this program is escaped.
///
/// Only literals are taken as they are; a text in an interpolation is escaped, whatever it is from.
struct Markup: ExpressibleByStringInterpolation {
    private(set) var html: String

    init(stringLiteral literal: String) { html = literal }

    init(stringInterpolation: StringInterpolation) { html = stringInterpolation.html }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var html = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            html.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        mutating func appendLiteral(_ literal: String) { html += literal }

        mutating func appendInterpolation(_ text: String) { html += Markup.escape(text) }

        mutating func appendInterpolation(_ number: Int) { html += String(number) }

        mutating func appendInterpolation(_ markup: Markup?) { html += markup?.html ?? "" }

        mutating func appendInterpolation(_ parts: [Markup]) {
            for part in parts { html += part.html }
        }
    }

    static func += (left: inout Markup, right: Markup) { left.html += right.html }

    /// Returns a text in a form that means itself in elements and in quoted attributes.
    ///
    /// Control characters and those that reverse text are shown as their numbers.
    private static func escape(_ text: String) -> String {
        printable(bytes: text.utf8).escaped(escapes)
    }

    private static let escapes: [Unicode.Scalar: String] = [
        "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;",
    ]
}
