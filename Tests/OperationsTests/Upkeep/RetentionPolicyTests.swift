internal import Foundation
internal import SystemPackage
internal import TestSupport
internal import Testing

@testable internal import Backups
@testable internal import Operations

/// restic's own answers, which Fixtures/retention/make.py asked for.
private struct Answers: Decodable {
    struct Zone: Decodable {
        var zone: String
        var moments: [Moment]
        var policies: [Policy]
    }
    struct Moment: Decodable {
        var time: String
        var offset: Int
        var tags: [String]
    }
    struct Policy: Decodable {
        var policy: String
        var keep: [Kept]
    }
    struct Kept: Decodable, Equatable {
        var time: String
        var reasons: [String]
    }
    var zones: [Zone]

    static func read() throws -> Answers {
        try JSONDecoder().decode(
            Answers.self,
            from: Data(Fixtures.read("retention/retention.json"))
        )
    }
}

extension RetentionPolicy {
    private static func required<Value>(_ value: Value?) throws -> Value { try #require(value) }

    /// From restic's options.
    fileprivate init(options: String) throws {
        self.init()
        let words = options.split(separator: " ").map(String.init)
        for (name, value) in zip(words, words.dropFirst()) where name.hasPrefix("--keep-") {
            let name = String(name.dropFirst("--keep-".count))
            if name == "tag" {
                tags.append(value.split(separator: ",").map(String.init))
            } else if name == "within" {
                within = try Self.required(CalendarSpan(value))
            } else if name.hasPrefix("within-") {
                let period = try #require(Period(rawValue: String(name.dropFirst(7))))
                withinPeriods[period] = try Self.required(CalendarSpan(value))
            } else {
                counts[try #require(Period(rawValue: name))] = try Self.required(Int(value))
            }
        }
    }
}

@Suite("A retention policy")
struct RetentionPolicyTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    @Test("keeps what restic keeps, for restic's reasons, in five time zones")
    func likeRestic() throws {
        var count = 0
        for zone in try Answers.read().zones {
            let rules = try #require(TimeZone(identifier: zone.zone))
            let timeZone = LocalZone { rules.secondsFromGMT(for: $0) }
            let times = zone.moments.map { $0.time }
            let moments = try zone.moments.map { moment in
                RetentionPolicy.Moment(
                    date: try #require(Timestamp.date(rfc3339: moment.time)),
                    offset: moment.offset,
                    tags: Set(moment.tags)
                )
            }
            let order = moments.indices.sorted { moments[$0].date > moments[$1].date }
            for answer in zone.policies {
                let policy = try RetentionPolicy(options: answer.policy)
                let reasons = policy.reasons(
                    for: order.map { moments[$0] },
                    now: now,
                    timeZone: timeZone
                )
                // That the oldest is kept while there is room came to restic after 0.14.
                let kept = zip(order, reasons).map {
                    Answers.Kept(time: times[$0], reasons: $1.filter { !$0.hasPrefix("oldest ") })
                }.filter { !$0.reasons.isEmpty }
                #expect(
                    kept.sorted { $0.time < $1.time } == answer.keep.sorted { $0.time < $1.time },
                    "\(zone.zone): \(answer.policy)"
                )
                count += 1
            }
        }
        #expect(count > 100)
    }

    @Test("with -1 keeps one of every period")
    func allOfAPeriod() throws {
        let moments = [50, 49, 26, 25, 2].map {
            RetentionPolicy.Moment(date: Date(timeIntervalSince1970: $0 * 3600), offset: 0)
        }
        let policy = try RetentionPolicy(options: "--keep-daily -1")
        let reasons = policy.reasons(for: moments, now: now, timeZone: .utc)
        #expect(reasons.map(\.isEmpty) == [false, true, false, true, false])
        let all = try RetentionPolicy(options: "--keep-last -1")
        #expect(all.reasons(for: moments, now: now, timeZone: .utc).allSatisfy { !$0.isEmpty })
    }

    @Test("says of the oldest that it is kept for that")
    func oldest() throws {
        let moments = [3, 2, 1].map {
            RetentionPolicy.Moment(date: Date(timeIntervalSince1970: $0 * 3600), offset: 0)
        }
        let policy = try RetentionPolicy(options: "--keep-daily 2")
        #expect(
            policy.reasons(for: moments, now: now, timeZone: .utc)
                == [["daily snapshot"], [], ["oldest daily snapshot"]]
        )
    }

    @Test("counts spans from the newest that is not in the future, and keeps what is")
    func future() throws {
        let moments = [now + 1e6, now - 60, now - 7200].map {
            RetentionPolicy.Moment(date: $0, offset: 0)
        }
        let policy = try RetentionPolicy(options: "--keep-within 1h")
        #expect(
            policy.reasons(for: moments, now: now, timeZone: .utc)
                == [["within 1h"], ["within 1h"], []]
        )
        #expect(policy.reasons(for: [], now: now, timeZone: .utc).isEmpty)
        #expect(
            policy.reasons(for: [moments[0]], now: now, timeZone: .utc) == [["within 1h"]]
        )
    }

    @Test("of tags asks for all of one list, or with an empty one for none")
    func tags() throws {
        let moments = [["a", "b"], ["a"], []].map {
            RetentionPolicy.Moment(date: now - 60, offset: 0, tags: Set($0))
        }
        var policy = RetentionPolicy()
        policy.tags = [["b", "a"], [""]]
        #expect(
            policy.reasons(for: moments, now: now, timeZone: .utc)
                == [["has tags [b, a]"], [], ["has tags []"]]
        )
    }

    @Test(
        "A span of the calendar is read as it is written",
        arguments: ["2y5m7d3h", "1h", "10d", "3m2h"]
    )
    func spans(text: String) {
        #expect(CalendarSpan(text)?.description == text)
    }

    @Test(
        "What is no span of the calendar is none",
        arguments: ["", "5", "d", "1w", "1d1d", "-1d", "1.5d", "1d ", "9999999d"]
    )
    func noSpans(text: String) {
        #expect(CalendarSpan(text) == nil)
    }

    @Test("A day that its month has not runs over into the next one")
    func overflow() throws {
        let end = try #require(Timestamp.date(rfc3339: "2026-03-31T12:00:00Z"))
        #expect(
            CalendarSpan("1m")?.before(end, in: .utc)
                == Timestamp.date(rfc3339: "2026-03-03T12:00:00Z")
        )
    }

    @Test("An empty policy says so")
    func empty() throws {
        #expect(RetentionPolicy().isEmpty)
        #expect(try !RetentionPolicy(options: "--keep-last 1").isEmpty)
        #expect(try RetentionPolicy(options: "--keep-last 0").isEmpty)
    }
}
