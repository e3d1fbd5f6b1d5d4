import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import grocerydude

/// 'setup' by options, as a script has it.
@Suite("Setting up in one line")
struct SetupTests {
    let home: SetupHome

    init() throws {
        home = try SetupHome()
    }

    private var sandbox: Sandbox { home.sandbox }

    @Test("A setup links, writes settings, makes a backup, rehearses a restore and schedules")
    func whole() throws {
        let data = try sandbox.contents(of: "Vault")
        let outcome = try home.setUp(
            home.places + ["--no-encrypt", "--schedule", "daily 03:30", "--keep", "year", "--yes"]
        )
        #expect(try sandbox.contents(of: "Vault") == data)
        #expect(
            try home.text().split(separator: "\n").dropFirst().joined(separator: "\n") == """
                profiles:
                  default:
                    check:
                      restore: "true"
                      schedule: "weekly sun 05:00"
                    max_age: "26h"
                    prune: "true"
                    remote: "\(home.folder)"
                    retention:
                      keep_daily: "7"
                      keep_monthly: "12"
                      keep_weekly: "5"
                    schedule: "daily 03:30"
                    stores: "\(sandbox.path("Vault"))"
                """
        )
        #expect(try home.archives().count == 1)
        let table = try home.text("table")
        #expect(table.contains("30 3 * * * \(Program.path) backup --profile default --quiet\n"))
        #expect(table.contains("0 5 * * 0 \(Program.path) check --profile default --quiet\n"))
        for line in [
            "  grocerydude link \(home.folder) --stores \(sandbox.path("Vault")) --profile default\n",
            "  write '\(sandbox.path(SetupHome.piece))'\n",
            "  grocerydude backup --profile default\n",
            "  grocerydude check latest --restore --profile default\n",
            "  grocerydude schedule install --profile default\n",
            "  retention:\n",
        ] { #expect(outcome.text.contains(line), "\(line) \(outcome.text)") }
        #expect(!outcome.text.contains("not done"))
        let status = try home.run(["status"])
        #expect(status.text.contains("next run  20"), "\(status.text)")
        #expect(try home.run(["log"]).text.contains("check"))
        #expect(try home.run(["schedule", "show"]).errors.isEmpty)
    }

    @Test("A setup tries at its end whom it is to notify")
    func notified() throws {
        try home.install("#!/bin/sh\ncat > '\(sandbox.path("mail"))'\n", as: "sendmail")
        let answers = home.places + ["--no-encrypt", "--notify", "mail:anna@example.org", "--yes"]
        let outcome = try home.setUp(answers)
        #expect(outcome.text.contains("  grocerydude notify test --profile default\n"))
        #expect(try home.text().contains("mail:anna@example.org"))
        #expect(try home.text("mail").contains("To: anna@example.org"))
        #expect(try home.text("table").contains(" notify missed "))
        // All else is done if the message does not arrive.
        try home.install("#!/bin/sh\nexit 1\n", as: "sendmail")
        let failed = try home.setUp(answers, status: 1)
        #expect(failed.text.contains("notify test"), "\(failed.text)")
        #expect(try home.archives().count == 2)
    }

    @Test("A second setup changes what is said, and keeps all else")
    func again() throws {
        try home.setUp(home.places + ["--no-encrypt", "--keep", "year", "--yes"])
        let outcome = try home.setUp(["--keep", "week", "--schedule", "every 6h", "--yes"])
        let text = try home.text()
        #expect(!text.contains("keep_monthly") && !text.contains("keep_weekly"))
        #expect(text.contains("keep_daily: \"7\"") && text.contains("keep_hourly: \"24\""))
        #expect(text.contains("schedule: \"every 6h\"") && text.contains("max_age: \"8h\""))
        #expect(outcome.text.contains("  grocerydude link --check --profile default\n"))
        #expect(try home.text("table").contains("0 0,6,12,18 * * *"))
        #expect(try home.archives().count == 2)
        // Nothing changes, and nothing is written.
        let same = try home.setUp(["--yes"])
        #expect(!same.text.contains("write '") && same.text.contains(" backup --profile default"))
        #expect(try home.text() == text)
    }

    @Test("A setup with another folder needs --replace, and leaves the backups in the first")
    func replace() throws {
        try home.setUp(home.places + ["--no-encrypt", "--yes"])
        let other = sandbox.path("Disk/other").string
        let refused = try home.setUp(["--remote", other, "--yes"], status: 1)
        #expect(refused.errors.contains("'--replace'"))
        #expect(!sandbox.exists("Disk/other"))
        try home.setUp(["--remote", other, "--replace", "--yes"])
        #expect(try home.archives().count == 1)
        #expect(try home.archives("Disk/other").count == 1)
        #expect(try home.text().contains("remote: \"\(other)\""))
    }

    @Test("An encrypted setup makes a key once, tries it, and rehearses a restore")
    func encrypted() throws {
        let outcome = try home.setUp(home.places + ["--encrypt", "--keep", "month", "--yes"])
        #expect(outcome.text.contains("  grocerydude key generate\n"))
        #expect(outcome.text.contains("  grocerydude key check latest --profile default\n"))
        #expect(!outcome.text.contains("AGE-SECRET-KEY"))
        #expect(try home.archives().allSatisfy { $0.hasSuffix(".zip.age") })
        let key = try home.text(SetupHome.identity)
        let recipient = try #require(key.firstMatch(of: #/public key: (age1\S+)/#)?.1)
        #expect(try home.text().contains("recipients: \"\(recipient)\""))
        let again = try home.setUp(["--yes"])
        #expect(!again.text.contains("key generate"))
        #expect(try home.text(SetupHome.identity) == key)
        try home.setUp(["--no-encrypt", "--yes"])
        #expect(try home.text().contains("recipients: \"none\""))
        #expect(try home.archives().count { $0.hasSuffix(" Stores.zip") } == 1)
        // The key that is there is taken.
        try home.setUp(["--encrypt", "--yes"])
        #expect(try home.text(SetupHome.identity) == key)
    }

    @Test("A setup without the secret key says that it tried nothing, and schedules no rehearsal")
    func otherKey() throws {
        let made = try home.run(["key", "generate", "--output", sandbox.path("far.txt").string])
        let recipient = made.text.split(separator: "\n")[0]
        try home.program.configure("profiles: {default: {recipients: \(recipient)}}\n")
        let outcome = try home.setUp(home.places + ["--yes"])
        #expect(outcome.errors.contains("no key here opens the backups"))
        #expect(!outcome.text.contains("key check"))
        #expect(try home.archives().allSatisfy { $0.hasSuffix(".zip.age") })
        #expect(try !home.text().contains("check:"))
    }

    @Test("A setup whose key opens nothing makes no schedule, and says how to go on")
    func wrongKey() throws {
        let key = sandbox.path(SetupHome.identity).string
        try home.program.configure(
            "profiles: {default: {hooks: {backup: {after: rm '\(key)'}}}}\n"
        )
        let outcome = try home.setUp(home.places + ["--encrypt", "--yes"], status: 12)
        #expect(outcome.text.contains("not done:\n  grocerydude key check latest"))
        #expect(outcome.errors.contains("to go on, run: grocerydude setup --stores "))
        #expect(outcome.errors.contains(" --encrypt --schedule 'daily 03:30' --keep month"))
        #expect(!sandbox.exists("table"))
    }

    @Test("A dry run of a setup shows the steps and the settings, and changes nothing")
    func dryRun() throws {
        let outcome = try home.setUp(home.places + ["--encrypt", "--dry-run"])
        #expect(outcome.text.hasPrefix("would do:\n  grocerydude link "))
        #expect(outcome.text.contains("the settings would be:\n  schedule: daily 03:30\n"))
        #expect(outcome.text.contains("  recipients: the key\n"))
        #expect(!sandbox.exists(".config") && !sandbox.exists("Disk/vault"))
        #expect(!sandbox.exists("table"))
    }

    @Test(
        "A setup without a scheduler does all else, and ends with 3",
        .disabled(if: FileManager.default.fileExists(atPath: "/run/systemd/system"))
    )
    func noScheduler() throws {
        try LocalFileSystem().remove(sandbox.path("bin/crontab"))
        let outcome = try home.program.run(
            ["setup", "--no-encrypt", "--yes"] + home.places.dropLast(2),
            environment: ["PATH": sandbox.path("bin").string]
        )
        #expect(outcome.status == 3, "\(outcome.errors)")
        #expect(outcome.errors.contains("neither systemd nor cron"))
        #expect(try home.archives().count == 1)
    }

    @Test("A setup of a named profile leaves the others as they are")
    func profiles() throws {
        try home.setUp(home.places + ["--no-encrypt", "--yes"])
        let first = try home.text()
        try home.program.make(stores: "Photos", remote: "Disk/photos")
        try home.setUp(
            [
                "--profile", "photos", "--stores", sandbox.path("Photos").string, "--remote",
                sandbox.path("Disk/photos").string, "--no-encrypt", "--kind", "cron", "--yes",
                "--origin", "anna", "--set", "compression=best",
            ]
        )
        #expect(try home.text() == first)
        let second = try home.text(".config/grocerydude/config.d/photos.yaml")
        #expect(second.contains("origin: \"anna\"") && second.contains("compression: \"best\""))
        #expect(try home.run(["status"]).text.contains(home.folder))
        #expect(try home.text("table").contains("backup --profile photos --quiet"))
    }

    @Test("A setup shows no secret of what it writes")
    func secrets() throws {
        var piece = try #require(try GeneratedPiece(of: "p", nil, nil))
        piece.values = ["remote": "rclone::sftp,host=x,pass=secret:y", "stores": "/s"]
        let shown = try #require(try piece.shown.text)
        #expect(!shown.contains("secret") && shown.contains("host=x") && shown.contains("\"/s\""))
    }
}
