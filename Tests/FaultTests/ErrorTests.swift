import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Makes one system call of the built program fail, one after the other and in all likely ways, and
/// holds the program to its exit codes, its messages and its promises.
@Suite(
    "A system call that fails",
    .enabled(if: InjectedRun.isPossible, "no program can be traced here")
)
struct ErrorTests {
    private static let pointsOfASample = 1

    static let errors: [Errno] = [
        .noSpace, .ioError, .permissionDenied, .readOnlyFileSystem, .tooManyOpenFiles, .interrupted,
    ]

    static let scenarios: [FaultScenario] =
        [
            .backup, .backupOfHotJournal, .restore, .restoreToNothing, .restoreElsewhere, .delete,
            .undelete, .prune, .increment, .consolidate, .encryptedBackup, .encryptedRestore,
            .rotation, .restorePart, .restoreAlone.refusing(.exchange, .noFunction),
            .backup.refusing(.flags, .invalidArgument),
        ] + (Trial.mayMount ? [FaultScenario.restoreAlone.mounted()] : [])

    @Test(
        "A command whose system call fails exits with the right code and hint, and loses nothing",
        arguments: FaultExtent.chosen(scenarios)
    )
    func everywhere(_ scenario: FaultScenario) throws {
        let scene = try FaultScene.shared.get()
        let calls = try scenario.undisturbed(scenario.trial(scene), scene).calls
        let saved = try scenario.saved(scene)
        for errno in Self.errors {
            // Nothing is too full, nor too read-only, to be looked at.
            let looksToo = errno != .noSpace && errno != .readOnlyFileSystem
            let points = calls.filter { looksToo || $0.isChange }
            let tried = FaultExtent.sample(points, Self.pointsOfASample)
            for point in tried {
                let failure = Injection.Failure(call: point.number, errno: errno)
                var injection = scenario.injection
                injection.failures = [failure]
                let trial = try FaultTrial(scenario, scene, saved, "\(errno) at \(point)")
                try trial.run(injection)
                #expect(trial.run.faults.count == 1, trial.what)
                trial.expectCode(for: failure, at: point)
                try trial.expectPromise()
                try trial.expectNothingLeft()
                try trial.expectNextCommand()
            }
            FaultExtent.report(
                "\(scenario.name): \(tried.count) of \(points.count) calls failed: \(errno)"
            )
        }
    }

    /// As when a disk dies, or the system mounts it read-only for its errors.
    @Test(
        "A command loses nothing if every later system call fails too",
        arguments: FaultExtent.chosen(scenarios)
    )
    func forEver(_ scenario: FaultScenario) throws {
        let scene = try FaultScene.shared.get()
        let points = try scenario.undisturbed(scenario.trial(scene), scene).changes
        let saved = try scenario.saved(scene)
        let tried = FaultExtent.sample(points, Self.pointsOfASample)
        for (index, point) in tried.enumerated() {
            let errno = index.isMultiple(of: 2) ? Errno.readOnlyFileSystem : .ioError
            var injection = scenario.injection
            injection.deadFrom = Injection.Failure(call: point.number, errno: errno)
            let trial = try FaultTrial(scenario, scene, saved, "\(errno) from \(point) on")
            try trial.run(injection)
            #expect(!trial.run.faults.isEmpty, trial.what)
            try trial.expectPromise()
            try trial.expectNextCommand()
        }
        FaultExtent.report(
            "\(scenario.name): all failed from \(tried.count) of \(points.count) calls on"
        )
    }
}

/// A run with an error in it, and what is expected of it.
private final class FaultTrial {
    let scenario: FaultScenario
    let scene: FaultScene
    let saved: Contents?
    let trial: Trial
    let before: Contents?
    /// The archives that are in the list, and those that may be in the trash too.
    let listedBefore: Set<String>
    let archives: Set<String>
    let label: String
    private(set) var run: InjectedRun

    var status: Int32 { run.outcome.status }
    /// Whether it is made by names in the stores directory.
    var isInside: Bool { scenario.isMounted || !scenario.only.isEmpty }
    var isRestore: Bool { scenario.arguments.first == "restore" }
    var what: Comment {
        "\(scenario.name), \(label): exit \(run.outcome.status), \(run.outcome.errors)"
    }

    init(
        _ scenario: FaultScenario,
        _ scene: FaultScene,
        _ saved: Contents?,
        _ label: String
    ) throws {
        self.scenario = scenario
        self.scene = scene
        self.saved = saved
        self.label = label
        trial = try scenario.trial(scene)
        try scenario.prepare(scene, trial)
        before = try trial.contents()
        listedBefore = try Set(trial.archives())
        archives = try listedBefore.union(trial.trashed())
        run = InjectedRun.none
    }

    func run(_ injection: Injection) throws {
        run = try trial.run(scenario.arguments(in: trial), injecting: injection)
    }

    /// The exit code for an error, by the table in the help.
    func expectCode(for failure: Injection.Failure, at point: SystemCall) {
        var codes: Set<Int32> = [0]
        switch failure.errno {
        case .interrupted: break
        case .noSpace: codes.insert(23)
        default:
            codes.insert(isRestore ? 21 : 1)
            // What fails before a restore begins is any command's failure.
            if !point.isChange { codes.formUnion([1, 10]) }
        }
        if failure.errno != .interrupted {
            // Done in part: a file was not read, or a name may not be on the disk.
            if !isRestore || scenario.arguments.contains("--target") { codes.insert(3) }
            if isRestore { codes.insert(22) }
        }
        #expect(codes.contains(status), what)
        if status != 0 {
            #expect(run.outcome.errors.contains(status == 3 ? "warning: " : "error: "), what)
        }
        if status != 0, status != 3 { #expect(run.outcome.errors.contains("hint: "), what) }
    }

    /// What each exit code promises of the stores and the backups.
    func expectPromise() throws {
        let after = try trial.contents()
        let listed = try Set(trial.archives())
        #expect(try archives.isSubset(of: listed.union(trial.trashed())), "\(what): one is gone")
        #expect(scenario.kept(of: archives, scene).isSubset(of: listed), what)
        #expect(!scenario.isRotation || !listed.isEmpty, what)
        try scenario.expectNothingInPlain(trial, scene, what)
        switch status {
        case 0, 3:
            #expect(after == (isRestore ? scenario.restored(scene, over: before) : before), what)
            try expectDone(listed)
        case 22:
            // Where both are is said, and the next command settles it.
            #expect(run.outcome.errors.contains(isInside ? "/Old'" : "Stores_"), what)
        default:
            #expect(after == before, what)
            // Before a restore, a backup may have been made.
            #expect(isRestore || scenario.isRotation || listed == listedBefore, what)
        }
    }

    /// What a command has to have done that says that it has, be it in part.
    private func expectDone(_ listed: Set<String>) throws {
        switch scenario.arguments[0] {
        case "backup":
            let made = try #require(listed.subtracting(listedBefore).first, what)
            let contents = try trial.contents(of: made)
            if status == 0 { #expect(contents == saved, what) }
        case "delete": #expect(listed.isEmpty, what)
        case "undelete": #expect(listed == [scene.archive], what)
        case "prune" where status == 0:
            #expect(listed == scenario.kept(of: listedBefore, scene), what)
        default: break
        }
    }

    /// What was not removed is named.
    func expectNothingLeft() throws {
        let unnamed = try trial.leftovers().filter { name in
            // The next run removes what is hidden.
            if scenario.isRotation, name.hasSuffix(".partial") { return false }
            return !run.outcome.errors.contains(name)
        }
        #expect(status == 22 || unnamed.isEmpty, "\(what): \(unnamed) were left")
    }

    /// The next command succeeds, cleans up, and takes nothing back.
    func expectNextCommand() throws {
        let settled = try status == 22 ? nil : trial.contents()
        let next = try trial.run(scenario.next(in: trial, before: before))
        #expect(try scenario.isDone(next, in: trial), "\(what): then \(next.errors)")
        let after = try trial.contents()
        #expect(
            after == before || after == scenario.restored(scene, over: before),
            "\(what): then \(next.errors)"
        )
        if let settled, status == 0 { #expect(after == settled, "\(what): then \(next.errors)") }
        let told = run.outcome.errors + next.errors
        let unnamed = try trial.leftovers().filter { !told.contains($0) }
        #expect(unnamed.isEmpty, "\(what): \(unnamed) were left after \(next.errors)")
    }
}

extension InjectedRun {
    /// Before there was one.
    fileprivate static var none: InjectedRun {
        InjectedRun(outcome: Tool.Outcome(status: -1, output: [], errors: ""), calls: [])
    }

    fileprivate init(outcome: Tool.Outcome, calls: [SystemCall]) {
        self.outcome = outcome
        self.calls = calls
    }
}
