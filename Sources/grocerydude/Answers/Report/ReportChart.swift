internal import Backups
internal import Files
internal import Foundation

/// A picture of values over time, with a text that says the same.
///
/// Only lines are in the picture: it is stretched to any width, so that all texts are beside it.
struct ReportChart {
    private static let width = 600.0
    private static let height = 100.0

    /// The time of the left edge, and that of the right one.
    let span: ClosedRange<Date>
    let timeZone: LocalZone

    /// Creates a chart from the oldest to the newest of some times; `nil` if they do not differ.
    init?(_ times: [Date], in timeZone: LocalZone) {
        guard let first = times.min(), let last = times.max(), first < last else { return nil }
        span = first...last
        self.timeZone = timeZone
    }

    private func x(_ time: Date) -> Double {
        Self.width * time.timeIntervalSince(span.lowerBound)
            / span.upperBound.timeIntervalSince(span.lowerBound)
    }

    /// Returns a short tick for each time, as a lane of a time line.
    func lane(_ times: [Date], label: String) -> Markup {
        let places = Set(times.map { Self.rounded(x($0)) }).sorted()
        let path = places.map { "M\(Self.text($0)) 4V24" }.joined()
        return """
            <svg class="lane" viewBox="-2 0 604 28" preserveAspectRatio="none" role="img" \
            aria-label="\(label)"><path d="\(path)"/></svg>
            """
    }

    /// Returns a line through values, or a bar for each of them, from zero up.
    ///
    /// - Parameters:
    ///   - values: the values, oldest first.
    ///   - isOfBars: whether each value is a bar.
    ///   - jumps: the times at which the value jumped.
    ///   - label: the text for people who do not see it.
    /// - Returns: the picture.
    func picture(
        _ values: [(time: Date, value: Int64)],
        isOfBars: Bool = false,
        jumps: [Date] = [],
        label: String
    ) -> Markup {
        let top = max(1, Double(values.map(\.value).max() ?? 1))
        let points = Self.thinned(
            values.map {
                (Self.rounded(x($0.time)), Self.rounded(Self.height * (1 - Double($0.value) / top)))
            }
        )
        let path = points.enumerated().map { index, point in
            let (x, y) = (Self.text(point.0), Self.text(point.1))
            return isOfBars ? "M\(x) 100V\(y)" : "\(index == 0 ? "M" : "L")\(x) \(y)"
        }.joined()
        let marks = jumps.map { "M\(Self.text(Self.rounded(x($0)))) 0V100" }.joined()
        let jumpPath: Markup? = marks.isEmpty ? nil : "<path class=\"jump\" d=\"\(marks)\"/>"
        return """
            <svg viewBox="-2 -3 604 106" preserveAspectRatio="none" role="img" \
            aria-label="\(label)"><path d="\(path)"/>\(jumpPath)</svg>
            """
    }

    /// The dates of both edges.
    var ends: Markup {
        let days = [span.lowerBound, span.upperBound].map { LocalTime($0, in: timeZone).day }
        return "<div class=\"ends faint\"><span>\(days[0])</span><span>\(days[1])</span></div>"
    }

    private static func rounded(_ number: Double) -> Double { (number * 10).rounded() / 10 }

    private static func text(_ number: Double) -> String {
        number == number.rounded() ? "\(Int(number))" : "\(number)"
    }

    /// Returns the lowest and the highest of the points that are drawn at one place, so that no picture grows beyond
    /// what a screen shows.
    private static func thinned(_ points: [(Double, Double)]) -> [(Double, Double)] {
        guard points.count > Int(width) else { return points }
        var thinned: [(Double, Double)] = []
        var rest = points[...]
        while let first = rest.first {
            let column = rest.prefix { Int($0.0) == Int(first.0) }
            rest = rest.dropFirst(column.count)
            let ends = [column.min { $0.1 < $1.1 }, column.max { $0.1 < $1.1 }].compactMap(\.self)
            thinned += ends.count == 2 && ends[0] == ends[1] ? [ends[0]] : ends
        }
        return thinned
    }
}

/// Returns a number with its thousands apart: `1,234,567`.
func grouped(_ number: Int64) -> String {
    var digits = String(number.magnitude)
    var groups: [Substring] = []
    while digits.count > 3 {
        groups.insert(digits.suffix(3), at: 0)
        digits.removeLast(3)
    }
    return (number < 0 ? "−" : "") + ([digits[...]] + groups).joined(separator: ",")
}
