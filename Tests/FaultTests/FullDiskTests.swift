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

    @Test("A backup that does not fit leaves the folder as it was", .enabled(if: Trial.mayMount))
    func backup() throws {
        let scene = try FaultScene.shared.get()
        for size in [1300, 1700, 2300] {
            let trial = try scene.trial()
            let outcome = try run(["backup"], trial, on: trial.remote, options: "size=\(size)k")
            try expectNoSpace(outcome, trial, scene)
        }
    }

    /// A chain of increments, and more to save than the disk has room for.
    private func lineage(_ scene: FaultScene) throws -> (Trial, archives: [String]) {
        let trial = try scene.trial()
        try scene.makeLineage(in: trial, increments: 1)
        let news = Data(Pseudorandom.bytes(seed: 3, count: 500_000))
        try news.write(to: URL(filePath: trial.stores.appending("news").string))
        return (trial, try trial.archives())
    }

    @Test(
        "An increment that does not fit leaves the folder and the chain as they were",
        .enabled(if: Trial.mayMount)
    )
    func increment() throws {
        let scene = try FaultScene.shared.get()
        let (trial, archives) = try lineage(scene)
        let before = try trial.contents()
        let used = try Tool.check("du", ["-sk", trial.remote.string]).split(separator: "\t")
        for free in [8, 200] {
            let outcome = try run(
                ["backup", "--incremental"],
                trial,
                on: trial.remote,
                options: "size=\(try #require(Int(used[0])) + free)k"
            )
            let what: Comment = "exit \(outcome.status): \(outcome.errors)"
            #expect(outcome.status == 23, what)
            #expect(outcome.errors.contains("hint: "), what)
            #expect(try trial.archives() == archives, what)
            #expect(try trial.leftovers() == [], what)
        }
        // The chain goes on where there is room.
        let next = try trial.check("backup", "--incremental").text
        #expect(next.hasSuffix(" Changes.zip\n"))
        #expect(try trial.contents(of: String(next.dropLast())) == before)
    }

    @Test(
        "A backup succeeds even if the data for the next increment cannot be kept",
        .enabled(if: Trial.mayMount)
    )
    func state() throws {
        let scene = try FaultScene.shared.get()
        let (trial, archives) = try lineage(scene)
        // Of each, something is to be kept.
        let many = trial.stores.appending("many")
        try LocalFileSystem().createDirectory(many)
        for number in 0..<2000 {
            try LocalFileSystem().write([1], to: many.appending("file \(number)"))
        }
        let before = try trial.contents()
        let home = trial.root.appending("home")
        let used = try Tool.check("du", ["-sk", home.string]).split(separator: "\t")
        let outcome = try run(
            ["backup", "--incremental"],
            trial,
            on: home,
            options: "size=\(try #require(Int(used[0])))k"
        )
        let what: Comment = "exit \(outcome.status): \(outcome.errors)"
        let made = try trial.archives().filter { !archives.contains($0) }
        // It is whole if that is known early enough; else none is built on it.
        #expect(outcome.status == 0, what)
        #expect(outcome.errors.contains("is built on") && outcome.errors.contains("full"), what)
        try #require(made.count == 1, what)
        #expect(try trial.contents(of: made[0]) == before, what)
        let next = try trial.check("backup", "--incremental").text
        #expect(try trial.contents(of: String(next.dropLast())) == before)
    }

    @Test("A restore that does not fit is refused before it begins", .enabled(if: Trial.mayMount))
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
        "A restore whose safety backup does not fit changes nothing",
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

    @Test(
        "A part that does not fit changes nothing, and a part that fits is restored on a full disk",
        .enabled(if: Trial.mayMount)
    )
    func part() throws {
        let scene = try FaultScene.shared.get()
        for name in ["large", "directory"] {
            let trial = try scene.trial()
            let outcome = try run(
                ["restore", "latest", "--yes", "--no-safety-backup", "--only", name],
                trial,
                on: trial.root,
                options: "size=\(try used(trial) + 600)k"
            )
            guard name == "large" else {
                #expect(outcome.status == 0, "\(outcome.errors)")
                continue
            }
            try expectNoSpace(outcome, trial, scene)
            #expect(outcome.errors.contains("MB are needed"))
        }
    }

    @Test("A restore that runs out of inodes changes nothing", .enabled(if: Trial.mayMount))
    func inodes() throws {
        let scene = try FaultScene.shared.get()
        for more in 1...5 {
            let trial = try scene.trial()
            let used = try Tool.check("find", [trial.root.string]).split(separator: "\n").count
            let outcome = try run(
                ["restore", "latest", "--yes", "--no-safety-backup"]
                    + (more == 2 ? ["--only", "Grocery-Dude.sqlite", "directory"] : []),
                trial,
                on: trial.root,
                options: "nr_inodes=\(used + more)"
            )
            try expectNoSpace(outcome, trial, scene)
        }
    }

    @Test(
        "A store that cannot be copied for its recovery makes the backup fail",
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

    @Test(
        "A limit on the size of files is reported as a full disk",
        arguments: ["backup", "restore"]
    )
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
