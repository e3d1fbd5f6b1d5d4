import Files
import Foundation
import History
import SystemPackage
import TestSupport
import Testing

@Suite("RunLog")
struct RunLogTests {
    let sandbox: Sandbox
    let path: FilePath
    let log: RunLog
    private static let morning = Date(timeIntervalSince1970: 1_795_251_660.123)

    init() throws {
        sandbox = try Sandbox()
        path = sandbox.path("State/grocerydude/log.sqlite")
        log = RunLog(path)
    }

    private func entry(
        _ command: String = "backup",
        profile: String? = nil,
        began: Date = morning,
        exitCode: Int32 = 0
    ) -> RunLog.Entry {
        RunLog.Entry(
            command: command,
            profile: profile,
            stores: "/srv/data",
            remote: "/mnt/nas",
            began: began,
            duration: .milliseconds(1234),
            exitCode: exitCode
        )
    }

    @Test("The run log returns its records with the newest first, also to the next process")
    func records() throws {
        #expect(try log.entries() == [])
        #expect(!sandbox.exists("State"))
        var first = entry()
        first.message = "1 problem: 'a'"
        first.backup = "[2026-Nov-21] 09.01 AM Stores.zip"
        first.size = 1 << 40
        first.bytes = 1 << 41
        try log.record(first)
        let second = entry("check", profile: "photos", exitCode: 20)
        try log.record(second)
        #expect(try RunLog(path).entries() == [second, first])
        #expect(try RunLog(path).entries(limit: 1) == [second])
        #expect(try FileInfo(of: path).mode == 0o600)
        #expect(try Directory.open(path.removingLastComponent()).names().count == 1)
    }

    @Test("The run log finds runs by their properties")
    func filters() throws {
        try log.record(entry())
        try log.record(entry("check", profile: "photos"))
        try log.record(entry(profile: "photos", exitCode: 1))
        func count(_ change: (inout RunLog.Filter) -> Void) throws -> Int {
            var filter = RunLog.Filter()
            change(&filter)
            return try log.entries(filter).count
        }
        #expect(try count { _ in } == 3)
        #expect(try count { $0.command = "backup" } == 2)
        #expect(try count { $0.profile = "photos" } == 2)
        #expect(try count { $0.isSuccess = true } == 2)
        #expect(try count { $0.stores = "/srv/data" } == 3)
        #expect(try count { $0.stores = "/srv/other" } == 0)
        #expect(try count { $0.remote = "/mnt/other" } == 0)
    }

    @Test("The run log has the run that ended a failure, though it changed nothing")
    func endOfTrouble() throws {
        try log.record(entry("sync", exitCode: 10))
        try log.note(uneventful: entry("sync", profile: "photos"))
        try log.note(uneventful: entry("sync"))
        try log.note(uneventful: entry("sync"))
        #expect(try log.entries().map(\.exitCode) == [0, 10])
        let quiet = try log.uneventful("sync", "/srv/data", "/mnt/nas")
        #expect(Set(quiet.map(\.profile)) == ["photos", nil])
    }

    @Test("The run log keeps the last runs of each kind, whatever the clock shows")
    func prunes() throws {
        let log = RunLog(path, entriesLimit: 10)
        try log.record(entry("check"))
        // Each a day earlier: a clock that is set back again and again.
        for number in 0..<12 {
            try log.record(entry(began: Self.morning - Double(number) * 86_400))
        }
        var filter = RunLog.Filter()
        filter.command = "backup"
        let entries = try log.entries(filter)
        #expect(entries.count == 10)
        #expect(entries.first?.began == Self.morning - 11 * 86_400)
        #expect(entries.last?.began == Self.morning - 2 * 86_400)
        #expect(try log.entries().count == 11)
        // The last success stays, however many failures follow.
        for _ in 0..<12 {
            try log.record(entry(exitCode: 10))
        }
        filter.isSuccess = true
        #expect(try log.entries(filter).map(\.began) == [Self.morning - 11 * 86_400])
    }

    @Test("The run log keeps the last check of each depth for each file of a backup")
    func checks() throws {
        #expect(try log.lastChecks(of: ["a"]).isEmpty)
        func check(
            _ name: String,
            _ depth: RunLog.Check.Depth,
            _ part: RunLog.Check.Part? = nil,
            at offset: TimeInterval = 0,
            address: String = "/mnt/nas",
            damage: String? = nil
        ) -> RunLog.Check {
            RunLog.Check(
                id: String(name.prefix(1)),
                address: address,
                name: name,
                time: Self.morning + offset,
                depth: depth,
                part: part,
                damage: damage
            )
        }
        try log.recordCheck(check("a.zip", .data))
        try log.recordCheck(check("a.zip", .part, .one(3, of: 7), at: 1))
        try log.recordCheck(check("a.zip", .data, at: 2, damage: "segment 3 of 'x'"))
        try log.recordCheck(check("b.zip", .restore, at: 3))
        try log.recordCheck(check("a.zip", .restore, address: "rclone:box:"))
        let checks = try RunLog(path).lastChecks(of: ["a", "b", "c"])
        #expect(
            checks == [
                "a": [
                    check("a.zip", .part, .one(3, of: 7), at: 1),
                    check("a.zip", .data, at: 2, damage: "segment 3 of 'x'"),
                    check("a.zip", .restore, address: "rclone:box:"),
                ],
                "b": [check("b.zip", .restore, at: 3)],
            ]
        )
        #expect(RunLog.Check.Depth.part < .data && RunLog.Check.Depth.data < .restore)
        // More than SQLite takes arguments at once.
        let many = Set((0..<2000).map { "\($0)" }).union(["b"])
        #expect(try Array(log.lastChecks(of: many).keys) == ["b"])
    }

    @Test(
        "The run log moves a damaged log aside and starts an empty one",
        arguments: ["no database", "SQLite format 3\0 and then nothing", "in the middle"]
    )
    func damage(kind: String) throws {
        if kind == "in the middle" {
            var long = entry()
            long.message = String(repeating: "x", count: 20_000)
            try log.record(long)
            var bytes = try sandbox.read("State/grocerydude/log.sqlite")
            bytes.replaceSubrange(4096..., with: repeatElement(0x55, count: bytes.count - 4096))
            try sandbox.write(bytes, to: "State/grocerydude/log.sqlite")
        } else {
            try sandbox.write(kind, to: "State/grocerydude/log.sqlite")
        }
        try sandbox.write("of the damaged one", to: "State/grocerydude/log.sqlite-journal")
        let log = RunLog(path)
        try log.record(entry())
        #expect(try log.entries() == [entry()])
        #expect(log.putAside == path.removingLastComponent().appending("log.sqlite.damaged"))
        #expect(sandbox.exists("State/grocerydude/log.sqlite.damaged"))
        // A second one takes the place of the first.
        try sandbox.write("again", to: "State/grocerydude/log.sqlite")
        #expect(try RunLog(path).entries() == [])
        #expect(try sandbox.read("State/grocerydude/log.sqlite.damaged") == Array("again".utf8))
    }

    @Test("The run log reports why it cannot be written, and stays undamaged")
    func unwritable() throws {
        try sandbox.write("a file", to: "Other")
        let log = RunLog(sandbox.path("Other/log.sqlite"))
        #expect(throws: (any Error).self) { try log.record(entry()) }
        try sandbox.directory("State/grocerydude/log.sqlite")
        let error = HistoryError.unreadable(path, reason: "unable to open database file")
        #expect(throws: error) { try RunLog(path).record(entry()) }
        #expect(throws: error) { try RunLog(path).entries() }
        #expect(sandbox.exists("State/grocerydude/log.sqlite"))
    }

    @Test("The run log gives up on a log that another process keeps locked")
    func locked() throws {
        try log.record(entry())
        let writer = try StoreApplication(on: path, "BEGIN EXCLUSIVE")
        #expect(throws: HistoryError.busy(path)) {
            try RunLog(path, busyTimeout: .zero).record(entry())
        }
        try writer.run("COMMIT")
        try RunLog(path, busyTimeout: .zero).record(entry())
        writer.kill()
    }
}
