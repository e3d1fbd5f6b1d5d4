import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Kills 'restore --rows' at its calls that change the disk, one after the other.
@Suite(
    "A restore of rows killed at a system call",
    .enabled(if: InjectedRun.isPossible, "no program can be traced here")
)
struct RowsCrashTests {
    private static let name = "5F2C1E4A-0B7D-4E7A-8C55-6D1B7A3F9E03"
    private static let file = "directory/.t_SUPPORT/_EXTERNAL_DATA/\(name)"
    private static let arguments = [
        "restore", "latest", "--yes", "--rows", "t", "--store", "directory/t.sqlite",
    ]

    /// A store with rows, of which one refers to a file, backed up; and then all that is lost.
    private func trial(_ scene: FaultScene, _ journal: String) throws -> Trial {
        let trial = try scene.trial()
        let support = trial.stores.appending("directory/.t_SUPPORT")
        try LocalFileSystem().createDirectories(support.appending("_EXTERNAL_DATA"))
        let photo = Pseudorandom.bytes(seed: 3, count: 100_000)
        try LocalFileSystem().write(photo, to: path(of: trial))
        let hex = Self.name.utf8.map { String($0, radix: 16) }.joined()
        try sql(
            trial,
            """
            PRAGMA journal_mode = \(journal); CREATE TABLE t (id INTEGER PRIMARY KEY, x);
            INSERT INTO t VALUES (1, X'02\(hex)00'), (2, randomblob(9000)), (3, randomblob(9000));
            """
        )
        try LocalFileSystem().remove(trial.remote.appending(scene.archive))
        try trial.check("backup")
        try sql(trial, "DELETE FROM t")
        try LocalFileSystem().remove(support)
        return trial
    }

    private func path(of trial: Trial) -> FilePath {
        Self.file.split(separator: "/").reduce(trial.stores) { $0.appending(String($1)) }
    }

    @discardableResult
    private func sql(_ trial: Trial, _ text: String) throws -> String {
        try Tool.check(
            "sqlite3",
            [trial.stores.appending("directory/t.sqlite").string, text]
        )
    }

    @Test(
        "A killed restore of rows brings back all rows with their file, or none",
        arguments: ["DELETE", "WAL"]
    )
    func everywhere(_ journal: String) throws {
        let scene = try FaultScene.shared.get()
        let model = try trial(scene, journal)
        let run = try model.run(Self.arguments, injecting: Injection())
        try #require(run.outcome.status == 0, "\(run.outcome.errors)")
        #expect(try sql(model, "SELECT count(*) FROM t") == "3\n")
        let points = run.calls.filter(\.isChange)
        let tried = FaultExtent.sample(points, 8)
        for point in tried {
            let trial = try trial(scene, journal)
            let killed = try trial.run(Self.arguments, injecting: Injection(kill: point.number))
            let what: Comment = "killed at \(point): \(killed.outcome.errors)"
            // With threads, there may be a call less.
            #expect([0, 128 + SIGKILL].contains(killed.outcome.status), what)
            #expect(try sql(trial, "PRAGMA integrity_check") == "ok\n", what)
            let count = try sql(trial, "SELECT count(*) FROM t")
            #expect(["0\n", "3\n"].contains(count), what)
            let info = try FileInfo.ifPresent(path(of: trial))
            #expect(info.map { $0.size == 100_000 } ?? (count == "0\n"), what)
            // The next one does it, and no backup has what was left.
            let next = try trial.run(Self.arguments)
            #expect(next.status == 0, "\(what): \(next.errors)")
            #expect(try sql(trial, "SELECT count(*) FROM t") == "3\n", what)
            #expect(try FileInfo(of: path(of: trial)).size == 100_000, what)
            try trial.check("backup")
            let shown = try trial.check("show", "latest", "--tree").text
            #expect(!shown.contains("scratch"), what)
        }
        FaultExtent.report(
            "rows back, \(journal): killed at \(tried.count) of \(points.count) calls"
        )
    }
}
