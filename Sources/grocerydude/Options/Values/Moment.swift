internal import ArgumentParser
internal import Backups
internal import Foundation

/// A moment as people type it: `2026-11-21 09:01` in local time, or RFC 3339.
struct Moment: ExpressibleByArgument, Equatable {
    private let text: String
    /// The moment, or as UTC the local time that it names.
    private let date: Date
    private let isLocal: Bool

    init?(argument: String) {
        text = argument
        if let date = Timestamp.date(rfc3339: argument) {
            (self.date, isLocal) = (date, false)
            return
        }
        let form = argument.replacing(" ", with: "T", maxReplacements: 1)
        for ending in ["Z", ":00Z", "T00:00:00Z"] {
            guard let date = Timestamp.date(rfc3339: form + ending) else { continue }
            (self.date, isLocal) = (date, true)
            return
        }
        return nil
    }

    /// Returns the moment, by the clocks of a time zone if it does not name one.
    func date(in timeZone: TimeZone) -> Date {
        isLocal ? Timestamp.moment(date, in: timeZone) : date
    }
}
