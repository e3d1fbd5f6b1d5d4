import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import grocerydude

/// What is written for systemd and cron, with names that each of them could misread.
@Suite("A scheduled run")
struct ScheduledRunTests {
    let program: Program
    /// The program by a name that is hard to write.
    let link: FilePath

    private static let hard = #"a 100%d $HOME & "b" 'c' \d"#

    init() throws {
        program = try Program()
        try program.sandbox.directory(Self.hard)
        link = try program.sandbox.link("\(Self.hard)/grocerydude", to: Program.path)
        try program.make(stores: "\(Self.hard)/Stores", remote: "\(Self.hard)/Remote")
        try program.sandbox.write(
            "profiles: {p: {stores: Stores, remote: Remote, schedule: daily 03:30}}\n",
            to: "\(Self.hard)/config.yaml"
        )
    }

    private var sandbox: Sandbox { program.sandbox }

    /// What would be written, the files by their names.
    private func files(
        _ kind: String,
        program name: FilePath? = nil,
        configuration: String? = nil,
        environment: [String: String] = [:]
    ) throws -> [String: String] {
        let outcome = try Tool.run(
            (name ?? link).string,
            [
                "schedule", "install", "--dry-run", "--json", "--kind", kind, "--config",
                configuration ?? sandbox.path("\(Self.hard)/config.yaml").string,
            ],
            environment: ["HOME": sandbox.path.string, "XDG_CONFIG_HOME": ""]
                .merging(environment) { $1 }
        )
        #expect(outcome.status == 0, "\(outcome.errors)")
        let answer = try #require(outcome.json as? [String: Any])
        let files = try #require(answer["files"] as? [[String: String]])
        return Dictionary(
            uniqueKeysWithValues: files.map {
                (FilePath($0["path"] ?? "").lastComponent?.string ?? "", $0["text"] ?? "")
            }
        )
    }

    @Test("A scheduled run backs up if cron's line is run as cron runs it")
    func cron() throws {
        let text = try #require(files("cron")["crontab"])
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("30 3 * * * ") })
        // crontab(5): a % ends the command unless it is escaped, and then is a plain character.
        let parts = String(line.dropFirst(11)).replacing(#"\%"#, with: "\u{1}")
        #expect(!parts.contains("%"))
        let outcome = try Tool.run(
            "/usr/bin/env",
            [
                "-i", "HOME=\(sandbox.path)", "PATH=/usr/bin:/bin", "/bin/sh", "-c",
                parts.replacing("\u{1}", with: "%"),
            ]
        )
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.isEmpty && outcome.errors.isEmpty)
        #expect(try Directory.open(sandbox.path("\(Self.hard)/Remote")).names().count == 1)
    }

    @Test(
        "A scheduled run has units that systemd accepts",
        .enabled(if: Tool.isInstalled("systemd-analyze"), "systemd is not installed"),
        arguments: ["systemd-user", "systemd-system"]
    )
    func systemd(kind: String) throws {
        // One program that systemd can be given, and one that it cannot.
        try sandbox.directory("with space 100%")
        let plain = try sandbox.link("with space 100%/grocerydude", to: Program.path)
        for (name, directory) in [(plain, "plain"), (link, "hard")] {
            let files = try files(kind, program: name)
            #expect(files.count == 3)
            for (file, text) in files { try sandbox.write(text, to: "\(directory)/\(file)") }
            let outcome = try Tool.run(
                "systemd-analyze",
                (kind == "systemd-user" ? ["--user"] : []) + ["verify", "--man=no"]
                    + files.keys.sorted().map { sandbox.path("\(directory)/\($0)").string },
                environment: ["LC_ALL": "C", "XDG_RUNTIME_DIR": sandbox.path.string]
            )
            let ours = outcome.errors.split(separator: "\n").filter { $0.contains("grocerydude") }
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(ours.isEmpty, "\(outcome.errors)")
        }
    }

    @Test("A scheduled run is hardened for systemd, except for hooks, which may need anything")
    func hardening() throws {
        let system = try #require(files("systemd-system")["grocerydude-backup-p.service"])
        #expect(
            system.contains("\nNoNewPrivileges=yes\n") && system.contains("\nEnvironment=HOME=")
        )
        // A path with quotes cannot be in a list of paths.
        #expect(!system.contains("ProtectSystem="))
        let plain = try sandbox.write(
            "profiles: {p: {stores: /srv/a b/Stores, remote: /mnt/100%, schedule: hourly}}\n",
            to: "plain.yaml"
        )
        let strict = try #require(
            files("systemd-system", configuration: plain.string)["grocerydude-backup-p.service"]
        )
        #expect(strict.contains("\nProtectSystem=strict\nReadWritePaths=\"-/srv/a b\" "))
        #expect(strict.contains("\"-/mnt/100%%\""))
        #expect(strict.contains("\nOnFailure=grocerydude-backup-p@failed.service\n"))
        #expect(strict.contains("\nRequiresMountsFor=\"/srv/a b/Stores\"\n"))
        #expect(strict.contains("\nRequiresMountsFor=\"/mnt/100%%\"\n"))
        let hooks = try sandbox.write(
            "{stores: /s, schedule: hourly, hooks: {backup: {before: sudo true}}}\n",
            to: "hooks.yaml"
        )
        let loose = try #require(
            files("systemd-system", configuration: hooks.string)["grocerydude-backup.service"]
        )
        #expect(!loose.contains("NoNewPrivileges") && loose.contains("# No sandbox"))
    }

    @Test("A scheduled run takes the relevant environment variables of its installation")
    func environment() throws {
        let environment = [
            "XDG_DATA_HOME": "/data 50%", "GROCERYDUDE_LOCK_WAIT": "5m", "GROCERYDUDE_PROFILE": "p",
        ]
        let unit = try #require(
            files("systemd-user", environment: environment)["grocerydude-backup-p.service"]
        )
        #expect(unit.contains("\nEnvironment=\"XDG_DATA_HOME=/data 50%%\"\n"))
        #expect(unit.contains("\nEnvironment=GROCERYDUDE_LOCK_WAIT=5m\n"))
        #expect(!unit.contains("GROCERYDUDE_PROFILE"))
        let line = try #require(files("cron", environment: environment)["crontab"])
        #expect(line.contains(#"* XDG_DATA_HOME='/data 50\%' GROCERYDUDE_LOCK_WAIT=5m "#))
    }

    /// Installs the profile's schedules with other variables in the environment.
    private func install(_ kind: String, _ environment: [String: String]) throws -> Tool.Outcome {
        try program.run(
            [
                "schedule", "install", "--dry-run", "--kind", kind, "--config",
                sandbox.path("\(Self.hard)/config.yaml").string,
            ],
            environment: environment
        )
    }

    @Test(
        "A scheduled run is refused if others could read its secret",
        arguments: ["systemd-user", "cron"]
    )
    func secrets(kind: String) throws {
        for (variable, value, key) in [
            ("GROCERYDUDE_PING_URL", "https://example.org/ping/Hush", "ping_url"),
            ("GROCERYDUDE_PASSWORD_COMMAND", "echo Hush", "password_command"),
            ("GROCERYDUDE_REMOTE", "rclone::sftp,host=a,pass=Hush:x", "remote"),
            ("GROCERYDUDE_CONTAINER", "rclone:nas,pass=Hush:x", "sync.container"),
        ] {
            let outcome = try install(kind, [variable: value])
            #expect(outcome.status == 1 && outcome.output.isEmpty)
            #expect(outcome.errors.contains("error: \(variable) may contain a secret"))
            #expect(outcome.errors.contains("write it into the configuration as '\(key)'"))
            #expect(!outcome.errors.contains("Hush"))
        }
        // Without options, an address has no secret.
        #expect(try install(kind, ["GROCERYDUDE_REMOTE": "rclone:nas:x"]).status == 0)
    }

    @Test("A scheduled run gives a warning about what only the installation's environment has")
    func missing() throws {
        let password = try install("cron", ["GROCERYDUDE_PASSWORD": "Hush"])
        #expect(password.status == 0 && !password.text.contains("Hush"))
        #expect(
            password.errors.contains(
                "warning: 'grocerydude-backup-p' will not have the password of GROCERYDUDE_PASSWORD: set 'password_command' or 'password_file' in the configuration"
            )
        )
        let word = try install("cron", ["GROCERYDUDE_RECIPIENTS": "password"])
        #expect(word.errors.contains("will not have the password: set 'password_command'"))
        let rclone = try install(
            "cron",
            [
                "GROCERYDUDE_REMOTE": "rclone:nas:x", "RCLONE_CONFIG_PASS": "Hush",
                "RCLONE_CONFIG": "/srv/r 100%.conf", "RCLONE_SFTP_PASS": "Hush",
            ]
        )
        #expect(rclone.errors.contains("will not have RCLONE_CONFIG_PASS, RCLONE_SFTP_PASS: "))
        #expect(rclone.text.contains(#"RCLONE_CONFIG='/srv/r 100\%.conf' "#))
        #expect(!rclone.text.contains("Hush") && !rclone.errors.contains("Hush"))
        #expect(try install("cron", [:]).errors.isEmpty)
        let file = try sandbox.write("Hush", to: "password")
        let known = ["GROCERYDUDE_PASSWORD": "Hush", "GROCERYDUDE_PASSWORD_FILE": "\(file)"]
        #expect(try install("cron", known).errors.isEmpty)
    }

    @Test("A schedule of past days is refused by the installation and by 'config validate'")
    func over() throws {
        try sandbox.write(
            "profiles: {a: {}, p: {stores: S, check: {schedule: oncalendar 2020-01-01}}}\n",
            to: "over.yaml"
        )
        for command in [
            ["config", "validate"],
            ["schedule", "install", "--dry-run", "--kind", "systemd-user", "--profile", "p"],
        ] {
            let outcome = try program.run(command + ["--config", sandbox.path("over.yaml").string])
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("'oncalendar 2020-01-01' never runs again"))
        }
        try sandbox.write("schedule: cron 0 0 30 2 *\n", to: "never.yaml")
        let never = try program.run(
            ["config", "validate", "--config", sandbox.path("never.yaml").string]
        )
        #expect(never.status == 64 && never.errors.contains("never.yaml:1: 'schedule'"))
    }

    @Test("A scheduled run quotes its words as systemd reads them")
    func quoting() {
        #expect(SystemdUnits.quoted("/usr/bin/x-y_z.1") == "/usr/bin/x-y_z.1")
        #expect(SystemdUnits.quoted("") == #""""#)
        #expect(SystemdUnits.quoted("a b") == #""a b""#)
        #expect(SystemdUnits.quoted("50%\"\\\n") == #""50%%\"\\\n""#)
        #expect(SystemdUnits.argument("$x") == #""$$x""#)
    }

    @Test("A scheduled run with a line break is refused for cron, which allows only one line")
    func lineBreak() throws {
        #expect(throws: ScheduleError.self) { try Crontab.word("a\nb") }
    }
}
