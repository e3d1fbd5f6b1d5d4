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

    @Test("says the same to systemd, cron and launchd", arguments: forms.indices)
    func rendering(index: Int) throws {
        let form = Self.forms[index]
        let schedule = try #require(Schedule(form.text))
        #expect(schedule.description == form.same)
        #expect(schedule.systemd == form.systemd)
        #expect(schedule.cron == form.cron)
        #expect(Schedule(schedule.description) == schedule)
        // launchd's entries stand for the same times as cron's fields.
        #expect(try Set(#require(schedule.launchd)) == Set(form.cron.flatMap(Self.launchd)))
    }

    /// What a line of cron is for launchd: each combination of its fields' values.
    private static func launchd(_ cron: String) -> [[String: Int]] {
        let names = ["Minute", "Hour", "Day", "Month", "Weekday"]
        return zip(names, cron.split(separator: " ")).reduce([[:]]) { entries, field in
            field.1 == "*"
                ? entries
                : entries.flatMap { entry in
                    field.1.split(separator: ",").map { value in
                        entry.merging([field.0: Int(value) ?? -1]) { $1 }
                    }
                }
        }
    }

    @Test("may be an expression of systemd's or cron's own, for that alone")
    func raw() throws {
        let systemd = try #require(Schedule("oncalendar Mon..Fri *-*-* 03:30"))
        #expect(systemd.systemd == ["Mon..Fri *-*-* 03:30"])
        #expect(systemd.cron == nil && systemd.launchd == nil)
        let cron = try #require(Schedule("cron */5  1-3 * jan MON"))
        #expect(cron.cron == ["*/5 1-3 * jan MON"])
        #expect(cron.systemd == nil && cron.launchd == nil)
        #expect(cron.next(after: Date(), in: .gmt) == nil)
        let always = try #require(Schedule("Continuous"))
        #expect(always.description == "continuous 1m" && always.pace == "1m")
        #expect(always.cron == nil && always.systemd == nil && always.launchd == nil)
        #expect(Schedule("continuous 30s")?.pace == "30s")
    }

    @Test(
        "is refused where it is none, or cron could not do it",
        arguments: [
            "", "sometimes", "daily 24:00", "daily 3", "daily 3:5", "daily 03:60", "daily 03:30 x",
            "daily ,", "hourly 5", "hourly :60", "hourly :5 x", "every 7m", "every 5h", "every 24h",
            "every 0m", "every 90m", "every", "every 5", "weekly sunday", "weekly 04:00",
            "weekly sun,", "monthly 0", "monthly 29", "monthly 1,", "monthly x", "cron * * * *",
            "cron @daily", "cron * * * * *\nx", "cron * * * * $(x)", "cron * * * * %",
            "continuous 0s", "continuous x", "continuous 1m 2m",
            "oncalendar", "oncalendar a\"b", "daily ٣:٣٠", "every -5m",
        ]
    )
    func refused(text: String) {
        #expect(Schedule(text) == nil)
    }

    @Test(
        "comes next when systemd says so",
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
            let next = schedule.next(after: Date(timeIntervalSince1970: Double(base)), in: .gmt)
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = .gmt
            formatter.dateFormat = "yyyy-MM-dd HH:mm:ss 'UTC'"
            #expect(try formatter.string(from: #require(next)) == answers.min())
        }
    }
}

@Suite("A crontab")
struct CrontabTests {
    private let block = "# BEGIN job (x)\n1 2 * * * run\n# END job\n"

    @Test("keeps every other line as it is, whatever is in it")
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

    @Test("has a job once, where it was")
    func replaced() throws {
        var crontab = Crontab(Array("a\n\(block)b\n".utf8))
        let other = "# BEGIN job (y)\n3 4 * * * run\n5 6 * * * run\n# END job\n"
        try crontab.add(other, named: "job")
        #expect(crontab.bytes == Array("a\n\(other)b\n".utf8))
    }

    @Test("is not changed where a job has no end")
    func broken() {
        for text in ["# BEGIN job (x)\nmine\n", "# BEGIN job (x)\n# BEGIN other (x)\n# END job\n"] {
            var crontab = Crontab(Array(text.utf8))
            #expect(throws: ScheduleError.self) { try crontab.add(block, named: "job") }
            #expect(throws: ScheduleError.self) { try crontab.remove("job") }
            #expect(crontab.bytes == Array(text.utf8))
        }
    }
}
