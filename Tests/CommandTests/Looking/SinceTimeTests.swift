import Foundation
import TestSupport
import Testing

@testable import grocerydude

@Suite("A moment in the past, as it is typed")
struct SinceTimeTests {
    @Test("is a span of the calendar before now, or a date on the local clock or any other")
    func forms() throws {
        let zone = try #require(TimeZone(secondsFromGMT: 3600))
        // 2026-11-22 12:00:00 UTC.
        let now = Date(timeIntervalSince1970: 1_795_348_800)
        let forms: [(String, Int)] = [
            ("7d", -604_800), ("1m", -2_678_400), ("3h", -10_800), ("1d3h", -97_200),
            ("2026-11-22", -46_800), ("2026-11-22 12:30", -1800), ("2026-11-22T12:30:30", -1770),
            ("2026-11-22T12:30:00Z", 1800), ("2026-11-22T12:30:00+02:00", -5400),
        ]
        for (text, seconds) in forms {
            let since = try #require(SinceTime(argument: text), "\(text)")
            let difference = since.date(now: now, in: zone).timeIntervalSince(now)
            #expect(difference == Double(seconds), "\(text)")
        }
    }

    @Test("is nothing else")
    func refused() {
        for text in [
            "", "7", "yesterday", "7w", "2026-13-01", "2026-11-31x", "22.11.2026", "12:30",
        ] {
            #expect(SinceTime(argument: text) == nil, "\(text)")
        }
    }

    @Test("and tags choose what is listed")
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
        #expect(try names("--reverse") == [["a"], ["b"]])
        #expect(try names("--tag", "a") == [["a"]])
        #expect(try names("--tag", "a,b") == [])
        #expect(try names("--since", "1d").count == 2)
        #expect(try names("--since", "9999-01-01") == [])
        let none = try program.run("list", "--since", "9999-01-01")
        #expect(none.status == 0 && none.errors.contains("no backup is like that"))
        for wrong in [["--since", "soon"], ["--sort", "color"], ["--trash", "--tag", "a"]] {
            #expect(try program.run(["list"] + wrong).status == 64)
        }
    }
}
