import Backups
import Foundation
import TestSupport
import Testing

@testable import grocerydude

@Suite("A moment as text")
struct MomentTests {
    // 2026-11-22 12:00:00 UTC, a Sunday.
    private static let now = Date(timeIntervalSince1970: 1_795_348_800)
    private static let zone = LocalZone(offset: 3600)

    @Test("A moment is an age, a day, or a date on the local clock or another one")
    func forms() throws {
        let forms: [(String, Int)] = [
            ("7d", -604_800), ("1m", -2_678_400), ("3h", -10_800), ("1d3h", -97_200),
            ("-3d", -259_200), ("2 days ago", -172_800), ("1 day ago", -86_400),
            ("3 hours ago", -10_800), ("90 minutes ago", -5400), ("2 weeks ago", -1_209_600),
            ("1 month ago", -2_678_400), ("now", 0), ("today", -46_800), ("Yesterday", -133_200),
            ("sunday", -46_800), ("last sunday", -651_600), ("last Tuesday", -478_800),
            ("tue 13:00", -432_000), ("yesterday 13:00:30", -86_370),
            ("2026-11-22", -46_800), ("2026-11-22 12:30", -1800), ("2026-11-22T12:30:30", -1770),
            ("2026-11-22T12:30:00Z", 1800), ("2026-11-22T12:30:00+02:00", -5400),
        ]
        for (text, seconds) in forms {
            let moment = try Moment(text)
            let difference = moment.date(now: Self.now, in: Self.zone).timeIntervalSince(Self.now)
            #expect(difference == Double(seconds), "\(text)")
        }
    }

    @Test("A moment includes all of the second, minute or day that it names")
    func ends() throws {
        let ends: [(String, Double)] = [
            ("yesterday", 86_399.999), ("last tuesday", 86_399.999), ("today 09:00", 59.999),
            ("2026-11-22 12:30", 59.999), ("2026-11-22 12:30:15", 0.999), ("2 days ago", 0),
            ("2026-11-22T12:30:00Z", 0),
        ]
        for (text, length) in ends {
            let moment = try Moment(text)
            let (start, end) = (
                moment.date(now: Self.now, in: Self.zone), moment.end(now: Self.now, in: Self.zone)
            )
            #expect(abs(end.timeIntervalSince(start) - length) < 0.0001, "\(text)")
        }
    }

    @Test("A moment in an hour that clocks show twice ends in the second one")
    func twice() throws {
        // New York's clocks were put back at 06:00 UTC.
        let change = try #require(Timestamp.date(rfc3339: "2026-11-01T06:00:00Z"))
        let zone = LocalZone { $0 < change ? -14_400 : -18_000 }
        let moment = try Moment("2026-11-01 01:30")
        #expect(moment.date(now: Self.now, in: zone) == change - 1800)
        #expect(moment.end(now: Self.now, in: zone) == change + 1859.999)
    }

    @Test("A moment in any other form is refused with examples")
    func refused() throws {
        for text in [
            "", "7", "7w", "2026-13-01", "2026-11-31", "2026-02-29 12:00", "22.11.2026", "12:30",
            "last",
            "last yesterday",
            "next tuesday", "two days ago", "-2 days ago", "yesterday 25:00", "2 days", "someday",
        ] {
            #expect(throws: MomentError.self, "\(text)") { try Moment(text) }
        }
        let wrong = try Program().run("restore", "--at", "someday")
        #expect(wrong.status == 64 && wrong.errors.contains("'last tuesday'"), "\(wrong.errors)")
    }

    @Test("A moment and tags select the backups in a list")
    func list() throws {
        let program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
        for tag in ["a", "b"] {
            #expect(try program.run("backup", "--quiet", "--tag", tag).status == 0)
        }
        func names(_ options: String...) throws -> [[String]] {
            let outcome = try program.run(["list", "--json"] + options)
            let rows = try #require(outcome.json as? [[String: Any]])
            return rows.map { $0["tags"] as? [String] ?? [] }
        }
        #expect(try names() == [["b"], ["a"]])
        #expect(try names("--tag", "a") == [["a"]])
        #expect(try names("--tag", "a,b") == [])
        #expect(try names("--since", "1d").count == 2)
        #expect(try names("--since", "9999-01-01") == [])
        let none = try program.run("list", "--since", "9999-01-01")
        #expect(none.status == 0 && none.errors.contains("no backup matches"))
        for wrong in [["--since", "soon"], ["--trash", "--tag", "a"]] {
            #expect(try program.run(["list"] + wrong).status == 64)
        }
    }
}
