import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

extension SyncFaultScenario {
    /// Runs after one that was killed between its steps, which have that one's work to end.
    static let recoveries = [
        recovery("recovery of a write that was intended") { $0.intended },
        recovery("recovery of a write that was not noted") { $0.written },
    ]

    /// Calls of an undisturbed run of `sync`, by their numbers.
    private struct Moments {
        /// The first that changes the store: the intent is on the disk by then.
        var intended: Int
        /// The first that changes the sidecar after that: the store has the changes by then.
        var written: Int
    }

    private static let moments: Result<Moments, any Error> = Result {
        let sandbox = try Sandbox()
        defer { try? sandbox.remove() }
        let trial = try SyncTrial(in: sandbox)
        try run.prepare(trial)
        let disturbed = try trial.desk.run(["sync"], injecting: Injection())
        try #require(disturbed.outcome.status == 0, "\(disturbed.outcome.errors)")
        let changes = disturbed.calls.filter(\.isChange)
        let log = trial.desk.store.string + "-wal"
        let intended = try #require(
            changes.first { $0.name.contains("write") && $0.paths.contains { $0.string == log } }
        )
        let sidecar = try #require(try trial.desk.sidecar)
        let written = try #require(
            changes.first { call in
                call.number > intended.number && call.paths.contains { $0.starts(with: sidecar) }
            }
        )
        for (call, items) in [(intended.number, unwritten), (written.number, final)] {
            let trial = try SyncTrial(in: sandbox)
            try run.prepare(trial)
            try kill(trial, at: call)
            try #require(try trial.desk.items() == items)
        }
        return Moments(intended: intended.number, written: written.number)
    }

    /// The desk's rows if the container cannot be reached to end a write: a row waits for its long value.
    private static let waiting = final.filter { !$0.hasPrefix("jam ") }

    private static func kill(_ trial: SyncTrial, at call: Int) throws {
        var injection = Injection()
        injection.kill = call
        let killed = try trial.desk.run(["sync"], injecting: injection)
        try #require(killed.outcome.status == 128 + SIGKILL, "\(killed.outcome.errors)")
    }

    private static func recovery(
        _ name: String,
        from moment: @escaping @Sendable (Moments) -> Int
    ) -> SyncFaultScenario {
        var scenario = run
        scenario.name = name
        scenario.prepare = { trial in
            try run.prepare(trial)
            try kill(trial, at: moment(try moments.get()))
        }
        scenario.expect = { trial, what in
            let items = try trial.desk.items()
            #expect([final, unwritten, waiting].contains(items), "\(what): \(items)")
        }
        return scenario
    }
}
