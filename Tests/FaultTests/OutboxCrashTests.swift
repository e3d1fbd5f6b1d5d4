import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Kills the built program at its calls that change the disk while a backup waits, or is sent or copied.
@Suite(
    "A command killed at a system call while it moves backups",
    .enabled(if: InjectedRun.isPossible, "no program can be traced here")
)
struct OutboxCrashTests {
    private static let pointsOfASample = 4

    private let scene: FaultScene

    init() throws {
        scene = try FaultScene.shared.get()
    }

    /// Where what waits for the trial's remote folder is, if anything ever did.
    private func waiting(_ trial: Trial) throws -> [String] {
        let outboxes = trial.root.appending("home/.local/state/grocerydude/outbox")
        guard try FileInfo.ifPresent(outboxes) != nil else { return [] }
        return try Directory.open(outboxes).names().flatMap { name in
            try Directory.open(outboxes.appending(name.description)).names().map(\.description)
        }.filter { $0.hasSuffix(".zip") }
    }

    private func hideRemote(_ trial: Trial) throws {
        try LocalFileSystem().move(trial.remote, to: trial.root.appending("Hidden"))
    }

    private func showRemote(_ trial: Trial) throws {
        let hidden = trial.root.appending("Hidden")
        guard try FileInfo.ifPresent(hidden) != nil else { return }
        try LocalFileSystem().move(hidden, to: trial.remote)
    }

    /// Runs a command once for each call, killed there, in a trial of its own.
    private func killEverywhere(
        _ command: (Trial) -> [String],
        prepare: (Trial) throws -> Void,
        expect: (Trial, String) throws -> Void
    ) throws {
        let model = try scene.trial()
        try prepare(model)
        let calls = try model.run(command(model), injecting: Injection()).changes
        let points = FaultExtent.sample(calls, Self.pointsOfASample)
        #expect(!points.isEmpty)
        for point in points {
            let trial = try scene.trial()
            try prepare(trial)
            var injection = Injection()
            injection.kill = point.number
            let run = try trial.run(command(trial), injecting: injection)
            #expect(run.outcome.status == 128 + SIGKILL, "\(point)")
            try expect(trial, "killed at \(point)")
        }
        FaultExtent.report(
            "\(command(model)[0]): killed at \(points.count) of \(calls.count) calls"
        )
    }

    @Test("A killed command leaves a whole waiting backup or none, and the next run continues")
    func queueing() throws {
        try killEverywhere({ _ in ["backup", "--set", "queue=true"] }, prepare: hideRemote) {
            trial,
            what in
            let waiting = try waiting(trial)
            #expect(waiting.count < 2, "\(what)")
            for name in waiting { _ = try trial.contents(of: name) }
            try showRemote(trial)
            try trial.check("copy", "--waiting")
            #expect(try trial.archives().count == 1 + waiting.count, "\(what)")
            try trial.check("check", "--all")
            try trial.check("backup", "--set", "queue=true")
            #expect(try trial.archives().count == 2 + waiting.count, "\(what)")
            #expect(try self.waiting(trial).isEmpty, "\(what)")
        }
    }

    @Test("A killed command neither loses nor duplicates the backup that it sends")
    func sending() throws {
        func prepare(_ trial: Trial) throws {
            try hideRemote(trial)
            try trial.check("backup", "--set", "queue=true", "--tag", "a", "--note", "n")
            try showRemote(trial)
        }
        try killEverywhere({ _ in ["copy", "--waiting"] }, prepare: prepare) { trial, what in
            let count = try Set(waiting(trial) + trial.archives()).count
            #expect(count == 2, "\(what)")
            try trial.check("copy", "--waiting")
            #expect(try trial.archives().count == 2, "\(what)")
            #expect(try waiting(trial).isEmpty, "\(what)")
            let list = try trial.check("list", "--json").text
            #expect(list.contains(#""note":"n""#) && list.contains(#""tags":["a"]"#), "\(what)")
            try trial.check("check", "--all")
        }
    }

    @Test("A killed command lists either the new backup or the one that it replaces")
    func replacing() throws {
        func prepare(_ trial: Trial) throws { try trial.check("backup") }
        let command = ["backup", "--same-name", "replace"]
        try killEverywhere({ _ in command }, prepare: prepare) { trial, what in
            let listed = try trial.archives()
            let all = try listed + trial.trashed()
            // The oldest of the scene is one of them.
            #expect(listed.count >= 2 && all.count <= 3, "\(what): \(listed)")
            for name in listed { _ = try trial.contents(of: name) }
            let next = try trial.check("backup", "--same-name", "replace").text
            #expect(try trial.archives().contains(String(next.dropLast())), "\(what)")
            try trial.check("check", "--all")
        }
    }

    @Test("A killed copy lists no incomplete backup, and the next copy completes it")
    func copying() throws {
        func prepare(_ trial: Trial) throws {
            try trial.check("backup", "--tag", "a")
            try LocalFileSystem().createDirectory(trial.other)
        }
        try killEverywhere({ ["copy", "--all", "--to", $0.other.string] }, prepare: prepare) {
            trial,
            what in
            func listed() throws -> [String] {
                try Directory.open(trial.other).names().map(\.description)
                    .filter { !$0.hasPrefix(".") }
            }
            if try !listed().isEmpty {
                _ = try trial.check("check", "--all", "--remote", trial.other.string)
            }
            try trial.check("copy", "--all", "--to", trial.other.string)
            #expect(try listed().sorted() == trial.archives().sorted(), "\(what)")
            let partial = try Directory.open(trial.other).names().map(\.description)
                .filter { $0.hasSuffix(".partial") }
            #expect(partial.isEmpty, "\(what)")
        }
    }
}
