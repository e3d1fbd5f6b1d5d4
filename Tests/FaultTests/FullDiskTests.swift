import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// File systems that are really full: a small one in a mount namespace of its own, which goes with
/// the last process in it.
@Suite("A full disk")
struct FullDiskTests {
    /// Runs a command with a directory of the trial on a file system of its own, and brings back what
    /// is there afterwards.
    private func run(
        _ arguments: [String],
        _ trial: Trial,
        on directory: FilePath,
        options: String
    ) throws -> Tool.Outcome {
        let saved = trial.root.removingLastComponent().appending("Disk-\(UUID().uuidString)")
        try LocalFileSystem().move(directory, to: saved)
        try LocalFileSystem().createDirectory(directory)
        let script = """
            mount -t tmpfs -o "$2" none "$1" && cp -a "$3/." "$1" || exit 99
            disk=$1 saved=$3; shift 3
            "$@"; code=$?
            rm -rf "$saved" && cp -a "$disk/." "$saved" || exit 98
            exit $code
            """
        let outcome = try Tool.run(
            "unshare",
            [
                "-m", "sh", "-c", script, "sh", directory.string, options, saved.string,
                Trial.program,
            ]
                + arguments,
            environment: trial.environment
        )
        try LocalFileSystem().remove(directory)
        try LocalFileSystem().move(saved, to: directory)
        return outcome
    }

    /// Kilobytes that are taken.
    private func used(_ trial: Trial) throws -> Int {
        let fields = try Tool.check("du", ["-sk", trial.root.string]).split(separator: "\t")
        return try #require(Int(fields[0]))
    }

    private func expectNoSpace(
        _ outcome: Tool.Outcome,
        _ trial: Trial,
        _ scene: FaultScene,
        before: Contents? = nil
    ) throws {
        let what: Comment = "exit \(outcome.status): \(outcome.errors)"
        #expect(outcome.status == 23, what)
        #expect(outcome.errors.contains("hint: "), what)
        #expect(try trial.contents() == before ?? scene.old, what)
        #expect(try trial.archives() == [scene.archive], what)
        #expect(try trial.leftovers() == [], what)
    }

    @Test("a backup that does not fit leaves the folder as it was", .enabled(if: Trial.mayMount))
    func backup() throws {
        let scene = try FaultScene.shared.get()
        for size in [1300, 1700, 2300] {
            let trial = try scene.trial()
            let outcome = try run(["backup"], trial, on: trial.remote, options: "size=\(size)k")
            try expectNoSpace(outcome, trial, scene)
        }
    }

    @Test("a restore that does not fit says so before it begins", .enabled(if: Trial.mayMount))
    func restore() throws {
        let scene = try FaultScene.shared.get()
        let trial = try scene.trial()
        let outcome = try run(
            ["restore", "latest", "--yes"],
            trial,
            on: trial.root,
            options: "size=\(try used(trial) + 1000)k"
        )
        try expectNoSpace(outcome, trial, scene)
        #expect(outcome.errors.contains("MB are needed"))
    }

    @Test(
        "a restore whose safety backup does not fit changes nothing",
        .enabled(if: Trial.mayMount)
    )
    func safetyBackup() throws {
        let scene = try FaultScene.shared.get()
        let trial = try scene.trial()
        let size = try used(trial) + 2300
        let outcome = try run(
            ["restore", "latest", "--yes"],
            trial,
            on: trial.root,
            options: "size=\(size)k"
        )
        try expectNoSpace(outcome, trial, scene)
        #expect(outcome.errors.contains("backed up"))
    }

    @Test("a restore that runs out of inodes changes nothing", .enabled(if: Trial.mayMount))
    func inodes() throws {
        let scene = try FaultScene.shared.get()
        for more in 1...5 {
            let trial = try scene.trial()
            let used = try Tool.check("find", [trial.root.string]).split(separator: "\n").count
            let outcome = try run(
                ["restore", "latest", "--yes", "--no-safety-backup"],
                trial,
                on: trial.root,
                options: "nr_inodes=\(used + more)"
            )
            try expectNoSpace(outcome, trial, scene)
        }
    }

    @Test(
        "a store that cannot be copied to be recovered fails the backup",
        .enabled(if: Trial.mayMount)
    )
    func scratch() throws {
        let scene = try FaultScene.shared.get()
        let trial = try scene.trial()
        try scene.addHotJournal(to: trial)
        let before = try trial.contents()
        let outcome = try run(
            ["backup"],
            trial,
            on: trial.root.appending("tmp"),
            options: "size=64k"
        )
        try expectNoSpace(outcome, trial, scene, before: before)
    }

    @Test("a limit on the size of files is met as a full disk", arguments: ["backup", "restore"])
    func limit(_ command: String) throws {
        let scene = try FaultScene.shared.get()
        let trial = try scene.trial()
        let outcome = try Tool.run(
            "bash",
            [
                "-c", "ulimit -f 512; exec \"$@\"", "bash", Trial.program, command,
            ] + (command == "restore" ? ["latest", "--yes"] : []),
            environment: trial.environment
        )
        try expectNoSpace(outcome, trial, scene)
        #expect(outcome.errors.contains("ulimit -f"))
    }
}
