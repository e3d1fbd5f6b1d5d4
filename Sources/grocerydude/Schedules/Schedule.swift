internal import Foundation

/// A time to run something, in a form that systemd, cron and launchd can all express.
///
/// ```
/// hourly [:15]              daily [03:30[,15:30]]        weekly [sun[,wed] [04:00]]
/// every 15m | every 6h      monthly [1[,15] [04:00]]
/// oncalendar EXPRESSION     cron EXPRESSION              for one of them only
/// continuous [1m]           a service that looks so often; not for cron
/// ```
///
/// Times are local. A step that divides neither an hour nor a day is refused: cron cannot do it.
struct Schedule: Equatable, Sendable, CustomStringConvertible {
    enum Rule: Equatable {
        case calendar(Days, [Time])
        /// systemd's own form (systemd.time(7)).
        case onCalendar(String)
        /// The five fields of crontab(5).
        case cron(String)
        /// A service that always runs, and looks this often, as it is typed: `1m`.
        case continuous(String)
    }

    enum Days: Equatable {
        case all
        /// 0 is Sunday.
        case week([Int])
        case month([Int])
    }

    /// Hours, all of them if none is named, and the minutes of each.
    struct Time: Equatable {
        var hours: [Int]?
        var minutes: [Int]
    }

    let rule: Rule
    /// As it is written, in one form for all that mean the same.
    let description: String

    static let examples =
        "'daily 03:30', 'weekly sun 04:00', 'monthly 1 04:00', 'hourly', 'every 6h'"
    static let weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

    /// Reads a schedule; `nil` if the text is none.
    init?(_ text: String) {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let kind = words.first?.lowercased(), text.utf8.count <= 200 else { return nil }
        let rest = Array(words.dropFirst())
        let lowercased = rest.map { $0.lowercased() }
        let read: (rule: Rule, description: String)? =
            switch kind {
            case "hourly": Self.hourly(lowercased)
            case "every": Self.every(lowercased)
            case "daily": Self.onDays(kind, .all, lowercased)
            case "weekly": Self.weekly(lowercased)
            case "monthly": Self.monthly(lowercased)
            case "oncalendar": Self.onCalendar(rest)
            case "cron": Self.cron(rest)
            case "continuous": Self.continuous(lowercased)
            default: nil
            }
        guard let read else { return nil }
        (rule, description) = read
    }

    private static func hourly(_ words: [String]) -> (Rule, String)? {
        guard let word = words.first else {
            return (.calendar(.all, [Time(minutes: [0])]), "hourly")
        }
        guard words.count == 1, word.first == ":", let minute = number(word.dropFirst(), below: 60)
        else { return nil }
        return (.calendar(.all, [Time(minutes: [minute])]), "hourly :\(padded(minute))")
    }

    private static func every(_ words: [String]) -> (Rule, String)? {
        guard words.count == 1, let unit = words[0].last,
            let step = number(words[0].dropLast(), below: 60), step > 0
        else { return nil }
        let time: Time
        switch unit {
        case "m" where 60 % step == 0:
            time = Time(minutes: Array(stride(from: 0, to: 60, by: step)))
        case "h" where step < 24 && 24 % step == 0:
            time = Time(hours: Array(stride(from: 0, to: 24, by: step)), minutes: [0])
        default: return nil
        }
        return (.calendar(.all, [time]), "every \(step)\(unit)")
    }

    private static func weekly(_ words: [String]) -> (Rule, String)? {
        let names = words.first?.split(separator: ",", omittingEmptySubsequences: false) ?? ["mon"]
        let days = names.compactMap { weekdays.firstIndex(of: String($0)) }
        guard days.count == names.count else { return nil }
        let sorted = Set(days).sorted()
        let text = sorted.map { weekdays[$0] }.joined(separator: ",")
        return onDays("weekly \(text)", .week(sorted), Array(words.dropFirst()))
    }

    private static func monthly(_ words: [String]) -> (Rule, String)? {
        let texts = words.first?.split(separator: ",", omittingEmptySubsequences: false) ?? ["1"]
        // Not every month has more days, and to leave some months out is not "monthly".
        let days = texts.compactMap { number($0, below: 29) }.filter { $0 > 0 }
        guard days.count == texts.count else { return nil }
        let sorted = Set(days).sorted()
        let text = sorted.map(String.init).joined(separator: ",")
        return onDays("monthly \(text)", .month(sorted), Array(words.dropFirst()))
    }

    private static func onDays(_ kind: String, _ days: Days, _ words: [String]) -> (Rule, String)? {
        guard words.count <= 1 else { return nil }
        let texts =
            words.first?.split(separator: ",", omittingEmptySubsequences: false) ?? ["00:00"]
        var hoursOfMinute: [Int: Set<Int>] = [:]
        for text in texts {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let hour = number(parts[0], below: 24), parts[1].count == 2,
                let minute = number(parts[1], below: 60)
            else { return nil }
            hoursOfMinute[minute, default: []].insert(hour)
        }
        let times = hoursOfMinute.sorted { $0.key < $1.key }
            .map { Time(hours: $0.value.sorted(), minutes: [$0.key]) }
        let clock = hoursOfMinute.flatMap { minute, hours in
            hours.map { "\(padded($0)):\(padded(minute))" }
        }
        return (.calendar(days, times), "\(kind) \(clock.sorted().joined(separator: ","))")
    }

    private static func onCalendar(_ words: [String]) -> (Rule, String)? {
        let expression = words.joined(separator: " ")
        let isSafe = !words.isEmpty && expression.allSatisfy { $0.isWord(or: " *,-.:/~+_") }
        return isSafe ? (.onCalendar(expression), "oncalendar \(expression)") : nil
    }

    private static func cron(_ words: [String]) -> (Rule, String)? {
        let expression = words.joined(separator: " ")
        let isSafe = words.count == 5 && expression.allSatisfy { $0.isWord(or: " *,-/") }
        return isSafe ? (.cron(expression), "cron \(expression)") : nil
    }

    private static func continuous(_ words: [String]) -> (Rule, String)? {
        guard words.count <= 1, let pace = WaitTime(argument: words.first ?? "1m"),
            pace.duration > .zero
        else { return nil }
        return (.continuous(pace.text), "continuous \(pace.text)")
    }

    private static func number(_ text: Substring, below limit: Int) -> Int? {
        guard text.count <= 2, text.allSatisfy({ $0.isASCII && $0.isNumber }),
            let number = Int(text)
        else { return nil }
        return number < limit ? number : nil
    }

    private static func padded(_ number: Int) -> String {
        (number < 10 ? "0" : "") + String(number)
    }
}

extension Schedule {
    /// How often a service looks, as it is typed; `nil` if the clock starts it.
    var pace: String? {
        if case .continuous(let pace) = rule { pace } else { nil }
    }

    /// For `OnCalendar=` (systemd.time(7)), a line each; `nil` if systemd cannot.
    var systemd: [String]? {
        switch rule {
        case .onCalendar(let expression): return [expression]
        case .cron, .continuous: return nil
        case .calendar(let days, let times):
            let date =
                switch days {
                case .all: "*-*-*"
                case .week(let days):
                    days.map { Self.weekdays[$0].capitalized }.joined(separator: ",") + " *-*-*"
                case .month(let days): "*-*-" + days.map(Self.padded).joined(separator: ",")
                }
            return times.map { time in
                let hours = time.hours?.map(Self.padded).joined(separator: ",") ?? "*"
                let minutes = time.minutes.map(Self.padded).joined(separator: ",")
                return "\(date) \(hours):\(minutes):00"
            }
        }
    }

    /// The five fields of crontab(5), a line each; `nil` if cron cannot.
    var cron: [String]? {
        switch rule {
        case .onCalendar, .continuous: return nil
        case .cron(let expression): return [expression]
        case .calendar(let days, let times):
            func list(_ numbers: [Int]?) -> String {
                numbers?.map(String.init).joined(separator: ",") ?? "*"
            }
            var monthDays = "*", weekDays = "*"
            switch days {
            case .all: break
            case .week(let days): weekDays = list(days)
            case .month(let days): monthDays = list(days)
            }
            return times.map {
                "\(list($0.minutes)) \(list($0.hours)) \(monthDays) * \(weekDays)"
            }
        }
    }

    /// For `StartCalendarInterval` (launchd.plist(5)), whose missing keys stand for every value;
    /// `nil` if launchd cannot.
    var launchd: [[String: Int]]? {
        guard case .calendar(let days, let times) = rule else { return nil }
        let dates: [[String: Int]] =
            switch days {
            case .all: [[:]]
            case .week(let days): days.map { ["Weekday": $0] }
            case .month(let days): days.map { ["Day": $0] }
            }
        let clocks: [[String: Int]] = times.flatMap { time in
            time.minutes.flatMap { minute in
                time.hours?.map { ["Hour": $0, "Minute": minute] } ?? [["Minute": minute]]
            }
        }
        return dates.flatMap { date in clocks.map { date.merging($0) { $1 } } }
    }

    /// Returns the first time after a date; `nil` if only systemd or cron can tell.
    func next(after date: Date, in timeZone: TimeZone) -> Date? {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        return launchd?.compactMap { entry in
            calendar.nextDate(
                after: date,
                matching: DateComponents(
                    day: entry["Day"],
                    hour: entry["Hour"],
                    minute: entry["Minute"],
                    second: 0,
                    weekday: entry["Weekday"].map { $0 + 1 }
                ),
                matchingPolicy: .nextTime
            )
        }.min()
    }
}
