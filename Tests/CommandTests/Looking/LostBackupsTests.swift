import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite("Backups that something else removed")
struct LostBackupsTests {
    private let program: Program

    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
        for _ in 0..<2 { try program.expect("backup", "--quiet") }
    }

    /// Takes files of the remote folder away.
    private func lose(_ count: Int) throws {
        let remote = program.sandbox.path("Remote").string
        let names = try FileManager.default.contentsOfDirectory(atPath: remote).filter {
            $0.hasSuffix(".zip")
        }
        for name in names.sorted().prefix(count) {
            try FileManager.default.removeItem(atPath: "\(remote)/\(name)")
        }
    }

    @Test("Every backup and every list reports lost backups if no earlier backup is left")
    func all() throws {
        try lose(2)
        let list = try program.expect("list", "--quiet")
        #expect(list.errors.contains("2 backups are gone"), "\(list.errors)")
        #expect(!list.errors.contains("there are no backups yet"))
        for _ in 0..<2 {
            let backup = try program.expect("backup", "--quiet")
            #expect(backup.errors.contains("no earlier one is left"), "\(backup.errors)")
        }
    }

    @Test("A restore that finds no backup reports lost backups")
    func restore() throws {
        try lose(2)
        let restore = try program.run("restore", "latest", "--yes")
        #expect(restore.status != 0 && restore.errors.contains("2 backups are gone"))
    }

    @Test("A copy of all backups reports that they are lost, and does not end well")
    func copied() throws {
        try lose(2)
        try program.sandbox.directory("Second")
        let copy = try program.run("copy", "--all", "--to", "Second", "--quiet")
        #expect(copy.status == 10 && copy.errors.contains("2 backups are gone"), "\(copy.errors)")
    }

    @Test("The run that first misses lost backups reports them if others are left")
    func some() throws {
        try lose(1)
        let first = try program.expect("backup", "--quiet")
        #expect(first.errors.contains("1 backup is gone"), "\(first.errors)")
    }

    @Test("A backup that was away and comes back under another name is not reported as lost")
    func renamed() throws {
        let files = FileManager.default
        let remote = program.sandbox.path("Remote").string
        let name = try #require(
            try files.contentsOfDirectory(atPath: remote).filter { $0.hasSuffix(".zip") }.min()
        )
        let away = program.sandbox.path("away.zip").string
        try files.moveItem(atPath: "\(remote)/\(name)", toPath: away)
        #expect(try program.expect("list").errors.contains("1 backup is gone"))
        try files.moveItem(atPath: away, toPath: "\(remote)/old \(name)")
        try program.expect("list")
        for command in [["check", "--all"], ["status"], ["list"]] {
            let outcome = try program.expect(command)
            #expect(!(outcome.text + outcome.errors).contains("gone"), "\(outcome.errors)")
        }
        // Away again, it is still one.
        try files.moveItem(atPath: "\(remote)/old \(name)", toPath: away)
        #expect(try program.expect("list").errors.contains("1 backup is gone"))
        #expect(try program.expect("check", "--all").errors.contains("1 backup is gone"))
    }

    @Test("Backups that this program deleted are not reported as lost")
    func deleted() throws {
        let list = try program.expect("list", "--json")
        for row in try #require(list.json as? [[String: Any]]) {
            let name = try #require(row["name"] as? String)
            try program.expect("delete", name, "--yes", "--quiet")
        }
        let backup = try program.expect("backup", "--quiet")
        #expect(!backup.errors.contains("gone"), "\(backup.errors)")
    }

    @Test("A backup that waits on this machine is not reported as gone from the folder")
    func waiting() throws {
        let (files, sandbox) = (FileManager.default, program.sandbox)
        let (remote, away) = (sandbox.path("Remote").string, sandbox.path("Away").string)
        try files.moveItem(atPath: remote, toPath: away)
        let backup = try program.run("backup", "--set", "queue=true")
        try files.moveItem(atPath: away, toPath: remote)
        #expect(backup.errors.contains("waits"), "\(backup.errors)")
        // The newest of all is remembered.
        try program.expect("show", "latest")
        for command in [["status"], ["prune", "--keep-last", "9"], ["list"], ["show", "latest"]] {
            let outcome = try program.run(command)
            let text = outcome.text + outcome.errors
            #expect(!text.contains("gone") && !text.contains("fell behind"), "\(text)")
        }
    }

    @Test("An increment whose base is gone is damage for every check, and whole once it is back")
    func base() throws {
        // For less than this, a whole backup is as good.
        var random = Pseudorandom(seed: 15)
        try program.sandbox.write(random.bytes(18 << 20), to: "Stores/large")
        try program.expect("backup", "--incremental", "--quiet")
        try program.sandbox.write("more", to: "Stores/small")
        try program.expect("backup", "--incremental", "--quiet")
        let rows = try program.expect("list", "--json").json as? [[String: Any]]
        let base = try #require((rows?.first?["needs"] as? [String])?.first)
        let (files, remote) = (FileManager.default, program.sandbox.path("Remote"))
        let away = program.sandbox.path("away.zip").string
        try files.moveItem(atPath: remote.appending(base).string, toPath: away)
        for option in [[], ["--quick"], ["--restore"]] {
            let check = try program.expect(["check"] + option, status: 20)
            #expect(check.text.contains("DAMAGED"), "\(option): \(check.text)")
        }
        try files.moveItem(atPath: away, toPath: remote.appending(base).string)
        try program.expect("check")
        #expect(try !program.expect("list").text.contains("DAMAGED"))
    }
}
