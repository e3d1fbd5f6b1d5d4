import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Scheduled runs that did not happen, with the log set back as if days had passed.
@Suite("A missed run")
struct MissedRunTests {
    let program: Program

    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        try sandbox.directory("bin")
        try make("sendmail", "cat >>'\(sandbox.path("mail"))'")
        // As crontab(1), with a file for the table.
        let table = sandbox.path("table").string
        try make(
            "crontab",
            """
            case "$1" in
            -l) cat '\(table)' 2>/dev/null || { echo 'no crontab for anna' >&2; exit 1; } ;;
            -) cat >'\(table)' ;;
            -r) rm '\(table)' ;;
            esac
            """
        )
        try program.configure(
            "profiles: {p: {stores: ~/Stores, remote: ~/Remote, schedule: daily 03:30, notify: mail}}\n"
        )
    }

    private var sandbox: Sandbox { program.sandbox }

    private func make(_ name: String, _ script: String) throws {
        let file = try sandbox.write("#!/bin/sh\n\(script)\n", to: "bin/\(name)")
        try File.open(file).setMode(0o755)
    }

    private func run(_ arguments: String...) throws -> Tool.Outcome {
        try program.run(arguments, environment: ["PATH": "\(sandbox.path("bin")):/usr/bin:/bin"])
    }

    private func install(_ kind: String = "cron") throws {
        let outcome = try run("schedule", "install", "--kind", kind, "--no-enable")
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    /// Lets days pass since all that the log has.
    private func pass(days: Int) throws {
        let span = days * 86_400_000
        try Tool.check(
            "sqlite3",
            [
                sandbox.path(".local/state/grocerydude/log.sqlite").string,
                """
                UPDATE schedule SET since = since - \(span); UPDATE run SET began = began - \(span);
                UPDATE uneventful SET began = began - \(span)
                """,
            ]
        )
    }

    private func missed() throws -> [[String: Any]] {
        let outcome = try run("status", "--json")
        let answer = try #require(try outcome.json as? [String: Any])
        return try #require(answer["missed"] as? [[String: Any]])
    }

    private var mail: String {
        get throws {
            sandbox.exists("mail") ? String(decoding: try sandbox.read("mail"), as: UTF8.self) : ""
        }
    }

    @Test("An installation without a profile does not replace that for another stores directory")
    func otherStores() throws {
        try program.configure("lock_wait: 0s\n")
        func install(_ stores: String, at time: String) throws -> Tool.Outcome {
            try run(
                "schedule",
                "install",
                "--kind",
                "cron",
                "--stores",
                sandbox.path(stores).string,
                "--remote",
                sandbox.path("Remote").string,
                "--schedule",
                "daily \(time)",
                "--keep-daily",
                "7"
            )
        }
        #expect(try install("Stores", at: "03:30").status == 0)
        let other = try install("Other", at: "04:30")
        #expect(other.status == 1 && other.errors.contains("/Stores'"), "\(other.errors)")
        #expect(try install("Stores", at: "05:30").status == 0)
        let table = String(decoding: try sandbox.read("table"), as: UTF8.self)
        #expect(table.contains("30 5 * * *") && !table.contains("Other"))
    }

    @Test("The first run is missed if it never comes", arguments: ["cron", "systemd-user"])
    func first(kind: String) throws {
        try install(kind)
        #expect(try missed().isEmpty)
        try pass(days: 5)
        #expect(try missed().first?["command"] as? String == "backup")
        #expect((4...5).contains(try missed().first?["count"] as? Int ?? 0))
        let status = try run("status")
        #expect(status.status == 0 && status.text.contains("\nmissed    the first backup of "))
        if kind == "systemd-user" { #expect(status.text.contains("its timer is not active")) }
        // To install the same again is no reason to forget it.
        try install(kind)
        #expect(try !missed().isEmpty)
        #expect(try run("backup").status == 0)
        #expect(try missed().isEmpty)
    }

    @Test("A missed run is reported once, and so is the next good one")
    func reported() throws {
        try install()
        #expect(try run("backup").status == 0)
        #expect(try run("notify", "missed").errors.contains("no scheduled run was missed"))
        try pass(days: 2)
        for _ in 1...2 {
            let outcome = try run("notify", "missed", "--quiet")
            #expect(outcome.status == 0 && outcome.text.isEmpty && outcome.errors.isEmpty)
        }
        let parts = try mail.split(separator: "Subject: ")
        #expect(parts.count == 2 && parts[1].hasPrefix("grocerydude: backup of p was missed\n"))
        #expect(try run("backup").status == 0)
        #expect(try mail.contains("Subject: grocerydude: backup of p works again\n"))
        #expect(try !mail.contains("failed"))
    }

    @Test("A sync without news counts as a run, and one that does not come is missed")
    func sync() throws {
        try sandbox.directory("Shared")
        let sync = "sync: {container: ~/Shared, schedule: daily 03:30}"
        try program.configure("profiles: {p: {stores: ~/Stores, remote: ~/Remote, \(sync)}}\n")
        try install()
        #expect(try run("sync", "enable", "--yes").status == 0)
        #expect(try missed().isEmpty)
        for _ in 1...2 {
            try pass(days: 2)
            #expect(try missed().map { $0["command"] as? String } == ["sync"])
            #expect(try run("sync").status == 0)
            #expect(try missed().isEmpty)
        }
        #expect(try run("log", "--quiet").text.split(separator: "\n").count == 1)
    }

    @Test("A service that does not run is missed, however new the last backup is")
    func service() throws {
        try program.configure(
            "profiles: {p: {stores: ~/Stores, remote: ~/Remote, schedule: continuous}}\n"
        )
        for (state, command) in [(3, "backup"), (0, nil)] {
            try make(
                "systemctl",
                "[ \"$*\" != '--user is-active grocerydude-backup-p.service' ] || exit \(state)"
            )
            try install("systemd-user")
            #expect(try run("backup").status == 0)
            #expect(try missed().first?["command"] as? String == command)
            let reason =
                "the service that makes backups is not running: run 'systemctl --user status"
            #expect(try run("status").text.contains(reason) == (state != 0))
        }
    }

    @Test("A schedule that others removed is a reason, and one that was removed here is none")
    func removed() throws {
        try install()
        try sandbox.write("", to: "table")
        try pass(days: 2)
        let text = try run("notify", "missed").text
        #expect(
            text.contains("did not run: its schedule is gone: run 'grocerydude schedule install'")
        )
        try install()
        #expect(try run("schedule", "remove").status == 0)
        #expect(try missed().isEmpty)
    }

    @Test("A status shows the last 30 days, each by a sign that needs no colour and no Unicode")
    func days() throws {
        #expect(try !run("status").text.contains("30 days"))
        try install()
        #expect(try run("backup").status == 0)
        // Three days ago, after that day's time.
        let time = (Int(Date().timeIntervalSince1970) / 86_400 - 3) * 86_400_000 + 14_400_000
        try Tool.check(
            "sqlite3",
            [
                sandbox.path(".local/state/grocerydude/log.sqlite").string,
                "UPDATE schedule SET since = \(time); UPDATE run SET began = \(time)",
            ]
        )
        let answer = try #require(try run("status", "--json").json as? [String: Any])
        let days = try #require(answer["days"] as? [[String: Any]])
        let states = days.compactMap { $0["state"] as? String }
        #expect(days.count == 30 && states[26] == "done" && states[28] == "missed", "\(states)")
        #expect(states.prefix(26).allSatisfy { $0 == "none" })
        for (locale, none, done) in [("C", ".", "+"), ("C.UTF-8", "·", "✓")] {
            let environment = ["PATH": "\(sandbox.path("bin")):/usr/bin:/bin", "LC_ALL": locale]
            let text = try program.run(["status"], environment: environment).text
            let strip = String(repeating: none, count: 26) + done
            #expect(text.contains(" \(strip)??") && text.contains("  \(done) done, ? missed\n"))
            #expect(locale != "C" || text.utf8.allSatisfy { $0 < 0x80 })
        }
    }

    @Test("The block of a crontab looks for missed runs if somebody is to be notified")
    func crontab() throws {
        try install()
        let table = String(decoding: try sandbox.read("table"), as: UTF8.self)
        #expect(table.contains("\n53 * * * * "))
        #expect(table.contains(" notify missed --profile p --quiet\n"))
        #expect(try !run("schedule", "show").errors.contains("warning"))
        try program.configure(
            "profiles: {p: {stores: ~/Stores, remote: ~/Remote, schedule: daily 03:30}}\n"
        )
        try install()
        let plain = String(decoding: try sandbox.read("table"), as: UTF8.self)
        #expect(!plain.contains("notify"))
    }

    @Test("A backup that is too old has its reason in one line")
    func reason() throws {
        let none = try run("status", "--max-age", "1h", "--quiet")
        #expect(none.status == 25)
        #expect(none.errors == "grocerydude: warning: there is no good backup: no run is logged\n")
        #expect(try run("backup", "--remote", "/missing").status == 10)
        try FileManager.default.removeItem(atPath: sandbox.path("Remote").string)
        #expect(try run("backup").status == 10)
        try sandbox.directory("Remote")
        let failed = try run("status", "--max-age", "1h", "--quiet")
        #expect(failed.errors.contains("the last run was at "))
        #expect(failed.errors.contains(", exit code 10: there is no remote folder"))
        #expect(failed.errors.split(separator: "\n").count == 1)
        try install()
        try pass(days: 3)
        let missed = try run("status", "--max-age", "1h", "--quiet")
        #expect(
            missed.status == 25 && missed.errors.contains("there is no good backup: the backup of")
        )
    }

    @Test("A status shows the last proof of a restore, and of which backup")
    func proof() throws {
        #expect(try run("backup").status == 0)
        #expect(try run("status").text.contains("\nrestore   never proved\n"))
        #expect(try run("check", "latest").status == 0)
        #expect(try run("status").text.contains("\nrestore   never proved\n"))
        #expect(try run("check", "latest", "--restore").status == 0)
        #expect(try run("status").text.contains("\nrestore   rehearsed "))
        #expect(try run("restore", "latest", "--yes").status == 0)
        let status = try run("status")
        #expect(status.text.contains("\nrestore   made ") && status.text.contains("Stores.zip'\n"))
        let json = try #require(try run("status", "--json").json as? [String: Any])
        #expect((json["proved"] as? [String: String])?["kind"] == "restore")
    }

    @Test("An unattended backup mentions once a month that the key was never tried")
    func key() throws {
        let home = try EncryptedHome()
        func errors() throws -> String { try home.encrypt(["--quiet"]).errors }
        #expect(try errors().contains("no backup here was ever opened with the secret key"))
        #expect(try errors().isEmpty)
        let log = home.program.sandbox.path(".local/state/grocerydude/log.sqlite").string
        let later = "UPDATE notice SET time = time - 31 * 86400000"
        try Tool.check("sqlite3", [log, later])
        #expect(try errors().contains("run 'grocerydude key check latest'"))
        let check = ["key", "check", "--all", "--identity", home.key]
        #expect(try home.program.run(check).status == 0)
        try Tool.check("sqlite3", [log, later])
        #expect(try errors().isEmpty)
    }
}
