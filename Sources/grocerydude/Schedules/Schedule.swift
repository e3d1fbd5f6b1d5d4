internal import ArgumentParser
internal import Backups
internal import Foundation

/// The times of a job, in a form that systemd and cron can both express.
///
/// ```
/// hourly [:15]              daily [03:30[,15:30]]        weekly [sun[,wed] [04:00]]
/// every 15m | every 6h      monthly [1[,15] [04:00]]
/// oncalendar EXPRESSION     cron EXPRESSION              for one of them only
/// continuous [1m]           a service that looks at this interval; not for cron
/// ```
///
/// Times are local. A step that divides neither an hour nor a day is refused, since cron cannot express it. Expressions
/// are refused if systemd or cron would reject them, or would never run them.
struct Schedule: Equatable, Sendable, CustomStringConvertible {
    enum Rule: Equatable {
        case calendar(Days, [Time])
        /// An expression in systemd's own form (systemd.time(7)).
        case onCalendar(String)
        /// The five fields of crontab(5).
        case cron(String)
        /// A service that runs continuously, and looks at this interval, as typed: `1m`.
        case continuous(String)
    }

    enum Days: Equatable {
        case all
        /// The days of the week; 0 is Sunday.
        case week([Int])
        case month([Int])
    }

    /// The hours, or every hour if none is given, and the minutes of each.
    struct Time: Equatable {
        var hours: [Int]?
        var minutes: [Int]
    }

    let rule: Rule
    /// The canonical text, equal for all schedules with the same meaning.
    let description: String

    static let examples =
        "'daily 03:30', 'weekly sun 04:00', 'monthly 1 04:00', 'hourly', 'every 6h'"
    static let weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

    /// Parses a schedule; `nil` if the text is none.
    init?(_ text: String) {
        let words = Self.words(text)
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

    private static func words(_ text: String) -> [String] {
        text.split(whereSeparator: \.isWhitespace).map(String.init)
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
        // Shorter months have no later days, and skipping months would not be "monthly".
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
        // A single day in the past is valid in form.
        guard isSafe, CalendarExpression(systemd: words)?.hasDay(from: .distantPast) == true else {
            return nil
        }
        return (.onCalendar(expression), "oncalendar \(expression)")
    }

    private static func cron(_ words: [String]) -> (Rule, String)? {
        let expression = words.joined(separator: " ")
        let isSafe = words.count == 5 && expression.allSatisfy { $0.isWord(or: " *,-/") }
        guard isSafe, CalendarExpression(cron: words)?.hasDay(from: .distantPast) == true else {
            return nil
        }
        return (.cron(expression), "cron \(expression)")
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
    /// The interval of a continuous service, as typed; `nil` for a timed schedule.
    var pace: String? {
        if case .continuous(let pace) = rule { pace } else { nil }
    }

    /// The values for `OnCalendar=` (systemd.time(7)), one per line; `nil` if systemd cannot express them.
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

    /// The five fields of crontab(5), one line each; `nil` if cron cannot express them.
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

    /// Returns the first time after a date; `nil` if there is none, or if only the scheduler knows it.
    func next(after date: Date, in timeZone: LocalZone) -> Date? {
        times(after: date, in: timeZone).first { _ in true }
    }

    /// Returns the times after a date in order, each when it is asked for; none if only the scheduler knows them.
    ///
    /// A time that clocks skip is left out, and one that they show twice is there once, as with systemd.
    func times(after date: Date, in timeZone: LocalZone) -> some Sequence<Date> {
        let now = Timestamp.parts(of: date, in: timeZone)
        let today = Timestamp.daysSinceEpoch(now.year, now.month, now.day)
        let minutes = minutesOfDays
        return sequence(state: (day: today, rest: [Date](), last: date)) { state -> Date? in
            let end = state.day + Self.horizon
            while state.rest.isEmpty, state.day < end, let minutes {
                state.rest = minutes(state.day).compactMap { minute in
                    let local = Date(
                        timeIntervalSince1970: Double((state.day * 1440 + minute) * 60)
                    )
                    let time = timeZone.moment(local)
                    let isShown = time + Double(timeZone.offset(at: time)) == local
                    return isShown && time > state.last ? time : nil
                }
                .sorted(by: >)
                state.day += 1
            }
            guard let time = state.rest.popLast() else { return nil }
            state.last = time
            return time
        }
    }

    /// The days after which there is no next time: a 29th of February may be eight years away.
    private static let horizon = 8 * 366

    /// The minutes of each day, which is counted from 1970-01-01; `nil` if only the scheduler knows them.
    private var minutesOfDays: ((Int) -> [Int])? {
        switch rule {
        case .calendar(let days, let times): return { Self.minutes(days, times, onDay: $0) }
        case .cron(let text):
            return CalendarExpression(cron: Self.words(text)).map { $0.minutes(onDay:) }
        case .onCalendar(let text):
            guard let expression = CalendarExpression(systemd: Self.words(text)),
                !expression.isElsewhere
            else { return nil }
            return expression.minutes(onDay:)
        case .continuous: return nil
        }
    }

    /// Returns the minutes of a day, which is counted from 1970-01-01, at which a job runs.
    private static func minutes(_ days: Days, _ times: [Time], onDay day: Int) -> [Int] {
        let matches =
            switch days {
            case .all: true
            // Day 0 was a Thursday.
            case .week(let weekdays): weekdays.contains((day + 4) % 7)
            case .month(let numbers): numbers.contains(Timestamp.civil(day).2)
            }
        guard matches else { return [] }
        return times.flatMap { time in
            (time.hours ?? Array(0...23)).flatMap { hour in time.minutes.map { hour * 60 + $0 } }
        }
    }

    /// Returns whether the schedule has no time left after a date.
    func isOver(at date: Date) -> Bool {
        guard case .onCalendar(let text) = rule else { return false }
        return CalendarExpression(systemd: Self.words(text))?.hasDay(from: date) != true
    }
}

extension Character {
    /// Returns whether it is an ASCII letter or digit, or one of some other characters.
    func isWord(or others: String) -> Bool {
        isASCII && (isLetter || isNumber || others.contains(self))
    }

    /// The other characters without a special meaning in a shell or systemd.
    static let plain = "/-_.=:,@+"
}

/// The schedulers.
enum ScheduleKind: String, CaseIterable, ExpressibleByArgument {
    case systemdUser = "systemd-user"
    case systemdSystem = "systemd-system"
    case cron

    /// Returns the scheduler of this machine: systemd if it runs (the system's for root), or else cron.
    static func detected() throws -> ScheduleKind {
        // This is the check of sd_booted(3).
        if FileManager.default.fileExists(atPath: "/run/systemd/system") {
            return geteuid() == 0 ? .systemdSystem : .systemdUser
        }
        guard SystemProgram.path(of: "crontab") != nil else { throw ScheduleError.noKind }
        return .cron
    }
}
