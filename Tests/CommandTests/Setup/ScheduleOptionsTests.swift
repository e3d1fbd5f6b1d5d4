import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import grocerydude

@Suite("A schedule without a configuration")
struct ScheduleOptionsTests {
    let home: SetupHome

    init() throws {
        home = try SetupHome()
        try home.sandbox.directory("Disk/vault")
    }

    private var sandbox: Sandbox { home.sandbox }

    private func install(_ arguments: [String], status: Int32 = 0) throws -> Tool.Outcome {
        try home.run(["schedule", "install", "--schedule", "hourly"] + arguments, status: status)
    }

    @Test("An installation takes places and what to keep, and the run has them")
    func places() throws {
        // Relative paths, which cron would take for others.
        let places = ["--stores", "Vault", "--remote", "Disk/vault", "--kind", "cron"]
        let installed = try install(places + ["--keep-daily", "7", "--keep-weekly=-1"])
        #expect(!installed.errors.contains("nothing is pruned"), "\(installed.errors)")
        let line = try #require(
            home.text("table").split(separator: "\n").first { $0.hasPrefix("0 * * * * ") }
        )
        let run = try Tool.run(
            "/usr/bin/env",
            [
                "-i", "HOME=\(sandbox.path)", "PATH=/usr/bin:/bin", "/bin/sh", "-c",
                String(line.dropFirst(10)),
            ]
        )
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        #expect(try home.archives().count == 1)
        let log = try home.run(["log", "--json"])
        #expect(log.text.contains(sandbox.path("Vault").string))
        let shown = try home.run(["schedule", "show"])
        #expect(shown.text.hasPrefix("backup  hourly, next "))
        #expect(!shown.errors.contains("warning"), "\(shown.errors)")
        // One for another stores directory does not replace it.
        let other = try install(["--kind", "cron"], status: 1)
        #expect(other.errors.contains("Vault'"), "\(other.errors)")
        #expect(try home.text("table").contains("0 * * * * "))
    }

    @Test("An installation makes every path absolute, and leaves keys as they are")
    func absolutePaths() throws {
        let key = String(try home.run(["key", "generate", "--output", "id.txt"]).text.dropLast())
        try sandbox.write(key + "\n", to: "rec.txt")
        try Tool.check(
            "ssh-keygen",
            ["-q", "-t", "ed25519", "-N", "", "-f", sandbox.path("sk").string]
        )
        var environment = home.environment
        environment["GROCERYDUDE_RECIPIENTS"] = "rec.txt\n\(key)"
        environment["GROCERYDUDE_SIGNING_KEY"] = "sk"
        let unit = try home.program.run(
            ["schedule", "install", "--schedule", "daily", "--kind", "systemd-user", "--dry-run"],
            environment: environment
        )
        #expect(
            unit.text.contains("RECIPIENTS=\(sandbox.path("rec.txt"))\\n\(key)"),
            "\(unit.text)"
        )
        #expect(unit.text.contains("SIGNING_KEY=\(sandbox.path("sk"))"), "\(unit.errors)")
        let places = ["--stores", "Vault", "--remote", "Disk/vault", "--kind", "cron"]
        let files = ["recipients=rec.txt", "signing_key=sk", "restore.generation_file=gen"]
        _ = try install(places + (files + ["restore.notify=HUP:pid"]).flatMap { ["--set", $0] })
        let text = try home.text("table")
        #expect(text.contains("HUP:\(sandbox.path("pid"))"))
        #expect(text.contains("restore.generation_file=\(sandbox.path("gen"))"))
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("0 * * * * ") })
        let run = try Tool.run(
            "/usr/bin/env",
            [
                "-i", "HOME=\(sandbox.path)", "PATH=/usr/bin:/bin", "/bin/sh", "-c",
                "cd / && \(line.dropFirst(10))",
            ]
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(try home.archives().allSatisfy { $0.hasSuffix(".age") })
    }

    @Test("A setup writes the paths that it is given as absolute ones")
    func pathsOfSetup() throws {
        let more = ["--no-encrypt", "--yes", "--set", "metrics_file=metrics.prom"]
        try home.setUp(home.places + more)
        #expect(try home.text().contains("metrics_file: \"\(sandbox.path("metrics.prom"))\""))
        #expect(sandbox.exists("metrics.prom"))
    }

    @Test("Each setting that takes a path has its form in the table of settings")
    func forms() {
        var known = 0
        for setting in Setting.all {
            var profile = Profile()
            let value = WrittenValue(form: .text("a/b"), origin: .default, base: "/base")
            guard (try? setting.read(value, &profile)) != nil else { continue }
            let isPath = setting.show(profile).lines == ["/base/a/b"]
            let portable = Setting.portable("a/b", of: setting.key)
            #expect((portable != "a/b") == isPath, "\(setting.key): \(portable)")
            if isPath { known += 1 }
        }
        #expect(known == 11)
        #expect(Setting.portable("HUP:/a", of: "restore.notify") == "HUP:/a")
        #expect(Setting.portable("password", of: "recipients") == "password")
        #expect(Setting.portable("rclone:nas:a", of: "remote") == "rclone:nas:a")
    }

    @Test("An installation keeps a hostile path as one word, in remarks too")
    func hostile() throws {
        let name = #"# Settings: {"stores":"no"} $(x) 'y' %d \"#
        let outcome = try install(
            ["--stores", name, "--keep-last", "3", "--kind", "systemd-user", "--no-enable"]
        )
        #expect(outcome.errors.isEmpty || !outcome.errors.contains("warning"), "\(outcome.errors)")
        let shown = try home.run(["schedule", "show", "--kind", "systemd-user"])
        #expect(!shown.errors.contains("warning"), "\(shown.errors)")
        let unit = ".config/systemd/user/grocerydude-backup.service"
        let files = [ScheduleFile(path: unit, text: try home.text(unit))]
        let flags = Dictionary(
            uniqueKeysWithValues: ScheduleFile.flags(of: files).map { ($0.key, $0.value) }
        )
        #expect(flags["stores"] == sandbox.path(name).string)
        #expect(flags["retention.keep_last"] == "3" && flags["prune"] == "true")
    }

    @Test("An installation says that no cron daemon runs, or that systemd has no manager")
    func nobodyListens() throws {
        let cron = try install(["--kind", "cron", "--keep-last", "3"])
        #expect(cron.errors.contains("no cron daemon runs") == !Crontab.isListenedTo)
        #expect(!cron.errors.contains("nothing is pruned"))
        try home.install(
            "#!/bin/sh\necho 'Failed to connect to bus: No medium found' >&2; exit 1\n",
            as: "systemctl"
        )
        let systemd = try install(["--kind", "systemd-user"], status: 1)
        #expect(systemd.errors.contains("systemd has no manager for this user"))
        #expect(systemd.errors.contains("hint: ") && systemd.errors.contains("'--kind cron'"))
        #expect(!sandbox.exists(".config/systemd/user/grocerydude-backup.timer"))
    }

    @Test("An installation refuses what would keep nothing, secrets, and options for one run")
    func refused() throws {
        let none = try install(["--kind", "cron", "--set", "prune=true"], status: 64)
        #expect(none.errors.contains("no policy says what to keep"))
        let remote = "rclone::sftp,host=x,pass=secret:y"
        let secret = try install(["--kind", "cron", "--remote", remote], status: 1)
        #expect(secret.errors.contains("may contain a secret") && !secret.errors.contains("unset"))
        let tag = try install(["--kind", "cron", "--keep-tag", "a"], status: 64)
        #expect(tag.errors.contains("'retention.keep_tags'"))
        #expect(!sandbox.exists("table"))
    }

    @Test("A generated piece has sections and lists, and is known again")
    func piece() throws {
        var piece = try #require(try GeneratedPiece(of: "p", nil, nil))
        piece.values = ["exclude": "a\nb: \"c\"", "retention.keep_last": "3", "stores": "/s"]
        let text = try #require(try piece.text)
        let file = try ConfigurationFile("/x/p.yaml", text: text, base: "/x")
        let read = try #require(try GeneratedPiece(of: "p", text, file))
        #expect(read.values == piece.values)
        #expect(try GeneratedPiece(of: "p", text + "# mine\n", file) == nil)
        #expect(
            try GeneratedPiece.line("retention.keep_last", "3") == "retention: {keep_last: \"3\"}"
        )
    }
}
