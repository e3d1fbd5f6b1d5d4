internal import ArgumentParser
internal import Backups
internal import Foundation
internal import Operations

/// A moment in the past as people type it: how long ago, or a date.
struct SinceTime: ExpressibleByArgument {
    private enum Form {
        case ago(CalendarSpan)
        /// What a local clock shows, as if it were UTC.
        case local(Date)
        case moment(Date)
    }

    private let form: Form

    init?(argument: String) {
        if let span = CalendarSpan(argument) {
            form = .ago(span)
        } else if let moment = Timestamp.date(rfc3339: argument) {
            form = .moment(moment)
        } else if let local = Timestamp.date(rfc3339: Self.completed(argument)) {
            form = .local(local)
        } else {
            return nil
        }
    }

    /// Returns a local date, with a time or without, as RFC 3339 has one in UTC.
    private static func completed(_ text: String) -> String {
        let text = text.replacing(" ", with: "T")
        return text + (text.count == 10 ? "T00:00:00Z" : text.count == 16 ? ":00Z" : "Z")
    }

    /// Returns the moment, for a run that begins now.
    func date(now: Date, in timeZone: TimeZone) -> Date {
        switch form {
        case .ago(let span): span.before(now, in: timeZone)
        case .moment(let date): date
        case .local(let date): Timestamp.moment(date, in: timeZone)
        }
    }
}
