internal import Backups
internal import Operations

/// The last days in one line, a sign for each, and in JSON a day for each.
struct DayStrip: Encodable {
    private let days: [RunCalendar.Day]

    init(_ calendar: RunCalendar?) { days = calendar?.days ?? [] }

    func encode(to encoder: any Encoder) throws {
        try days.map { day -> JSONObject in
            [
                "date": day.isoText, "state": day.state.rawValue, "runs": day.runs,
                "missed": day.missed, "message": day.message,
            ]
        }.encode(to: encoder)
    }

    /// The signs of the days, and below them the meaning of each sign; none if nothing ran or was missed.
    var rows: [[String]] {
        let states = Set(days.map(\.state)).subtracting([.none]).sorted()
        guard let first = days.first, !states.isEmpty else { return [] }
        let signs = days.map(\.state.sign.description).joined()
        let words = states.map { "\($0.sign) \($0.word)" }
        return [
            ["\(days.count) days", "\(first.text) \(signs) today"],
            ["", words.joined(separator: ", ")],
        ]
    }
}

extension RunCalendar.State {
    /// The word for people.
    var word: String {
        switch self {
        case .none: "no run"
        case .partial: "in part"
        default: rawValue
        }
    }

    /// The sign that says the same without a colour.
    var sign: Sign {
        switch self {
        case .none: .nothing
        case .skipped: .skipped
        case .done: .done
        case .partial: Sign("~")
        case .missed: Sign("?")
        case .failed: .failed
        case .damaged: Sign("!")
        }
    }
}

extension RunCalendar.Day {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The day and the month: `21 Nov`.
    var text: String { "\(date.day) \(Self.months[date.month - 1])" }

    /// The day as `2026-11-21`.
    fileprivate var isoText: String {
        let (year, month, day) = date
        return [Timestamp.pad(year, 4), Timestamp.pad(month, 2), Timestamp.pad(day, 2)]
            .joined(separator: "-")
    }
}
