import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Sends the built program signals at moments that chance chooses, and closes its pipes.
@Suite("An interrupted command", .serialized)
struct SignalTests {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]
    private static let scenarios: [FaultScenario] =
        [
            .backup, .restore, .restoreAlone.refusing(.exchange, .noFunction), .restoreElsewhere,
            .restorePart, .delete,
        ] + (Trial.mayMount ? [FaultScenario.restoreAlone.mounted()] : [])

    /// Of a failure, the same moments are tried again with GROCERYDUDE_FAULTS_SEED.
    private static let seed: UInt64 = {
        let seed =
            ProcessInfo.processInfo.environment["GROCERYDUDE_FAULTS_SEED"].flatMap { UInt64($0) }
            ?? UInt64.random(in: 0...999_999)
        FaultExtent.report("signals come with GROCERYDUDE_FAULTS_SEED=\(seed)")
        return seed
    }()

    /// Some of the calls, and all of them in a full run.
    private static func moments(
        _ calls: [SystemCall],
        _ generator: inout Pseudorandom
    ) -> [SystemCall] {
        FaultExtent.isFull ? calls : Array(calls.shuffled(using: &generator).prefix(2))
    }

    @Test(
        "An interrupted command cleans up and exits with 128 plus the signal's number",
        .enabled(if: InjectedRun.isPossible, "no program can be traced here"),
        arguments: FaultExtent.chosen(scenarios)
    )
    func once(_ scenario: FaultScenario) throws {
        let scene = try FaultScene.shared.get()
        var generator = Pseudorandom(seed: Self.seed)
        let calls = try scenario.undisturbed(scenario.trial(scene), scene).calls
        var ends: [Int32: Int] = [:]
        for moment in Self.moments(calls, &generator) {
            let signal = Self.signals[Int(generator.next() % 3)]
            let trial = try scenario.trial(scene)
            try scenario.prepare(scene, trial)
            let before = try trial.contents()
            var injection = scenario.injection
            injection.signals = [(moment.number, signal)]
            let run = try trial.run(scenario.arguments(in: trial), injecting: injection)
            let what: Comment =
                "\(scenario.name), signal \(signal) at \(moment): \(run.outcome.errors)"
            let status = run.outcome.status
            ends[status, default: 0] += 1
            // It may come too late to stop what is better finished.
            #expect([0, 128 + signal].contains(status), what)
            let done = scenario.success == .new ? scenario.restored(scene, over: before) : before
            #expect(try trial.contents() == (status == 0 ? done : before), what)
            #expect(try trial.leftovers() == [], what)
            if scenario.arguments[0] != "delete" {
                #expect(try trial.archives().contains(scene.archive), what)
            }
        }
        FaultExtent.report(
            "\(scenario.name): one signal at \(ends.values.reduce(0, +)) calls: \(ends)"
        )
    }

    @Test(
        "A second signal ends the command at once, and the next command recovers",
        .enabled(if: InjectedRun.isPossible, "no program can be traced here"),
        arguments: FaultExtent.chosen(scenarios)
    )
    func twice(_ scenario: FaultScenario) throws {
        let scene = try FaultScene.shared.get()
        var generator = Pseudorandom(seed: Self.seed + 1)
        let calls = try scenario.undisturbed(scenario.trial(scene), scene).changes
        var ends: [Int32: Int] = [:]
        for moment in Self.moments(calls, &generator) {
            let trial = try scenario.trial(scene)
            try scenario.prepare(scene, trial)
            let before = try trial.contents()
            let later = moment.number + 1 + Int(generator.next() % 12)
            var injection = scenario.injection
            injection.signals = [(moment.number, SIGINT), (later, SIGINT)]
            let run = try trial.run(scenario.arguments(in: trial), injecting: injection)
            let what: Comment =
                "\(scenario.name), SIGINT at \(moment) and call \(later): \(run.outcome.errors)"
            ends[run.outcome.status, default: 0] += 1
            #expect([0, 128 + SIGINT].contains(run.outcome.status), what)
            let next = try trial.run(scenario.next(in: trial, before: before))
            #expect(try scenario.isDone(next, in: trial), "\(what): then \(next.errors)")
            let after = try trial.contents()
            #expect(after == before || after == scenario.restored(scene, over: before), what)
            #expect(try trial.leftovers() == [], "\(what): then \(next.errors)")
        }
        FaultExtent.report(
            "\(scenario.name): two signals at \(ends.values.reduce(0, +)) calls: \(ends)"
        )
    }

    @Test(
        "A command finishes its work even if its output is not read",
        arguments: ["backup", "restore"]
    )
    func closedPipes(_ command: String) throws {
        let scene = try FaultScene.shared.get()
        let arguments = command == "restore" ? ["restore", "latest", "--yes"] : [command]
        // With a reader that is gone before the first byte, and without descriptors.
        for (redirection, status) in [
            ("\"$@\" | exec true; exit ${PIPESTATUS[0]}", 141),
            ("\"$@\" 2>&1 >/dev/null | true; exit ${PIPESTATUS[0]}", 0),
            ("\"$@\" >/dev/full", 3), ("\"$@\" 2>/dev/full", 0),
        ] as [(String, Int32)] {
            let trial = try scene.trial()
            let outcome = try Tool.run(
                "bash",
                ["-c", redirection, "bash", Trial.program] + arguments,
                environment: trial.environment
            )
            let what: Comment = "\(command) \(redirection): \(outcome.status), \(outcome.errors)"
            #expect(outcome.status == status, what)
            #expect(try trial.contents() == (command == "restore" ? scene.new : scene.old), what)
            #expect(try trial.archives().count == 2, what)
            #expect(try trial.leftovers() == [], what)
            if status == 3 {
                #expect(outcome.errors.contains("the answer is lost"), what)
                #expect(outcome.errors.contains("no space left"), what)
            }
        }
    }
}
