import Files
import Foundation
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// Kills the commands of sync at their calls that change the disk, or lets one fail, and sees what the next
/// runs make of it on two machines.
@Suite(
    "A sync that fails at a system call",
    .enabled(if: InjectedRun.isPossible, "no program can be traced here")
)
struct SyncCrashTests {
    private static let scenarios: [SyncFaultScenario] = {
        let text = ProcessInfo.processInfo.environment["GROCERYDUDE_FAULTS_SCENARIO"]
        return SyncFaultScenario.all.filter { scenario in
            text.map { scenario.name.contains($0) } ?? true
        }
    }()

    /// The calls of an undisturbed run, by scenario.
    private static let calls = Mutex<[String: [SystemCall]]>([:])

    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    @Test(
        "The next runs make both machines equal and lose nothing after a system call killed a sync",
        arguments: scenarios
    )
    func killed(_ scenario: SyncFaultScenario) throws {
        let calls = try undisturbed(scenario).filter(\.isChange)
        let points = sample(calls, 0.5)
        for point in points {
            var injection = Injection()
            injection.kill = point.number
            let trial = try trial(scenario)
            let run = try disturb(scenario, trial, injection)
            let what = "\(scenario.name) killed at \(point)"
            // With threads, a run may be over a call earlier than another.
            let isOver = run.calls.count < point.number && run.outcome.status == 0
            #expect(run.outcome.status == 128 + SIGKILL || isOver, "\(what)")
            try expect(scenario, trial, what)
        }
        FaultExtent.report(
            "sync \(scenario.name): killed at \(points.count) of \(calls.count) calls"
        )
    }

    @Test(
        "A sync reports a failed system call, and the next runs lose and invent nothing",
        arguments: scenarios
    )
    func failed(_ scenario: SyncFaultScenario) throws {
        let calls = try undisturbed(scenario)
        let points = sample(calls, 0.3)
        for (index, point) in points.enumerated() {
            // Nothing is too full to be looked at.
            let errno: Errno = point.isChange && index.isMultiple(of: 2) ? .noSpace : .ioError
            var injection = Injection()
            injection.failures = [.init(call: point.number, errno: errno)]
            try fail(scenario, injection, errno, "\(scenario.name), \(errno) at \(point)")
        }
        FaultExtent.report(
            "sync \(scenario.name): \(points.count) of \(calls.count) calls failed"
        )
    }

    /// As when a disk dies, or fills up.
    @Test(
        "The next runs lose and invent nothing after one system call and all later ones failed",
        arguments: scenarios
    )
    func failedForEver(_ scenario: SyncFaultScenario) throws {
        let calls = try undisturbed(scenario).filter(\.isChange)
        let all = stride(from: 0, to: calls.count, by: 4).map { calls[$0] }
        let points = sample(all, 0.7)
        for (index, point) in points.enumerated() {
            let errno: Errno = index.isMultiple(of: 2) ? .noSpace : .ioError
            var injection = Injection()
            injection.deadFrom = .init(call: point.number, errno: errno)
            try fail(scenario, injection, errno, "\(scenario.name), \(errno) from \(point) on")
        }
        FaultExtent.report(
            "sync \(scenario.name): all failed from \(points.count) of \(calls.count) calls on"
        )
    }

    /// All points, or the one so far into them.
    private func sample(_ points: [SystemCall], _ part: Double) -> [SystemCall] {
        FaultExtent.isFull ? points : [points[Int(Double(points.count) * part)]]
    }

    // MARK: - Steps

    private func fail(
        _ scenario: SyncFaultScenario,
        _ injection: Injection,
        _ errno: Errno,
        _ what: String
    ) throws {
        let trial = try trial(scenario)
        let run = try disturb(scenario, trial, injection)
        let (status, errors) = (run.outcome.status, run.outcome.errors)
        // Done, or in part; no container; damaged, as far as it can be read; the disk is full.
        var codes: Set<Int32> = [0, 1, 3, 10, 20]
        // SQLite says no more of an index of the log that cannot grow, whatever the reason.
        if errno == .noSpace || what.contains(".sqlite-shm") { codes.insert(23) }
        #expect(codes.contains(status), "\(what): exit \(status), \(errors)")
        if status != 0 {
            #expect(errors.contains("error: ") || errors.contains("warning: "), "\(what)")
        }
        try expect(scenario, trial, "\(what): exit \(status), \(errors)")
    }

    private func trial(_ scenario: SyncFaultScenario) throws -> SyncTrial {
        let trial = try SyncTrial(in: sandbox)
        try scenario.prepare(trial)
        return trial
    }

    private func disturb(
        _ scenario: SyncFaultScenario,
        _ trial: SyncTrial,
        _ injection: Injection
    ) throws -> InjectedRun {
        try trial.desk.run(["sync"] + scenario.arguments(trial), injecting: injection)
    }

    /// The calls of a run without a fault, whose end is what it always has to be.
    private func undisturbed(_ scenario: SyncFaultScenario) throws -> [SystemCall] {
        if let calls = Self.calls.withLock({ $0[scenario.name] }) { return calls }
        let trial = try trial(scenario)
        let run = try disturb(scenario, trial, Injection())
        try #require(run.outcome.status == 0, "\(scenario.name): \(run.outcome.errors)")
        try expect(scenario, trial, "\(scenario.name) undisturbed")
        Self.calls.withLock { $0[scenario.name] = run.calls }
        return run.calls
    }

    /// Holds what a disturbed run left, and what the next ones make of it, to the promises.
    private func expect(
        _ scenario: SyncFaultScenario,
        _ trial: SyncTrial,
        _ what: String
    ) throws {
        let machines = [trial.desk, trial.phone]
        #expect(try trial.desk.rows("PRAGMA integrity_check") == ["ok"], "\(what)")
        try scenario.expect(trial, what)
        do {
            try scenario.finish(trial)
            // Each takes what the other has said to what it said.
            for _ in 0..<2 {
                for machine in machines.reversed() { try machine.check("sync") }
            }
        } catch {
            Issue.record("\(what): then \(error)")
            return
        }
        for machine in machines {
            let items = try machine.items()
            #expect(items == scenario.final, "\(what): \(machine.name) has \(items)")
            #expect(try machine.rows("PRAGMA integrity_check") == ["ok"], "\(what)")
            #expect(try machine.rows("PRAGMA foreign_key_check") == [], "\(what)")
            let conflicts = try machine.check("sync", "conflicts", "--json").text
            let count = conflicts.split(separator: "\"kind\"").count - 1
            #expect(count <= scenario.conflicts, "\(what): \(machine.name) lists \(conflicts)")
        }
        // Nobody has anything to say any more.
        let log = try trial.log()
        try trial.age()
        for machine in machines { try machine.check("sync") }
        #expect(try trial.log() == log, "\(what)")
        let left = try trial.leftovers()
        #expect(left.isEmpty, "\(what): \(left) were left")
    }
}
