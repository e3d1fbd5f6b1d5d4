import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Answers that make no sense, and places that cannot be used.
@Suite("A setup that cannot begin or go on")
struct SetupRefusalTests {
    let home: SetupHome

    init() throws {
        home = try SetupHome()
    }

    private var sandbox: Sandbox { home.sandbox }

    /// Expects an error before anything is done.
    private func refuse(
        _ arguments: [String],
        _ words: String,
        status: Int32,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try sandbox.contents(of: "Disk")
        let outcome = try home.setUp(arguments, status: status)
        #expect(outcome.errors.contains(words), "\(outcome.errors)", sourceLocation: sourceLocation)
        #expect(outcome.text.isEmpty, sourceLocation: sourceLocation)
        #expect(try sandbox.contents(of: "Disk") == before, sourceLocation: sourceLocation)
        #expect(!sandbox.exists(SetupHome.piece) && !sandbox.exists(SetupHome.identity))
        #expect(!sandbox.exists("table"), sourceLocation: sourceLocation)
    }

    @Test("A setup without a terminal names the option that is missing, and the line with all")
    func noTerminal() throws {
        try refuse([], "hint: grocerydude setup --stores DIR --remote FOLDER", status: 64)
        let stores = ["--stores", sandbox.path("Vault").string]
        try refuse(stores, "no '--remote FOLDER'", status: 64)
        try refuse(home.places, "no '--encrypt or --no-encrypt'", status: 64)
        try refuse(home.places + ["--no-encrypt"], "'--yes'", status: 64)
    }

    @Test("A setup refuses answers that make no sense")
    func answers() throws {
        let rest = ["--no-encrypt", "--yes"]
        try refuse(
            home.places + rest + ["--schedule", "now"],
            "'now' is not a schedule",
            status: 64
        )
        try refuse(home.places + rest + ["--keep", "ever"], "'ever'", status: 64)
        try refuse(
            home.places + rest + ["--schedule", "continuous"],
            "cannot be written for cron",
            status: 1
        )
        try refuse(
            home.places + rest + ["--schedule", "oncalendar 2020-01-01"],
            "never runs again",
            status: 1
        )
        try refuse(home.places + rest + ["--set", "compresion=best"], "compresion", status: 64)
        let notify = try home.setUp(
            home.places + rest + ["--notify", "pigeon:\u{1B}[2J"],
            status: 64
        )
        #expect(!notify.errors.contains("\u{1B}"))
    }

    @Test("A setup refuses a directory that is missing, has no store, or is no directory")
    func stores() throws {
        func refuse(_ name: String, _ words: String) throws {
            let places = ["--stores", sandbox.path(name).string, "--remote", home.folder]
            try self.refuse(places + ["--no-encrypt", "--yes"], words, status: 1)
        }
        try refuse("Vaults", "did you mean '\(sandbox.path("Vault"))'?")
        try sandbox.directory("Empty")
        try refuse("Empty", "there is no SQLite database in '\(sandbox.path("Empty"))'")
        try sandbox.write("a file", to: "file")
        try refuse("file", "file")
        try sandbox.write("no store", to: "Texts/a\u{1B}[2Jb.db")
        try refuse("Texts", "there is no SQLite database")
    }

    @Test("A setup puts nothing into a directory that has data, or where nothing can be made")
    func folder() throws {
        func refuse(_ folder: String, _ words: String, status: Int32) throws {
            let places = ["--stores", sandbox.path("Vault").string, "--remote", folder]
            try self.refuse(places + ["--no-encrypt", "--yes"], words, status: status)
        }
        try sandbox.write("mine", to: "Documents/a\u{1B}[2Jb")
        let documents = sandbox.path("Documents").string
        try refuse(documents, "has other data in it, such as 'a\\u{1b}[2Jb'", status: 64)
        try refuse(sandbox.path("Vault/Backups").string, "inside the stores directory", status: 1)
        try refuse(sandbox.path("Vault").string, "inside the stores directory", status: 1)
        try refuse("\(documents)/a\u{1B}[2Jb/c", "not a directory", status: 1)
        try refuse("nas:backups", "'rclone:nas:backups'", status: 64)
        try refuse("rclone:nas", "'rclone:nas:'", status: 64)
        if Tool.isInstalled("rclone") {
            try refuse("rclone:nope:x", "has no such remote", status: 10)
        }
        if geteuid() == 0 {
            let place = ["--stores", sandbox.path("Vault").string, "--remote", "/proc/here"]
            let stopped = try home.setUp(place + ["--no-encrypt", "--yes"], status: 1)
            #expect(stopped.text.hasPrefix("not done:\n  grocerydude link /proc/here "))
            #expect(!sandbox.exists(".config/grocerydude/config.d"))
        }
        // The marks of others in an otherwise empty folder are no data.
        try sandbox.write("", to: "Disk/vault/.stfolder/x")
        try home.setUp(home.places + ["--no-encrypt", "--yes"])
    }

    @Test("A setup does nothing if a person's file or the environment decides a setting")
    func decided() throws {
        try home.program.configure("profiles: {default: {schedule: hourly, keep_x: 1}}\n")
        try refuse(home.places + ["--no-encrypt", "--yes"], "unknown key 'keep_x'", status: 64)
        try home.program.configure(
            "profiles: {default: {schedule: hourly, retention: {keep_daily: 9}}}\n"
        )
        let rest = ["--no-encrypt", "--yes"]
        try refuse(
            home.places + rest + ["--schedule", "daily"],
            "was written by hand",
            status: 64
        )
        try refuse(
            home.places + rest + ["--keep", "week"],
            "'retention: {keep_daily: \"7\"}'",
            status: 64
        )
        // What is there is kept.
        try home.setUp(home.places + rest)
        #expect(try !home.text().contains("retention") && !home.text().contains("\n    schedule:"))
        let other = try home.program.run(
            ["setup", "--schedule", "daily", "--yes"],
            environment: home.environment.merging(["GROCERYDUDE_SCHEDULE": "every 6h"]) { $1 }
        )
        #expect(other.status == 64, "\(other.errors)")
    }

    @Test("A setup fails at once while another one is at work")
    func together() async throws {
        try sandbox.directory(".local/state/grocerydude")
        let lock = try await FileLock.acquire(sandbox.path(".local/state/grocerydude"))
        try refuse(home.places + ["--no-encrypt", "--yes"], "is in use", status: 11)
        withExtendedLifetime(lock) {}
    }

    /// Whether this process may make a mount namespace, and mount in it.
    private static var mayMount: Bool {
        (try? Tool.run("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/mnt"]))?.status == 0
    }

    @Test("A setup on a full disk says what is done, and goes on later", .enabled(if: mayMount))
    func fullDisk() throws {
        var random = Pseudorandom(seed: 3)
        try sandbox.write(random.bytes(1_000_000), to: "Vault/noise")
        let disk = sandbox.path("Disk").string
        let script = #"mount -t tmpfs -o size=256k none "$1" || exit 99; shift; exec "$@""#
        let outcome = try Tool.run(
            "unshare",
            ["-m", "sh", "-c", script, "sh", disk, Program.path, "setup"] + home.places
                + ["--no-encrypt", "--yes"],
            environment: home.program.environment.merging(home.environment) { $1 },
            directory: sandbox.path
        )
        #expect(outcome.status == 23, "\(outcome.text)\(outcome.errors)")
        #expect(outcome.text.hasPrefix("linked 'default' to "))
        #expect(outcome.text.contains("not done:\n  grocerydude backup --profile default\n"))
        #expect(outcome.errors.contains("to go on, run: grocerydude setup --stores "))
        #expect(!sandbox.exists("table"))
        try sandbox.directory("Disk/vault")
        try home.setUp(["--kind", "cron", "--yes"])
        #expect(try home.text("table").contains("BEGIN grocerydude-backup-default"))
    }
}
