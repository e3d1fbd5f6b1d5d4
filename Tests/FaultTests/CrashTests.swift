import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Kills the built program at its calls that change the disk, one after the other, and sees what the
/// next command makes of it.
@Suite(
    "A command killed at a system call",
    .enabled(if: InjectedRun.isPossible, "no program can be traced here")
)
struct CrashTests {
    private static let pointsOfASample = 2

    static let scenarios: [FaultScenario] = {
        let swaps: [FaultScenario] = [.restoreAlone, .rollBack]
        var all: [FaultScenario] = [
            .backup, .backupOfHotJournal, .restore, .restoreAlone, .restoreToNothing,
            .restoreElsewhere, .rollBack, .delete, .undelete, .prune, .increment, .consolidate,
        ]
        all += [.encryptedBackup, .encryptedRestore, .encryptedCopy, .encryptedImport]
        all.append(.rotation)
        all += [.restoreKeeping, .rollBackKeeping]
        all += [.restorePart, .rollBackPart, .restorePart.refusing(.flags, .noFunction)]
        all += [.settingAside, .puttingIn, .cleaningUp].map {
            .recovery(after: .restorePart, at: $0)
        }
        all += [.takingOut, .puttingBack].map { .recovery(after: .rollBackPart, at: $0) }
        all += [.restoreKeeping.refusing(.exchange, .invalidArgument)]
        all += swaps.map { $0.refusing(.exchange, .invalidArgument) }
        all += ([.backup, .restore] + swaps).map { $0.refusing(.flags, .noFunction) }
        for killed in [FaultScenario.restoreAlone, swaps[0].refusing(.exchange, .noFunction)] {
            all += [.staging, .swapping, .cleaningUp].map { .recovery(after: killed, at: $0) }
        }
        for killed in [FaultScenario.rollBack, swaps[1].refusing(.exchange, .noFunction)] {
            all.append(.recovery(after: killed, at: .rollingBack))
        }
        return all + mounted
    }()

    /// What is in a stores directory that is a mount point moves name by name.
    private static let mounted: [FaultScenario] = {
        guard Trial.mayMount else {
            print("skipped: this system or user may not mount")
            return []
        }
        let restore = FaultScenario.restoreAlone.mounted()
        let rollBack = FaultScenario.rollBack.mounted()
        return [.restoreKeeping.mounted(), .rollBackKeeping.mounted()]
            + [restore, restore.refusing(.flags, .noFunction), rollBack]
            + [.settingAside, .puttingIn, .cleaningUp].map { .recovery(after: restore, at: $0) }
            + [.takingOut, .puttingBack].map { .recovery(after: rollBack, at: $0) }
    }()

    @Test(
        "A killed command leaves stores and backups whole, and the next command cleans up",
        arguments: FaultExtent.chosen(scenarios)
    )
    func everywhere(_ scenario: FaultScenario) throws {
        let scene = try FaultScene.shared.get()
        let model = try scenario.trial(scene)
        let calls = try scenario.undisturbed(model, scene).calls
        let standing = scenario.standing(calls, model)
        // What comes before a failure that is part of the scenario is the same as without it.
        let injection = scenario.injection(with: standing)
        let all = try standing == nil ? calls : scenario.calls(scene, injection)
        let saved = try scenario.saved(scene)
        let points = all.filter { $0.isChange && $0.number > standing?.call ?? 0 }
        let tried = FaultExtent.sample(points, Self.pointsOfASample)
        for point in tried {
            try crash(scenario, scene, injection, at: point, saved: saved)
        }
        FaultExtent.report("\(scenario.name): killed at \(tried.count) of \(points.count) calls")
        #expect(!tried.isEmpty)
    }

    private func crash(
        _ scenario: FaultScenario,
        _ scene: FaultScene,
        _ injection: Injection,
        at point: SystemCall,
        saved: Contents?
    ) throws {
        let trial = try scenario.trial(scene)
        try scenario.prepare(scene, trial)
        let before = try scenario.isRecovery ? scene.old : trial.contents()
        let archives = try Set(trial.archives() + trial.trashed())
        var injection = injection
        injection.kill = point.number
        let killed = try trial.run(scenario.arguments(in: trial), injecting: injection)
        let what: Comment = "\(scenario.name) killed at \(point)"
        // After a crash of a program with threads, there may be one file less to clean up.
        let isOver = killed.calls.count < point.number && killed.outcome.status == scenario.status
        #expect(killed.outcome.status == 128 + SIGKILL || isOver, what)
        // What a person sees right after the crash.
        let seen = try trial.archives()
        let isThere = try archives.isSubset(of: seen + trial.trashed())
        #expect(isThere, "\(what): an archive is gone")
        #expect(
            scenario.kept(of: archives, scene).isSubset(of: seen),
            "\(what): it was to stay"
        )
        #expect(!scenario.isRotation || seen.count > 0, "\(what): neither is in the list")
        try scenario.expectNothingInPlain(trial, scene, what)
        let next = try trial.run(scenario.next(in: trial, before: before))
        #expect(try scenario.isDone(next, in: trial), "\(what): \(next.errors)")
        // Of the others, the next one is a plain backup.
        if scenario.isRotation { try scenario.expectNothingInPlain(trial, scene, what) }

        var (earlier, after) = (before, try trial.contents())
        let (wasLeftOut, isLeftOut) = (earlier?.takeLeftOut(), after?.takeLeftOut())
        #expect(
            (wasLeftOut ?? []) == (isLeftOut ?? []),
            "\(what): what was left out is not as it was"
        )
        #expect(
            scenario.states.contains {
                after == ($0 == .new ? scenario.restored(scene, over: earlier) : earlier)
            },
            "\(what): the stores are neither old nor new but \(after?.description ?? "nowhere")"
        )
        let told = killed.outcome.errors + next.errors
        let unnamed = try trial.leftovers().filter { name in
            // Where deleted backups go, to come back.
            if name == ".grocerydude-trash" { return false }
            // What was refused bears its own name, in case it was killed before it could say so.
            return !told.contains(name) && !(isSettled(killed) && trial.refused.contains(name))
        }
        #expect(unnamed.isEmpty, "\(what): \(unnamed) were left; \(next.errors)")
        // Every archive that is seen is whole, and holds what was or is there.
        for archive in seen where archive != scene.archive {
            let contents = try trial.contents(of: archive)
            #expect(
                contents == saved || contents == scene.new || archives.contains(archive),
                "\(what): \(archive) holds something else"
            )
        }
        // What the next increment is built on is what it says.
        for archive in try trial.archives()
        where !seen.contains(archive) && archive.hasSuffix(" Changes.zip") {
            let contents = try trial.contents(of: archive)
            #expect(contents == saved, "\(what): then \(archive) holds something else")
        }
    }
}

extension Contents {
    /// Takes away what every backup leaves out, and returns it.
    fileprivate mutating func takeLeftOut() -> [Item] {
        let isLeftOut = { (item: Item) in
            item.path.components[0].description.hasSuffix(".nosync")
        }
        defer { items.removeAll(where: isLeftOut) }
        return items.filter(isLeftOut)
    }
}

extension CrashTests {
    /// Whether the journal was removed before the program was killed.
    private func isSettled(_ killed: InjectedRun) -> Bool {
        killed.calls.contains {
            $0.name == "unlink" && !$0.isFault
                && [".Stores_Restore.json", "journal.json"]
                    .contains($0.paths.last?.lastComponent?.string)
        }
    }
}

extension FaultScenario {
    /// The archives, of those that are there before, that have to be in the list at any time.
    func kept(of archives: Set<String>, _ scene: FaultScene) -> Set<String> {
        switch arguments[0] {
        case "delete", "undelete", "key": []
        case "consolidate": archives.filter { !$0.hasSuffix(" Changes.zip") }
        case "prune": archives.subtracting([scene.archive, Self.oldArchive])
        default: archives
        }
    }

    /// The scenario's own faults.
    func injection(with standing: Injection.Failure?) -> Injection {
        var injection = injection
        if let standing { injection.failures.append(standing) }
        return injection
    }

    /// What a backup makes of the stores directory before the command; `nil` where there is none.
    func saved(_ scene: FaultScene) throws -> Contents? {
        let trial = try trial(scene)
        try prepare(scene, trial)
        guard try trial.contents() != nil else { return nil }
        let name = try trial.check("backup").text.trimmingCharacters(in: .newlines)
        return try trial.contents(of: name)
    }

    /// The calls of a run with given faults.
    func calls(_ scene: FaultScene, _ injection: Injection) throws -> [SystemCall] {
        let trial = try trial(scene)
        try prepare(scene, trial)
        let run = try trial.run(arguments(in: trial), injecting: injection)
        #expect(run.outcome.status == status, "\(name): \(run.outcome.errors)")
        return run.calls
    }
}
