import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// The order in which the built program writes, syncs and renames, as strace(1) sees it.
@Suite("A loss of power")
struct PowerLossTests {
    private static let calls =
        "write,writev,pwrite64,pwritev,ftruncate,fallocate,fchmod,fchown,utimensat,open,openat,mkdir,"
        + "mkdirat,symlink,symlinkat,fsync,fdatasync,syncfs,unlink,unlinkat,rmdir,link,linkat,rename,"
        + "renameat,renameat2"

    /// A command with a few files, which are synced one by one, or with more than that.
    struct Case: Sendable {
        var scenario: FaultScenario
        var hasManyFiles: Bool
    }

    static let cases: [Case] = {
        let any: [FaultScenario] = [
            .backup, .restore, .restoreToNothing, .restoreElsewhere, .delete,
            .restore.refusing(.exchange, .invalidArgument), .restorePart,
        ]
        let interrupted: [FaultScenario] = [
            .recovery(after: .restore, at: .swapping),
            .recovery(after: .restoreAlone, at: .cleaningUp),
        ]
        return any.map { Case(scenario: $0, hasManyFiles: true) }
            + (any + interrupted).map { Case(scenario: $0, hasManyFiles: false) }
    }()

    @Test(
        "All renamed files and their renames are on the disk after a loss of power",
        .enabled(if: Tool.isInstalled("strace"), "strace is not installed"),
        .enabled(if: InjectedRun.isPossible, "no program can be traced here"),
        arguments: cases
    )
    func order(of: Case) throws {
        let scenario = of.scenario
        let scene = try FaultScene.shared.get()
        let trial = try scene.trial()
        if of.hasManyFiles { try addManyFiles(to: trial) }
        try scenario.prepare(scene, trial)
        let log = trial.root.removingLastComponent().appending("trace-\(UUID().uuidString)")
        defer { try? LocalFileSystem().remove(log) }
        var options = ["-f", "-y", "-s", "0", "-qq", "-o", log.string, "-e", "trace=\(Self.calls)"]
        if let refusal = scenario.refusal {
            // The exchange is the third of a restore, after those of the safety backup and its note.
            #expect(refusal == .exchange)
            options += ["-e", "inject=renameat2:error=EINVAL:when=3"]
        }
        let outcome = try Tool.run(
            "strace",
            options + [Trial.program] + scenario.arguments(in: trial),
            environment: trial.environment
        )
        #expect(outcome.status == 0, "\(scenario.name): \(outcome.errors)")
        let text = try String(contentsOfFile: log.string, encoding: .utf8)
        if scenario.refusal != nil { #expect(text.contains("RENAME_EXCHANGE) = -1 EINVAL")) }
        let trace = SystemCallTrace(text, below: trial.root)
        // The log of runs is SQLite's to keep, and nothing depends on it.
        let breaches = trace.breaches.filter { !"\($0)".contains("/.local/state/") }
        #expect(breaches.isEmpty, "\(scenario.name)")
        #expect(trace.renames > 0, "\(scenario.name) renames nothing")
        FaultExtent.report(
            "\(scenario.name)\(of.hasManyFiles ? ", many files" : ""): "
                + "\(trace.renames) renames and \(trace.syncs) syncs are in order"
        )
    }

    /// Adds files to the stores, and to a backup that is the latest.
    private func addManyFiles(to trial: Trial) throws {
        let many = trial.stores.appending("many")
        try LocalFileSystem().createDirectory(many)
        for number in 0..<80 { _ = try File.create(many.appending("file-\(number)")) }
        let name = try trial.check("backup").text.trimmingCharacters(in: .newlines)
        // So that no name is taken, and there is one rename before the exchange.
        try LocalFileSystem().move(
            trial.remote.appending(name),
            to: trial.remote.appending("[2026-Feb-01] 09.01 AM Stores.zip")
        )
    }

    /// What the rules find in a trace of few lines.
    private func breaches(_ text: String) -> [String] {
        SystemCallTrace(text, below: "/t").breaches.map(\.description)
    }

    @Test("The rules detect files that are renamed but not synced")
    func unsynced() {
        let create = """
            1 openat(AT_FDCWD</>, "/t/a", O_RDWR|O_CREAT, 0600) = 3</t/a>
            1 pwrite64(3</t/a>, ""..., 9, 0) = 9

            """
        let rename = """
            1 rename("/t/a", "/t/b") = 0
            1 fsync(4</t>) = 0

            """
        #expect(breaches(create + "1 fsync(3</t/a>) = 0\n" + rename) == [])
        #expect(breaches(create + rename) == ["/t/a was not synced before /t/a became /t/b"])
        // A sync that failed, that began before the write had ended, or that was of something else.
        #expect(breaches(create + "1 fsync(3</t/a>) = -1 EIO (…)\n" + rename).count == 1)
        let late = """
            2 fsync(3</t/a> <unfinished ...>
            1 pwrite64(3</t/a>, ""..., 9, 0) = 9
            2 <... fsync resumed>) = 0

            """
        #expect(breaches(create + late + rename).count == 1)
        #expect(breaches(create + "1 fsync(3</t/c>) = 0\n" + rename).count == 1)
        #expect(breaches(create + "1 syncfs(5</t>) = 0\n" + rename) == [])
    }

    @Test("The rules detect renames and removals that are not synced")
    func unsyncedDirectories() {
        #expect(breaches("1 rename(\"/t/a\", \"/t/b\") = 0\n") == ["/t was never synced"])
        let twice = """
            1 renameat2(AT_FDCWD</>, "/t/a", AT_FDCWD</>, "/t/b", RENAME_EXCHANGE) = 0
            1 rename("/t/a", "/t/c") = 0
            1 fsync(4</t>) = 0

            """
        #expect(breaches(twice) == ["/t was not synced since line 1 when /t/a became /t/c"])
        let staged = """
            1 mkdirat(4</t>, "new", 0700) = 0
            1 mkdirat(5</t/new>, "in", 0700) = 0
            1 rename("/t/new", "/t/live") = 0
            1 fsync(4</t>) = 0

            """
        #expect(breaches(staged) == ["/t/new was not synced before /t/new became /t/live"])
        let moves = """
            1 renameat2(AT_FDCWD</>, "/t/a", AT_FDCWD</>, "/t/.grocerydude-restore/Old/a", RENAME_NOREPLACE) = 0
            1 renameat2(AT_FDCWD</>, "/t/b", AT_FDCWD</>, "/t/.grocerydude-restore/Old/b", RENAME_NOREPLACE) = 0
            1 fsync(4</t/.grocerydude-restore/Old>) = 0

            """
        let area = "/t/.grocerydude-restore"
        let phase = """
            1 rename("\(area)/draft", "\(area)/journal.json") = 0
            1 fsync(4<\(area)>) = 0

            """
        #expect(breaches(moves + "1 fsync(4</t>) = 0\n" + phase) == [])
        #expect(
            breaches(moves + phase + "1 fsync(4</t>) = 0\n")
                == ["/t was not synced since line 2 when \(area)/journal.json was written"]
        )
        let journal = """
            1 unlinkat(4</t>, "old", AT_REMOVEDIR) = 0
            1 unlink("/t/.Stores_Restore.json") = 0
            1 fsync(4</t>) = 0

            """
        #expect(
            breaches(journal)
                == ["/t was not synced since line 1 when /t/.Stores_Restore.json went"]
        )
    }
}
