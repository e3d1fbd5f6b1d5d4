internal import ArgumentParser
internal import Backups
internal import Foundation

/// A moment as people type it: `2026-11-21 09:01` in local time, or RFC 3339.
struct Moment: ExpressibleByArgument, Equatable {
    /// As it was typed.
    let text: String
    /// The moment, or as UTC the local time that it names.
    private let date: Date
    private let isLocal: Bool
    /// Seconds that a local time stands for: a second, a minute or a day.
    private let span: TimeInterval

    init?(argument: String) {
        text = argument
        if let date = Timestamp.date(rfc3339: argument) {
            (self.date, isLocal, span) = (date, false, 0)
            return
        }
        let form = argument.replacing(" ", with: "T", maxReplacements: 1)
        for (ending, span) in [("Z", 1), (":00Z", 60), ("T00:00:00Z", 86_400)] {
            guard let date = Timestamp.date(rfc3339: form + ending) else { continue }
            (self.date, isLocal, self.span) = (date, true, TimeInterval(span))
            return
        }
        return nil
    }

    /// Returns the moment, by the clocks of a time zone if it does not name one.
    func date(in timeZone: TimeZone) -> Date {
        isLocal ? Timestamp.moment(date, in: timeZone) : date
    }

    /// Returns the last moment of the second, minute or day that a local time names: a list tells minutes,
    /// and whoever types one of them means what was made in it.
    func end(in timeZone: TimeZone) -> Date {
        isLocal ? Timestamp.moment(date + span, in: timeZone) - 0.001 : date
    }
}
