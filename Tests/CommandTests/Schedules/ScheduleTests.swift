import Backups
import Foundation
import TestSupport
import Testing

@testable import grocerydude

@Suite("A schedule")
struct ScheduleTests {
    private static let forms: [(text: String, same: String, systemd: [String], cron: [String])] = [
        ("hourly", "hourly", ["*-*-* *:00:00"], ["0 * * * *"]),
        ("hourly :05", "hourly :05", ["*-*-* *:05:00"], ["5 * * * *"]),
        ("every 20m", "every 20m", ["*-*-* *:00,20,40:00"], ["0,20,40 * * * *"]),
        ("every 8h", "every 8h", ["*-*-* 00,08,16:00:00"], ["0 0,8,16 * * *"]),
        ("daily", "daily 00:00", ["*-*-* 00:00:00"], ["0 0 * * *"]),
        ("  Daily   3:30 ", "daily 03:30", ["*-*-* 03:30:00"], ["30 3 * * *"]),
        (
            "daily 15:30,03:30,4:00", "daily 03:30,04:00,15:30",
            ["*-*-* 04:00:00", "*-*-* 03,15:30:00"], ["0 4 * * *", "30 3,15 * * *"]
        ),
        ("weekly", "weekly mon 00:00", ["Mon *-*-* 00:00:00"], ["0 0 * * 1"]),
        (
            "weekly wed,SUN 04:00", "weekly sun,wed 04:00", ["Sun,Wed *-*-* 04:00:00"],
            ["0 4 * * 0,3"]
        ),
        ("monthly", "monthly 1 00:00", ["*-*-01 00:00:00"], ["0 0 1 * *"]),
        ("monthly 15,1 04:05", "monthly 1,15 04:05", ["*-*-01,15 04:05:00"], ["5 4 1,15 * *"]),
    ]

    @Test("A schedule means the same to systemd and to cron", arguments: forms.indices)
    func rendering(index: Int) throws {
        let form = Self.forms[index]
        let schedule = try #require(Schedule(form.text))
        #expect(schedule.description == form.same)
        #expect(schedule.systemd == form.systemd)
        #expect(schedule.cron == form.cron)
        #expect(Schedule(schedule.description) == schedule)
    }

    @Test("A schedule may be an expression of systemd or cron, for that one only")
    func raw() throws {
        let systemd = try #require(Schedule("oncalendar Mon..Fri *-*-* 03:30"))
        #expect(systemd.systemd == ["Mon..Fri *-*-* 03:30"])
        #expect(systemd.cron == nil)
        let cron = try #require(Schedule("cron */5  1-3 * jan MON"))
        #expect(cron.cron == ["*/5 1-3 * jan MON"])
        #expect(cron.systemd == nil)
        let next = try #require(Schedule("cron 10,30 4 1,15 * fri"))
        func days(_ count: Int) -> Date { Date(timeIntervalSince1970: Double(count) * 86_400) }
        // Day 0 was a Thursday; on the 1st cron runs whatever the day of the week.
        let first = 4.0 * 3600 + 600
        #expect(next.next(after: days(0), in: .utc) == days(0) + first)
        #expect(next.next(after: days(0) + first, in: .utc) == days(0) + first + 1200)
        #expect(next.next(after: days(0) + first + 1200, in: .utc) == days(1) + first)
        let leap = try #require(Schedule("cron 0 0 29 2 *"))
        #expect(leap.next(after: days(1095), in: .utc) == days(789 + 1461))
        let always = try #require(Schedule("Continuous"))
        #expect(always.description == "continuous 1m" && always.pace == "1m")
        #expect(always.cron == nil && always.systemd == nil)
        #expect(Schedule("continuous 30s")?.pace == "30s")
    }

    @Test(
        "A schedule is refused if it is invalid, or cron could not run it",
        arguments: [
            "", "sometimes", "daily 24:00", "daily 3", "daily 3:5", "daily 03:60", "daily 03:30 x",
            "daily ,", "hourly 5", "hourly :60", "hourly :5 x", "every 7m", "every 5h", "every 24h",
            "every 0m", "every 90m", "every", "every 5", "weekly sunday", "weekly 04:00",
            "weekly sun,", "monthly 0", "monthly 29", "monthly 1,", "monthly x", "cron * * * *",
            "cron @daily", "cron * * * * *\nx", "cron * * * * $(x)", "cron * * * * %",
            "continuous 0s", "continuous x", "continuous 1m 2m",
            "oncalendar", "oncalendar a\"b", "daily ٣:٣٠", "every -5m",
            // Fields that cron does not take.
            "cron 60 * * * *", "cron * 24 * * *", "cron * * 0 * *", "cron * * 32 * *",
            "cron * * * 13 *", "cron * * * 0 *", "cron * * * * 8", "cron * * * * frob",
            "cron 5-1 * * * *", "cron */0 * * * *", "cron 5/10 * * * *", "cron 1,,2 * * * *",
            "cron 1- * * * *", "cron -1 * * * *", "cron *2 * * * *", "cron mon * * * *",
            "cron 1-2-3 * * * *", "cron */5/2 * * * *", "cron , * * * *",
            // Days that never come.
            "cron 0 0 30 2 *", "cron 0 0 30,31 feb *", "cron 0 0 31 4,6,9,11 *",
            "cron 0 0 31 2-2 */2", "oncalendar *-02-30", "oncalendar *-2,2-30,31 04:00",
            "oncalendar Mon 2026-11-25", "oncalendar 2027-02-29", "oncalendar 25:00",
        ]
    )
    func refused(text: String) {
        #expect(Schedule(text) == nil)
    }

    @Test(
        "A schedule for cron is accepted if its time comes at some date",
        arguments: [
            "0 0 29 2 *", "0 0 30 2 1", "0 0 30 2 fri", "59 23 31 12 7", "0 0 31 4,5 *",
            "0-59/7 */2 1-31 jan-MAR 1-5", "0,30 1,2-4,*/6 * * mon,wed-fri",
        ]
    )
    func possible(expression: String) {
        #expect(Schedule("cron \(expression)") != nil)
    }

    @Test(
        "A schedule of systemd is accepted if systemd accepts it and would run it",
        .enabled(if: Tool.isInstalled("systemd-analyze"), "systemd is not installed")
    )
    func systemd() throws {
        let expressions = [
            "Mon..Fri *-*-* 03:30", "*-02-30", "*-02~30", "25:00", "10:60", "*-*-*/2", "*:*/5",
            "*:0/5", "Sat..Mon 10:00", "Mon-Fri 10:00", "Mon, 10:00", "Mon,,Tue", ",Mon", "Mon..",
            "*-1..3-5", "30-01-01", "10", "2030", "1-1", "*-*~1", "*~1-2", "weekly UTC", "Mon",
            "Monday *-12-25", "*-*-* 03:30 Europe/Berlin", "03:30 CET", "hourly Mars/X", "0:0/0",
            "*-*-* *:*:00.5", "12:*:30/20.5", "*-0-1", "*-13-1", "Feb", "2027-02-29", "4:0.5",
            "2028-02-29", "Tue 2028-02-29", "Mon 2028-02-29", "1969-1-1", "2200-1-1", "2199-12-31",
            "*-*-31/3", "12", "12:30:60", "1..3,5:30", "anually", "Semi-Annually", "*-2,4-30,31",
            "Mon Tue", "05:00 *-*-*", "24:00", "Wed..Wed,Mon 04:00", "*-*-* 4-6:00", "*-*-5-7",
            "*-1/3-1", "100-1-1", "04:00:00/15", "04:00:10..20/5.5", "*:*", "*-*-*", "**-*-*",
            "4,5:00,30", "mon,TUE..thu 4:0", "Fri *-02-29", "*-*~29", "*-*~4/3", "*-*~3/4",
            "*-*-30/1", "*-*-30/2", "*-*-10..12/5", "04:00:00/0.5", "*-*~1..3", "Mon-Wed-Fri",
            "Thurs 4:00", "*-*-* 4", "23/1:00", "22/1:0", "4:10:59/1", "2198/1-1-1", "4:0:00/0",
            "2199/1-1-1", "minutely", "hourly", "never", "2100..2104-02-29", "2101..2103-02-29",
        ]
        let answers = try Tool.run(
            "sh",
            [
                "-c",
                """
                for one; do
                    systemd-analyze calendar "$one" 2>/dev/null | sed -n 's/.*Next elapse: *//p' |
                        { read -r next && [ "$next" != never ] && echo yes || echo no; }
                done
                """, "sh",
            ] + expressions,
            environment: ["TZ": "UTC", "LC_ALL": "C"]
        ).text.split(separator: "\n")
        try #require(answers.count == expressions.count)
        for (expression, answer) in zip(expressions, answers) {
            #expect(
                (Schedule("oncalendar \(expression)") != nil) == (answer == "yes"),
                "\(expression)"
            )
        }
    }

    @Test("A schedule ends after its last day has passed")
    func over() throws {
        let day = Date(timeIntervalSince1970: 1_795_608_000)
        for (text, isOver) in [
            ("oncalendar 2026-11-24 10:00", true), ("oncalendar 2026-11-25", false),
            ("oncalendar 2026-*-1..24 10:00", false), ("oncalendar Mon 2026-11-*", false),
            ("oncalendar 2020..2025-1-1", true), ("oncalendar *-1-1", false), ("daily", false),
            ("cron 0 0 1 1 *", false),
        ] {
            #expect(try #require(Schedule(text)).isOver(at: day) == isOver, "\(text)")
        }
    }

    @Test(
        "A schedule's next run is the time that systemd gives",
        .enabled(if: Tool.isInstalled("systemd-analyze"), "systemd is not installed"),
        arguments: forms.indices
    )
    func next(index: Int) throws {
        let schedule = try #require(Schedule(Self.forms[index].text))
        for (base, text) in [
            (1_795_262_400, "2026-11-21 12:00:00 UTC"), (1_798_761_599, "2026-12-31 23:59:59 UTC"),
        ] {
            let answers = try (schedule.systemd ?? []).map { expression in
                let answer = try Tool.check(
                    "systemd-analyze",
                    ["calendar", "--base-time", text, expression],
                    environment: ["TZ": "UTC", "LC_ALL": "C"]
                )
                let line = answer.split(separator: "\n").first { $0.contains("Next elapse:") }
                return String(try #require(line).suffix(23))
            }
            let next = schedule.next(after: Date(timeIntervalSince1970: Double(base)), in: .utc)
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = .gmt
            formatter.dateFormat = "yyyy-MM-dd HH:mm:ss 'UTC'"
            #expect(try formatter.string(from: #require(next)) == answers.min())
        }
    }

    /// The zone of Berlin, whose clocks change on the last Sundays of March and October.
    private static let berlin: LocalZone = {
        let zone = TimeZone(identifier: "Europe/Berlin")
        return LocalZone { zone?.secondsFromGMT(for: $0) ?? 0 }
    }()

    @Test(
        "A schedule's times are the minutes that clocks show, the first of two, at changes of clocks too"
    )
    func times() throws {
        /// A schedule, and whether it has a minute: of the day of the month, those left in it, the weekday, and the day.
        let models: [(String, (Int, Int, Int, Int) -> Bool)] = [
            ("daily 02:30", { $3 == 150 }), ("daily 00:00,23:59", { $3 == 0 || $3 == 1439 }),
            ("hourly :15", { $3 % 60 == 15 }), ("every 20m", { $3 % 20 == 0 }),
            ("every 6h", { $3 % 360 == 0 }),
            ("weekly sun 02:00,03:00", { $2 == 0 && [120, 180].contains($3) }),
            ("monthly 28 02:30", { $0 == 28 && $3 == 150 }),
            ("cron 0 2 31 * *", { $0 == 31 && $3 == 120 }),
            ("cron 5 2 29 * sun", { ($0 == 29 || $2 == 0) && $3 == 125 }),
            ("oncalendar *-*~1 02:30", { $1 == 0 && $3 == 150 }),
            (
                "oncalendar Sat,Sun 2,3:0/30",
                { [6, 0].contains($2) && [120, 150, 180, 210].contains($3) }
            ),
            ("oncalendar hourly", { $3 % 60 == 0 }), ("oncalendar monthly", { $0 == 1 && $3 == 0 }),
        ]
        // 2026-03-20 and 2026-10-20, 0:00 UTC.
        for start in [1_773_964_800, 1_792_454_400] {
            var shown: Set<Int> = []
            var minutes: [(Date, local: Int)] = []
            for minute in 0..<(45 * 1440) {
                let date = Date(timeIntervalSince1970: Double(start + minute * 60))
                let local = (start + Self.berlin.offset(at: date)) / 60 + minute
                if shown.insert(local).inserted { minutes.append((date, local)) }
            }
            for (text, has) in models {
                let expected = minutes.filter { _, local in
                    let day = local / 1440
                    let (year, month, number) = Timestamp.civil(day)
                    let next = Timestamp.daysSinceEpoch(
                        month == 12 ? year + 1 : year,
                        month % 12 + 1,
                        1
                    )
                    return has(number, next - 1 - day, (day + 4) % 7, local % 1440)
                }.map(\.0)
                let before = Date(timeIntervalSince1970: Double(start - 1))
                let times = try #require(Schedule(text)).times(after: before, in: Self.berlin)
                #expect(Array(times.prefix(expected.count)) == expected, "\(text)")
            }
        }
    }

    @Test(
        "A schedule of systemd has the times that systemd gives, at a change of clocks too",
        .enabled(if: Tool.isInstalled("systemd-analyze"), "systemd is not installed"),
        arguments: [
            "Mon..Fri *-*-* 03:30", "*-*-* 02:30", "*-*~1 02:15", "*:0/20", "Sun 2,3:00",
            "quarterly",
            "weekly", "2026..2028-3,10~7/1 2:0", "Sat,Sun *-10-25..31 00,02:59", "semi-annually",
        ],
        // The days before changes of clocks.
        [1_774_695_600, 1_792_836_000]
    )
    func elapses(expression: String, base: Int) throws {
        let answer = try Tool.check(
            "systemd-analyze",
            ["calendar", "--iterations=8", "--base-time", "@\(base)", expression],
            environment: ["TZ": "Europe/Berlin", "LC_ALL": "C"]
        )
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy-MM-dd HH:mm:ss zzz"
        let expected = answer.split(separator: "\n").filter { $0.contains("(in UTC): ") }
            .compactMap { formatter.date(from: String($0.suffix(23))) }
        let start = Date(timeIntervalSince1970: Double(base))
        let schedule = try #require(Schedule("oncalendar \(expression)"))
        #expect(Array(schedule.times(after: start, in: Self.berlin).prefix(8)) == expected)
    }
}

@Suite("A crontab")
struct CrontabTests {
    private let block = "# BEGIN job (x)\n1 2 * * * run\n# END job\n"

    @Test("A crontab keeps every other line as it is, whatever its content")
    func others() throws {
        let others: [[UInt8]] = [
            [], Array("MAILTO=x\r\n\n 5 * * * * a\n".utf8), Array("# no end".utf8),
            [0xFF, 0xFE, 0x0A, 0x0A], Array("# BEGIN job2 (x)\n# END job2\n".utf8),
        ]
        for before in others {
            var crontab = Crontab(before)
            try crontab.add(block, named: "job")
            let ending = before.isEmpty || before.last == 0x0A ? [] : [UInt8(0x0A)]
            #expect(crontab.bytes == before + ending + Array(block.utf8))
            #expect(try crontab.block(named: "job") == block)
            try crontab.remove("job")
            #expect(crontab.bytes == before + ending)
        }
    }

    @Test("A crontab has each job once, at its old place")
    func replaced() throws {
        var crontab = Crontab(Array("a\n\(block)b\n".utf8))
        let other = "# BEGIN job (y)\n3 4 * * * run\n5 6 * * * run\n# END job\n"
        try crontab.add(other, named: "job")
        #expect(crontab.bytes == Array("a\n\(other)b\n".utf8))
    }

    @Test("A crontab with an unterminated job is not changed")
    func broken() {
        for text in ["# BEGIN job (x)\nmine\n", "# BEGIN job (x)\n# BEGIN other (x)\n# END job\n"] {
            var crontab = Crontab(Array(text.utf8))
            #expect(throws: ScheduleError.self) { try crontab.add(block, named: "job") }
            #expect(throws: ScheduleError.self) { try crontab.remove("job") }
            #expect(crontab.bytes == Array(text.utf8))
        }
    }
}
