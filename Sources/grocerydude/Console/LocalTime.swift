internal import Backups
internal import Foundation
internal import Operations

/// A moment as answers have it: RFC 3339 in JSON, local date and time for people.
struct LocalTime: Encodable, CustomStringConvertible {
    private let text: String

    init(_ date: Date, in timeZone: TimeZone) {
        text = Timestamp.rfc3339(date, in: timeZone)
    }

    /// The date: `2026-11-21`.
    var day: String { String(text.prefix(10)) }

    /// Date and time: `2026-11-21 09:01:00`.
    var description: String { "\(day) \(text.dropFirst(11).prefix(8))" }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
