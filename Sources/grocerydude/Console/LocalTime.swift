internal import Backups
internal import Foundation
internal import Operations

/// A moment in answers: RFC 3339 in JSON, local date and time for people.
struct LocalTime: Encodable, CustomStringConvertible {
    private let text: String

    init(_ date: Date, in timeZone: LocalZone) {
        text = Timestamp.rfc3339(date, in: timeZone)
    }

    /// The date: `2026-11-21`.
    var day: String { String(text.prefix(10)) }

    /// The date and time: `2026-11-21 09:01:00`.
    var description: String { "\(day) \(text.dropFirst(11).prefix(8))" }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension Duration {
    /// The duration in the form for people: `1.2 s`, `3 min`, `26 h`, `5 days`.
    var shortText: String {
        switch inSeconds {
        case let seconds where seconds < 60: "\((seconds * 10).rounded() / 10) s"
        case let seconds where seconds < 3600: "\(Int(seconds / 60)) min"
        case let seconds where seconds < 48 * 3600: "\(Int(seconds / 3600)) h"
        case let seconds: "\(Int(seconds / 86_400)) days"
        }
    }
}
