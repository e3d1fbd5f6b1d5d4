import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import grocerydude

/// What schedules are written, and what becomes of them.
///
/// `systemctl` and `crontab` are stand-ins that keep what they are told, since the real ones would
/// change this machine.
@Suite("An installed schedule")
struct ScheduleInstallationTests {
    let program: Program

    init() throws {
        program = try Program()
        try program.configure(
            """
            profiles:
              photos: {stores: ~/Stores, remote: ~/Remote, schedule: daily 03:30, check: {schedule: weekly}}
              none: {stores: ~/None}
            """
        )
    }

    private var sandbox: Sandbox { program.sandbox }

    /// Runs it with the stand-ins.
    @discardableResult
    private func run(_ arguments: String..., failing: Bool = false) throws -> Tool.Outcome {
        try runStandIns(arguments, failing: failing)
    }

    private func runStandIns(_ arguments: [String], failing: Bool = false) throws -> Tool.Outcome {
        try sandbox.write(
            """
            #!/bin/sh
            echo "$*" >>'\(sandbox.path("calls"))'
            case "$*" in *enable*) test -z "$FAILING" || { echo 'no bus' >&2; exit 1; } ;; esac

            """,
            to: "bin/systemctl"
        )
        try sandbox.write(
            """
            #!/bin/sh
            cd '\(sandbox.path)'
            case $1 in
            -l) cat table 2>/dev/null || { echo 'no crontab for you' >&2; exit 1; } ;;
            -) test -z "$FAILING" || { echo 'bad minute' >&2; exit 1; }; cat >table ;;
            -r) rm table ;;
            esac

            """,
            to: "bin/crontab"
        )
        for name in ["systemctl", "crontab"] {
            try File.open(sandbox.path("bin/\(name)")).setMode(0o755)
        }
        return try runProgram(["schedule"] + arguments, failing: failing)
    }

    private func runProgram(_ arguments: [String], failing: Bool = false) throws -> Tool.Outcome {
        try program.run(
            arguments,
            environment: [
                "PATH": "\(sandbox.path("bin")):/usr/bin:/bin", "FAILING": failing ? "1" : "",
            ]
        )
    }

    private func text(_ path: String) throws -> String {
        String(decoding: try sandbox.read(path), as: UTF8.self)
    }

    private let units = ".config/systemd/user/grocerydude"

    @Test("A schedule is written as systemd units, started, shown and removed")
    func systemd() throws {
        let installed = try run("install", "--profile", "photos", "--kind", "systemd-user")
        #expect(installed.status == 0, "\(installed.errors)")
        #expect(try text("\(units)-backup-photos.timer").contains("OnCalendar=*-*-* 03:30:00\n"))
        #expect(
            try text("\(units)-backup-photos.service")
                .contains("ExecStart=\(Program.path) backup --profile photos --quiet\n")
        )
        #expect(try text("\(units)-check-photos.timer").contains("OnCalendar=Mon *-*-* 00:00:00\n"))
        #expect(try FileInfo(of: sandbox.path("\(units)-backup-photos.timer")).mode == 0o644)
        #expect(
            try text("calls").split(separator: "\n") == [
                "--user daemon-reload", "--user enable --now grocerydude-backup-photos.timer",
                "--user daemon-reload", "--user enable --now grocerydude-check-photos.timer",
            ]
        )
        let shown = try run("show", "--profile", "photos", "--json")
        let answer = try #require(shown.json as? [String: Any])
        let jobs = try #require(answer["jobs"] as? [[String: Any]])
        #expect(jobs.map { $0["operation"] as? String } == ["backup", "check"])
        let place = try #require((jobs[0]["installed"] as? [[String: Any]])?.first)
        #expect(place["kind"] as? String == "systemd-user" && place["current"] as? Bool == true)
        #expect((jobs[0]["next"] as? String)?.contains("T03:30:00") == true)

        // What is set changes: it is no longer current, and a check that is not set is removed.
        try program.configure("profiles: {photos: {schedule: hourly}}\n")
        #expect(try run("show").errors.contains("is not as it would be now"))
        #expect(try run("install", "--kind", "systemd-user").status == 0)
        #expect(!sandbox.exists("\(units)-check-photos.timer"))
        #expect(try !run("show").text.contains("check"))

        #expect(try run("remove", "--dry-run").text.contains("would remove"))
        #expect(sandbox.exists("\(units)-backup-photos.timer"))
        #expect(try run("remove").status == 0)
        #expect(try Directory.open(sandbox.path(".config/systemd/user")).names() == [])
        #expect(try run("remove").errors.contains("nothing is installed"))
    }

    @Test("A schedule of a profile that is gone is shown, and removed by the profile's name")
    func stray() throws {
        try run("install", "--profile", "photos", "--kind", "systemd-user", "--no-enable")
        try program.configure("profiles: {pictures: {stores: ~/Stores, remote: ~/Remote}}\n")
        let shown = try run("show")
        #expect(
            shown.errors.contains("the profile 'photos', which is not configured"),
            "\(shown.errors)"
        )
        #expect(shown.errors.contains("grocerydude schedule remove --profile photos'"))
        #expect(try run("remove", "--profile", "photos").status == 0)
        #expect(!sandbox.exists("\(units)-backup-photos.timer"))
        #expect(try !run("show").errors.contains("photos"))
    }

    @Test("A schedule for other places than the profile's is refused, and the installed one stays")
    func otherPlaces() throws {
        try run("install", "--profile", "photos", "--kind", "cron")
        let before = try text("table")
        for option in [["--stores", "Other"], ["--remote", "Other"]] {
            let refused = try runStandIns(
                ["install", "--profile", "photos", "--kind", "cron"] + option
            )
            #expect(
                refused.status == 1 && refused.errors.contains("'photos' has another"),
                "\(refused.errors)"
            )
        }
        #expect(try text("table") == before)
    }

    @Test(
        "A schedule that was given only to the installation is shown as such",
        arguments: [
            ("systemd-user", "continuous 1m"), ("systemd-user", "daily 04:00"), ("cron", "hourly"),
        ]
    )
    func given(kind: String, schedule: String) throws {
        let options = ["--profile", "none", "--kind", kind]
        let installed = try runStandIns(
            ["install", "--schedule", schedule, "--no-enable"] + options
        )
        #expect(installed.status == 0, "\(installed.errors)")
        let shown = try runStandIns(["show"] + options)
        #expect(shown.text.hasPrefix("backup  \(schedule)"))
        #expect(shown.errors.contains("given with the installation"))
        #expect(!shown.errors.contains("warning"), "\(shown.errors)")
        // It stays so once something else is to be written.
        try program.configure("profiles: {none: {stores: ~/None, remote: rclone:none:here}}\n")
        try sandbox.write("#!/bin/sh\n", to: "bin/rclone")
        try File.open(sandbox.path("bin/rclone")).setMode(0o755)
        let again = try runStandIns(["show"] + options)
        let words = "grocerydude schedule install --profile none"
        let command = "\(words) \(Advice.option("schedule", schedule))"
        #expect(again.errors.contains("run \(Advice.quoted(command))"), "\(again.errors)")
    }

    @Test("A schedule that systemd refuses changes nothing")
    func systemdFails() throws {
        let refused = try run(
            "install",
            "--profile",
            "photos",
            "--kind",
            "systemd-user",
            failing: true
        )
        #expect(refused.status == 1)
        #expect(refused.errors.contains("failed: no bus"))
        #expect(refused.errors.contains("hint: '--dry-run' prints"))
        #expect(try Directory.open(sandbox.path(".config/systemd/user")).names() == [])
        // Over one that is there, too.
        #expect(try run("install", "--profile", "photos", "--kind", "systemd-user").status == 0)
        let before = try sandbox.contents(of: ".config/systemd").items.map(\.detail)
        try program.configure("profiles: {photos: {schedule: hourly}}\n")
        #expect(try run("install", "--kind", "systemd-user", failing: true).status == 1)
        #expect(try sandbox.contents(of: ".config/systemd").items.map(\.detail) == before)
        // If nobody is to be notified, nobody is asked.
        let written = try run("install", "--kind", "systemd-user", "--no-enable", failing: true)
        #expect(written.status == 0)
    }

    @Test("A schedule becomes a block of the crontab, and the other lines stay")
    func cron() throws {
        // One of the other lines is in an old encoding.
        let others = Array("MAILTO=anna\n# caf".utf8) + [0xE9] + Array("\n0 0 * * * true\n".utf8)
        try sandbox.write(others, to: "table")
        #expect(try run("install", "--profile", "photos", "--kind", "cron").status == 0)
        let table = try text("table")
        #expect(try sandbox.read("table").starts(with: others))
        #expect(
            table.contains(
                "\n30 3 * * * \(Program.path) backup --profile photos --quiet\n"
            )
        )
        #expect(try run("install", "--profile", "photos", "--kind", "cron").status == 0)
        #expect(try text("table") == table)
        #expect(try run("show", "--profile", "photos").text.contains("  cron: crontab"))
        #expect(try run("remove", "--profile", "photos", failing: true).status == 1)
        #expect(try text("table") == table)
        #expect(try run("remove", "--profile", "photos").status == 0)
        #expect(try sandbox.read("table") == others)
        try sandbox.write("# BEGIN grocerydude-backup-photos (x)\n", to: "table")
        let broken = try run("install", "--profile", "photos", "--kind", "cron")
        #expect(broken.status == 1 && broken.errors.contains("crontab -e"))
        #expect(try text("table") == "# BEGIN grocerydude-backup-photos (x)\n")
    }

    @Test("The status shows an installed schedule, and none that is not installed")
    func status() throws {
        try sandbox.directory("Remote")
        func status(_ arguments: String...) throws -> Tool.Outcome {
            try runProgram(["status", "--profile", "photos"] + arguments)
        }
        // It also brings the stand-in, without which this machine's crontab would be asked.
        #expect(try run("show", "--profile", "photos").status == 0)
        #expect(try status().text.contains("next run  none: 'daily 03:30' is not installed\n"))
        let before = try #require(try status("--json").json as? [String: Any])
        #expect((before["schedule"] as? [String: Any])?["installed"] as? Bool == false)
        #expect(before["next_run"] == nil)
        #expect(try run("install", "--profile", "photos", "--kind", "cron").status == 0)
        #expect(try status().text.contains(#/next run  \d{4}-\d\d-\d\d 03:30:00\n/#))
        let after = try #require(try status("--json").json as? [String: Any])
        #expect((after["schedule"] as? [String: Any])?["installed"] as? Bool == true)
        #expect((after["next_run"] as? String)?.contains("T03:30:00") == true)
        // It is about other places that nothing is scheduled for.
        let other = try status("--remote", sandbox.path("Remote").string, "--stores", "/elsewhere")
        #expect(!other.text.contains("next run"))
    }

    @Test("A schedule creates a crontab if none exists, and takes an empty one away again")
    func firstCrontab() throws {
        #expect(
            try run("install", "--profile", "none", "--kind", "cron", "--schedule", "hourly").status
                == 0
        )
        #expect(try text("table").hasPrefix("# BEGIN grocerydude-backup-none ("))
        #expect(try run("remove", "--profile", "none").status == 0)
        #expect(!sandbox.exists("table"))
    }

    @Test("An installation reports why a schedule is missing or wrong")
    func refused() throws {
        let none = try run("install", "--profile", "none", "--kind", "cron")
        #expect(none.status == 1)
        #expect(none.errors.contains("the profile 'none' has no schedule"))
        #expect(none.errors.contains("hint: add 'schedule: daily 03:30' to"))
        let wrong = try run("install", "--profile", "none", "--schedule", "daily 25:00")
        #expect(wrong.status == 64 && wrong.errors.contains("'daily 25:00' is not a schedule"))
        for (schedule, kind) in [
            ("cron 1 * * * *", "systemd-user"), ("oncalendar hourly", "cron"),
        ] {
            let outcome = try run(
                "install",
                "--profile",
                "none",
                "--schedule",
                schedule,
                "--kind",
                kind
            )
            #expect(outcome.status == 1 && outcome.errors.contains("cannot be written for \(kind)"))
        }
        #expect(!sandbox.exists("table") && !sandbox.exists(".config/systemd"))
    }

    @Test(
        "A schedule is refused if the system has neither systemd nor cron",
        .disabled(if: FileManager.default.fileExists(atPath: "/run/systemd/system"))
    )
    func nothingThere() throws {
        let outcome = try program.run(
            ["schedule", "install", "--profile", "photos"],
            environment: ["PATH": sandbox.path("empty").string]
        )
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("neither systemd nor cron"))
        let named = try program.run(
            ["schedule", "install", "--profile", "photos", "--kind", "cron"],
            environment: ["PATH": sandbox.path("empty").string]
        )
        #expect(named.status == 1 && named.errors.contains("program 'crontab' is not installed"))
    }
}
