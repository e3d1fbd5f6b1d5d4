import Files
import Foundation
import History
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Backups

@Suite("The command 'report'")
struct ReportCommandTests {
    let program: Program
    private var sandbox: Sandbox { program.sandbox }

    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        try program.configure(
            """
            profiles:
              home:
                stores: \(program.sandbox.path("Stores"))
                remote: \(program.sandbox.path("Remote"))
                schedule: daily 03:30
                retention: {keep_last: 1}
              photos:
                stores: \(program.sandbox.path("Photos"))
                remote: \(program.sandbox.path("Remote 2"))
            """
        )
    }

    private func page(_ name: String = "page.html") throws -> String {
        String(decoding: try sandbox.read(name), as: UTF8.self)
    }

    private func mode(_ name: String) throws -> UInt16 {
        try FileInfo(of: sandbox.path(name)).mode & 0o777
    }

    @Test("A report has all profiles, or the one that is named, and says what is in it")
    func profiles() throws {
        try program.make(stores: "Photos", remote: "Remote 2")
        try program.expect("backup", "--profile", "home", "--quiet", "--note", "<b>&\"x\"")
        let outcome = try program.expect("report", "--html", "page.html", "--json")
        let answer = try #require(outcome.json as? [String: Any])
        #expect(answer["profiles"] as? Int == 2 && answer["backups"] as? Int == 1)
        #expect(answer["path"] as? String == sandbox.path("page.html").string)
        let size = try sandbox.read("page.html").count
        #expect(answer["size"] as? Int == size)
        let both = try page()
        #expect(both.contains("<h1>Backups of home, photos</h1>"))
        #expect(both.contains("in photos: there is no good backup"))
        #expect(both.contains("&lt;b&gt;&amp;&quot;x&quot;") && !both.contains("<b>"))
        #expect(both.contains("grocerydude schedule install --profile home"))
        #expect(try mode("page.html") == 0o600)
        // The next one replaces it, and keeps its mode.
        try Tool.check("chmod", ["644", sandbox.path("page.html").string])
        try program.expect("report", "--html", "page.html", "--profile", "photos")
        #expect(try page().contains("<h1>Backups of photos</h1>"))
        #expect(try mode("page.html") == 0o644)
        #expect(
            try Directory.open(sandbox.path).names().allSatisfy {
                !$0.description.contains("draft")
            }
        )
    }

    @Test("Commands in a report name the places of its run")
    func places() throws {
        let stores = sandbox.path("Stores").string
        try program.expect(
            "backup",
            "--stores",
            stores,
            "--remote",
            "It's",
            "--profile",
            "home",
            status: 10
        )
        try sandbox.directory("It's")
        try program.expect(
            "backup",
            "--stores",
            stores,
            "--remote",
            "It's",
            "--profile",
            "home",
            "-q"
        )
        try program.expect(
            "report",
            "--html",
            "page.html",
            "--stores",
            stores,
            "--remote",
            "It's",
            "--profile",
            "home"
        )
        let remote = shellWord(sandbox.path("It's")).replacing("'", with: "&#39;")
            .replacing("\"", with: "&quot;")
        let html = try page()
        #expect(
            html.contains("--stores &#39;\(stores)&#39;") || html.contains("--stores \(stores)")
        )
        #expect(html.contains("--remote \(remote)"), "\(remote)")
        #expect(html.contains(">grocerydude log ") && !html.contains(" \(remote)</code></dd></dl>"))
    }

    @Test("A report replaces no file that is none")
    func otherFiles() throws {
        let command = ["report", "--profile", "home", "--html"]
        try program.expect("backup", "--profile", "home", "--quiet")
        try sandbox.write("<!DOCTYPE html>\n<p>mine", to: "mine.html")
        let refused = try program.expect(command + ["mine.html"], status: 1)
        #expect(refused.errors.contains("mine.html' exists, and is not a report of this program"))
        #expect(
            refused.errors.contains("hint: name another file: ") && !refused.errors.contains("rm ")
        )
        #expect(try page("mine.html") == "<!DOCTYPE html>\n<p>mine")
        let store = try program.expect(command + ["Stores/Grocery-Dude.sqlite"], status: 1)
        #expect(!store.errors.contains("rm "), "a pasted hint would delete the store")
        try sandbox.directory("directory")
        try Tool.check("mkfifo", [sandbox.path("pipe").string])
        for name in ["directory", "pipe", "nowhere/page.html", "/dev/null"] {
            let outcome = try program.expect(command + [name], status: 1)
            #expect(outcome.errors.contains("error: "), "\(name)")
        }
        // An empty file has nothing to lose, and a link stays one.
        try sandbox.write("", to: "empty.html")
        _ = try sandbox.link("link.html", to: sandbox.path("empty.html").string)
        try program.expect(command + ["link.html"])
        #expect(
            try page("empty.html").hasPrefix("<!DOCTYPE html>\n<!-- a report of grocerydude -->")
        )
        #expect(try FileInfo(of: sandbox.path("link.html")).kind == .link)
    }

    @Test("A report goes to standard output, and needs a place")
    func output() throws {
        try program.expect("backup", "--profile", "home", "--quiet")
        let outcome = try program.expect("report", "--html", "-", "--profile", "home")
        #expect(outcome.text.hasPrefix("<!DOCTYPE html>") && outcome.text.hasSuffix("</html>\n"))
        #expect(try program.expect("report", status: 64).errors.contains("--html FILE"))
        for arguments in [["--html", "-", "--json"], ["--html", "-", "--open"], ["--html", ""]] {
            try program.expect(["report"] + arguments, status: 64)
        }
        try program.expect("report", "--html", "x.html", "--profile", "nobody", status: 64)
    }

    @Test("A report opens in a browser, and is kept if there is none")
    func open() throws {
        try program.expect("backup", "--profile", "home", "--quiet")
        let opener = try sandbox.write(
            "#!/bin/sh\nprintf %s \"$1\" > \"$HOME/opened\"\n",
            to: "bin/xdg-open"
        )
        try Tool.check("chmod", ["755", opener.string])
        let path = ["PATH": "\(sandbox.path("bin")):/usr/bin:/bin"]
        let opened = try program.run("report", "--open", "--profile", "home", environment: path)
        #expect(opened.status == 0, "\(opened.errors)")
        #expect(try page("opened") == sandbox.path(".cache/grocerydude/report.html").string)
        #expect(try page(".cache/grocerydude/report.html").contains("Backups of home"))
        let none = try program.run(
            ["report", "--open", "--html", "page.html", "--profile", "home"],
            environment: ["PATH": sandbox.path("Empty").string]
        )
        #expect(none.status == 1 && none.errors.contains("'xdg-open'"), "\(none.errors)")
        #expect(try page().contains("Backups of home"))
    }

    @Test("A report of a folder that is away has what is remembered, and the exit code says so")
    func away() throws {
        for _ in 0..<2 { try program.expect("backup", "--profile", "home", "--quiet") }
        try program.expect("pin", "latest", "--profile", "home", "--quiet")
        try program.expect("list", "--profile", "home", "--quiet")
        try LocalFileSystem().move(sandbox.path("Remote"), to: sandbox.path("Away"))
        let outcome = try program.expect(
            "report",
            "--html",
            "page.html",
            "--profile",
            "home",
            status: 10
        )
        #expect(outcome.errors.contains("there is no remote folder"))
        let html = try page()
        #expect(html.contains("the folder cannot be reached, and all is shown as it was last seen"))
        #expect(html.contains("<dd>2, ") && html.contains(", as last seen"))
        #expect(html.contains("pinned") && html.contains("removed by the next prune"))
        #expect(html.contains("kept by the next prune"))
        // Nothing is forgotten, and nothing counts as vanished.
        try LocalFileSystem().move(sandbox.path("Away"), to: sandbox.path("Remote"))
        try program.expect("report", "--html", "page.html", "--profile", "home")
        #expect(try !page().contains("gone since"))
        let list = try program.expect("list", "--profile", "home", "--json")
        let backups = try list.json as? [Any]
        #expect(backups?.count == 2)
    }

    @Test("A report shows runs that were missed, damage, and the plan of the retention policy")
    func state() throws {
        for _ in 0..<2 { try program.expect("backup", "--profile", "home", "--quiet") }
        let list = try program.expect("list", "--profile", "home", "--json")
        let names = try #require(list.json as? [[String: Any]]).compactMap { $0["name"] as? String }
        let path = sandbox.path(".local/state/grocerydude/log.sqlite")
        let log = RunLog(path)
        try program.expect(
            ["schedule", "install", "--profile", "home", "--kind", "systemd-user", "--no-enable"]
        )
        try Tool.check(
            "sqlite3",
            [path.string, "UPDATE schedule SET since = since - 6 * 86400000"]
        )
        let day = Date() - 5 * 86_400
        var run = RunLog.Entry(
            command: "backup",
            profile: "home",
            stores: sandbox.path("Stores").string,
            remote: sandbox.path("Remote").string,
            began: day,
            duration: .seconds(1),
            exitCode: 1
        )
        run.message = "no <space> left"
        try log.record(run)
        try sandbox.write("damaged", to: "Remote/\(names[1])")
        try program.expect("check", "--profile", "home", "--all", status: 20)
        try program.expect("report", "--html", "page.html", "--profile", "home")
        let html = try page()
        #expect(html.contains("scheduled backups were missed in the last week"))
        #expect(html.contains("<span class=\"failed\"") && html.contains("no &lt;space&gt; left"))
        #expect(html.contains("<span class=\"missed\"") && html.contains("<span class=\"damaged\""))
        #expect(html.contains("grocerydude check --profile home &#39;\(names[1])&#39;"))
        #expect(html.contains("keep: last"))
        #expect(html.contains("damaged: 1 backup"))
    }

    @Test("A report shows the devices of synced stores")
    func devices() throws {
        try sandbox.directory("Shared")
        let home = try SyncHome("laptop", program)
        _ = try SyncHome("phone", program).enable()
        #expect(try home.enable().status == 0)
        try home.run("sync")
        try home.run("backup", "--quiet")
        let outcome = try home.run("report", "--html", "page.html")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let html = try page()
        #expect(html.contains("<h3>Devices in sync</h3>") && html.contains("<li>phone: heard "))
    }

    @Test("Notes that cannot be read are a gap of a report, and no end of it")
    func gaps() throws {
        try program.expect("backup", "--profile", "home", "--quiet")
        try sandbox.write("{", to: "Remote/.grocerydude-notes/x.json")
        try program.expect("report", "--html", "page.html", "--profile", "home")
        let html = try page()
        #expect(html.contains("what the retention policy removes is not known: "))
    }

    /// Whether file systems can be mounted in a namespace of a test's own.
    private static let mayMount = (try? Tool.run("unshare", ["-m", "true"]).status) == 0

    @Test("A report to a full disk leaves the old one as it was", .enabled(if: mayMount))
    func fullDisk() throws {
        try program.expect("backup", "--profile", "home", "--quiet")
        try sandbox.directory("Disk")
        let script = """
            mount -t tmpfs -o size=16k none "$1" || exit 99
            printf '<!DOCTYPE html>\\n<!-- a report of grocerydude -->\\nold' > "$1/page.html"
            "$2" report --profile home --html "$1/page.html"; code=$?
            cat "$1/page.html"; ls -A "$1"; exit $code
            """
        let outcome = try Tool.run(
            "unshare",
            ["-m", "sh", "-c", script, "sh", sandbox.path("Disk").string, Program.path],
            environment: program.environment
        )
        #expect(outcome.status == 23, "\(outcome.errors)")
        #expect(outcome.text.hasSuffix("-->\noldpage.html\n"), "\(outcome.text)")
    }

    @Test("A report shows a thousand remembered backups of a folder that is away")
    func many() async throws {
        let count = 1000
        try program.expect("backup", "--profile", "home", "--quiet")
        let catalog = BackupCatalog(sandbox.path(".cache/grocerydude/catalog.json"))
        let remote = sandbox.path("Remote").string
        let known = try #require(
            try await catalog.backups(catalog.remembered(in: remote), in: remote, timeZone: .utc)
                .first
        )
        for index in 1...count {
            let date = Date() - Double(index) * 3600
            let file = RemoteFile(name: BackupName.make(date, in: .utc), size: known.size)
            var backup = Backup(file, timeZone: .utc)
            backup.id = BackupID(rawValue: "\(index)")
            var summary = known.summary
            summary.time = date.milliseconds
            backup.take(summary, nil)
            catalog.remember(backup, in: remote)
        }
        try await catalog.save()
        try LocalFileSystem().move(sandbox.path("Remote"), to: sandbox.path("Away"))
        try program.expect("report", "--html", "page.html", "--profile", "home", status: 10)
        #expect(try page().contains("<dd>\(count + 1), "))
    }
}
