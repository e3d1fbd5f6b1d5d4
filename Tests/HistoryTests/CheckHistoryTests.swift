import Files
import Foundation
import History
import SystemPackage
import TestSupport
import Testing

@Suite("The history of checks")
struct CheckHistoryTests {
    let sandbox: Sandbox
    let log: RunLog
    private static let morning = Date(timeIntervalSince1970: 1_795_251_660)

    init() throws {
        sandbox = try Sandbox()
        log = RunLog(sandbox.path("log.sqlite"))
    }

    private func check(
        _ depth: RunLog.Check.Depth,
        _ part: RunLog.Check.Part? = nil,
        hour: Double,
        damage: String? = nil,
        id: String = "1"
    ) -> RunLog.Check {
        RunLog.Check(
            id: id,
            address: "/mnt/nas",
            name: "a.zip",
            time: Self.morning + hour * 3600,
            depth: depth,
            part: part,
            damage: damage
        )
    }

    /// What comes of checks that are recorded one after the other.
    private func history(_ checks: RunLog.Check...) throws -> CheckHistory {
        let log = RunLog(sandbox.path("\(UInt64.random(in: 0 ... .max)).sqlite"))
        for check in checks { try log.recordCheck(check) }
        return CheckHistory(try log.lastChecks(of: ["1"])["1"] ?? [])
    }

    @Test("The history covers only the parts that were read, until all were")
    func parts() throws {
        let first = check(.part, .one(1, of: 3), hour: 1)
        let second = check(.part, .one(3, of: 3), hour: 2)
        let third = check(.part, .one(2, of: 3), hour: 3)
        let some = try history(first, second, check(.part, .one(2, of: 7), hour: 2.5))
        #expect(some.deepest?.depth == .part)
        let all = try history(first, second, third)
        #expect(all.last == third)
        // All of it was whole when the first part was read, or later.
        #expect(all.deepest == check(.data, hour: 1))
        let again = try history(first, second, third, check(.part, .one(1, of: 3), hour: 4))
        #expect(again.deepest == check(.data, hour: 2))
        let damaged = check(.part, .one(3, of: 3), hour: 2, damage: "x")
        #expect(try history(first, damaged, third).deepest == third)
        // Of another archive by the same name nothing is known.
        let other = try history(first, second, check(.part, .one(2, of: 3), hour: 3, id: "2"))
        #expect(other.deepest == second)
    }

    @Test("The history keeps the deepest successful check beside the last check")
    func deepest() throws {
        let restore = check(.restore, hour: 1)
        let part = check(.part, .share("10%"), hour: 3)
        let history = try history(restore, check(.data, hour: 2), part)
        #expect(history.last == part && history.deepest == restore && history.damaged == nil)
        let none = try self.history()
        #expect(none.last == nil && none.deepest == nil && none.damaged == nil)
    }

    @Test("The history keeps damage until a check that would find it finds none")
    func damage() throws {
        let part = check(.part, .one(3, of: 7), hour: 1, damage: "x")
        #expect(try history(part, check(.part, .one(4, of: 7), hour: 2)).damaged == part)
        #expect(try history(part, check(.part, .one(3, of: 7), hour: 2)).damaged == nil)
        #expect(try history(part, check(.data, hour: 2)).damaged == nil)
        let data = check(.data, hour: 1, damage: "x")
        #expect(try history(data, check(.part, .one(3, of: 7), hour: 2)).damaged == data)
        #expect(try history(data, check(.data, hour: 2)).damaged == nil)
        #expect(try history(data, check(.restore, hour: 2)).damaged == nil)
        let restore = check(.restore, hour: 1, damage: "x")
        #expect(try history(restore, check(.data, hour: 2)).damaged == restore)
        #expect(try history(restore, part, check(.data, hour: 2)).damaged == restore)
    }

    @Test("The history keeps damage if a random share does not reach it")
    func share() throws {
        let damaged = check(.part, .share("10%"), hour: 1, damage: "x")
        #expect(try history(damaged, check(.part, .share("10%"), hour: 2)).damaged == damaged)
        #expect(try history(damaged, check(.data, hour: 2)).damaged == nil)
        let whole = check(.part, .share("10%"), hour: 2)
        #expect(try history(check(.part, .share("10%"), hour: 1), whole).last == whole)
        // It was another archive that was damaged.
        let other = check(.part, .share("10%"), hour: 1, damage: "x", id: "2")
        #expect(try history(other, whole).last == whole)
    }

    @Test("Checks of shares reach every part in turn")
    func turns() throws {
        var parts: [Int] = []
        for hour in 0..<8 {
            let checks = try log.lastChecks(of: ["1"])["1"] ?? []
            let part = CheckHistory(checks).nextPart(of: 4)
            parts.append(part)
            // A clock that is set back makes no difference.
            try log.recordCheck(check(.part, .one(part, of: 4), hour: Double(-hour)))
        }
        #expect(Set(parts.prefix(4)) == [1, 2, 3, 4])
        #expect(parts.suffix(4) == parts.prefix(4))
    }

    @Test(
        "The history uses the checks of the exact file, and otherwise those of the file before it"
    )
    func copies() {
        func check(_ name: String, in address: String, hour: Double) -> RunLog.Check {
            RunLog.Check(
                id: "1",
                address: address,
                name: name,
                time: Self.morning + hour * 3600,
                depth: .data,
                damage: name
            )
        }
        var checks = [
            check("a.zip", in: "/here", hour: 1), check("a.zip", in: "/there", hour: 2),
            check("b.zip", in: "/here", hour: 3),
        ]
        func damage(_ name: String, _ others: Set<String>) -> String? {
            CheckHistory(of: name, 5, in: "/here", among: checks, isCopy: others.contains).damaged
                .map { "\($0.address)/\($0.name)" }
        }
        #expect(damage("a.zip", ["a.zip", "b.zip"]) == "/here/a.zip")
        // Renamed, or copied: the other one is still there, and its damage is its own.
        #expect(damage("c.zip", ["c.zip"]) == "/here/b.zip")
        #expect(damage("c.zip", ["b.zip", "c.zip"]) == "/there/a.zip")
        // A file of another size was not renamed.
        checks[2].size = 4
        #expect(damage("c.zip", ["c.zip"]) == "/there/a.zip")
        let own = CheckHistory(
            of: "c.zip",
            5,
            in: "/here",
            among: [checks[2]],
            isCopy: ["b.zip", "c.zip"].contains
        )
        #expect(own.last == nil)
    }
}
