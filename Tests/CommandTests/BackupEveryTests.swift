import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// 'backup --every' beside an application, and beside a remote that comes and goes.
@Suite("Backups after each change", .timeLimit(.minutes(3)))
struct BackupEveryTests {
    let program: Program

    init() throws {
        program = try Program()
        try program.make(stores: ".local/share/grocerydude/Stores", remote: "Remote")
        try program.configure("remote: ~/Remote\n")
    }

    private func start(_ arguments: String...) throws -> RunningTool {
        try RunningTool(
            Program.path,
            ["backup", "--every", "1s"] + arguments,
            environment: program.environment,
            directory: program.sandbox.path
        )
    }

    private func write(_ text: String) throws {
        try program.sandbox.write(text, to: ".local/share/grocerydude/Stores/note.txt")
    }

    private var runs: Int {
        get throws {
            let log = try program.run("log", "--json", "--command", "backup")
            return try #require(log.json as? [Any]).count
        }
    }

    @Test("Each change makes a backup and a run, and a signal ends the command")
    func changes() throws {
        let tool = try start()
        #expect(try #require(try tool.readLine()).hasSuffix(" Stores.zip"))
        for number in 1...2 {
            try write("\(number)")
            #expect(try #require(try tool.readLine()).hasSuffix(" Stores.zip"))
        }
        tool.signal(SIGTERM)
        #expect(tool.wait() == 143)
        #expect(try tool.readLine() == nil)
        let list = try program.run("list", "--json")
        #expect((try list.json as? [Any])?.count == 3)
        #expect(try program.run("restore", "latest", "--target", "Look").status == 0)
        #expect(try program.sandbox.read("Look/note.txt") == Array("2".utf8))
    }

    @Test("A removed folder is reported once, and backups continue when it returns")
    func away() throws {
        let tool = try start("--json")
        _ = try #require(try tool.readLine())
        let remote = program.sandbox.path("Remote").string
        let away = program.sandbox.path("Away").string
        try FileManager.default.moveItem(atPath: remote, toPath: away)
        try write("later")
        // Some looks fail meanwhile.
        let deadline = Date() + 4
        while Date() < deadline { usleep(100_000) }
        try FileManager.default.moveItem(atPath: away, toPath: remote)
        _ = try #require(try tool.readLine())
        tool.signal(SIGINT)
        #expect(tool.wait() == 130)
        let log = try program.run("log", "--json")
        let rows = try #require(log.json as? [[String: Any]])
        #expect(rows.count { $0["exit_code"] as? Int == 10 } == 1)
    }

    @Test("A killed command continues with increments when it is started again")
    func killed() throws {
        // For less than this, a whole backup is as good.
        var random = Pseudorandom(seed: 21)
        try program.sandbox.write(
            random.bytes(18 << 20),
            to: ".local/share/grocerydude/Stores/large"
        )
        let first = try start("--incremental")
        #expect(try #require(try first.readLine()).hasSuffix(" Stores.zip"))
        try write("1")
        #expect(try #require(try first.readLine()).hasSuffix(" Changes.zip"))
        // Perhaps amid a backup.
        try write("2")
        first.kill()
        try write("3")
        let second = try start("--incremental")
        #expect(try #require(try second.readLine()).hasSuffix(" Changes.zip"))
        second.signal(SIGTERM)
        #expect(second.wait() == 143)
        #expect(try program.run("restore", "latest", "--target", "Look").status == 0)
        #expect(try program.sandbox.read("Look/note.txt") == Array("3".utf8))
        let checked = try program.run("check", "--all", "--restore")
        #expect(checked.status == 0, "\(checked.errors)")
        let left = try Directory.open(program.sandbox.path("Remote")).names().map(\.description)
        #expect(left.allSatisfy { $0.hasSuffix(".zip") }, "\(left)")
    }

    @Test("Options that contradict each other are refused")
    func refused() throws {
        for option in ["--all-profiles", "--full"] {
            #expect(try program.run("backup", "--every", "1m", option).status == 64)
        }
        #expect(try program.run("backup", "--every", "0s").status == 64)
        let cron = try program.run(
            "schedule",
            "install",
            "--schedule",
            "continuous",
            "--kind",
            "cron",
            "--dry-run"
        )
        #expect(cron.status != 0)
        let unit = try program.run(
            "schedule",
            "install",
            "--schedule",
            "continuous",
            "--kind",
            "systemd-user",
            "--dry-run"
        )
        #expect(unit.status == 0)
        let text = String(decoding: unit.output, as: UTF8.self)
        #expect(text.contains("backup --every 1m --quiet") && !text.contains("[Timer]"))
        #expect(text.contains("WantedBy=default.target"))
    }
}
