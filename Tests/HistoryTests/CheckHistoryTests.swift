import Foundation
import History
import SystemPackage
import TestSupport
import Testing

@Suite("What is known from checks")
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
        size: Int64 = 100
    ) -> RunLog.Check {
        RunLog.Check(
            address: "/mnt/nas",
            name: "a.zip",
            size: size,
            time: Self.morning + hour * 3600,
            depth: depth,
            part: part,
            damage: damage
        )
    }

    /// What comes of checks that are recorded one after the other.
    private func history(_ checks: RunLog.Check...) throws -> CheckHistory {
        try log.keepChecks(of: [], in: "/mnt/nas")
        for check in checks { try log.recordCheck(check) }
        return CheckHistory(try log.lastChecks(in: "/mnt/nas")["a.zip"] ?? [], size: 100)
    }

    @Test("is no more than the part that was read, until all parts were")
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
        let other = try history(first, second, check(.part, .one(2, of: 3), hour: 3, size: 99))
        #expect(other.deepest == second)
    }

    @Test("has the deepest that found it whole beside the last")
    func deepest() throws {
        let restore = check(.restore, hour: 1)
        let part = check(.part, .share("10%"), hour: 3)
        let history = try history(restore, check(.data, hour: 2), part)
        #expect(history.last == part && history.deepest == restore && history.damaged == nil)
        let none = try self.history()
        #expect(none.last == nil && none.deepest == nil && none.damaged == nil)
    }

    @Test("has damage that stands until a check that would find it does not")
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

    @Test("does not forget damage for a share at random that does not meet it")
    func share() throws {
        let damaged = check(.part, .share("10%"), hour: 1, damage: "x")
        #expect(try history(damaged, check(.part, .share("10%"), hour: 2)).damaged == damaged)
        #expect(try history(damaged, check(.data, hour: 2)).damaged == nil)
        let whole = check(.part, .share("10%"), hour: 2)
        #expect(try history(check(.part, .share("10%"), hour: 1), whole).last == whole)
        // It was another archive that was damaged.
        let other = check(.part, .share("10%"), hour: 1, damage: "x", size: 99)
        #expect(try history(other, whole).last == whole)
    }

    @Test("gives every part its turn")
    func turns() throws {
        try log.keepChecks(of: [], in: "/mnt/nas")
        var parts: [Int] = []
        for hour in 0..<8 {
            let checks = try log.lastChecks(in: "/mnt/nas")["a.zip"] ?? []
            let part = CheckHistory(checks, size: 100).nextPart(of: 4)
            parts.append(part)
            // A clock that is set back makes no difference.
            try log.recordCheck(check(.part, .one(part, of: 4), hour: Double(-hour)))
        }
        #expect(Set(parts.prefix(4)) == [1, 2, 3, 4])
        #expect(parts.suffix(4) == parts.prefix(4))
    }
}
