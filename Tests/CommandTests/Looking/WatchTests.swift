import Foundation
import SystemPackage
import TestSupport
import Testing

/// 'list --watch' and 'status --watch' beside other runs of the program.
@Suite("A watched answer", .timeLimit(.minutes(2)))
struct WatchTests {
    let program: Program

    init() throws {
        program = try Program()
        try program.make(stores: ".local/share/grocerydude/Stores", remote: "Remote")
        try program.configure("remote: ~/Remote\n")
    }

    private func start(_ arguments: String...) throws -> RunningTool {
        try RunningTool(
            Program.path,
            arguments,
            environment: program.environment,
            directory: program.sandbox.path
        )
    }

    private func next(_ tool: RunningTool) throws -> Any {
        let line = try #require(try tool.readLine())
        return try JSONSerialization.jsonObject(with: Data(line.utf8))
    }

    @Test("A watched list writes a whole answer on one line after each change, until a signal")
    func list() throws {
        // The interval would not come before the test is over.
        let watch = try start("list", "--watch", "--json", "--set", "watch_interval=1h")
        #expect((try next(watch) as? [Any])?.count == 0)
        #expect(try program.run("backup", "--quiet").status == 0)
        let first = try next(watch) as? [[String: Any]]
        #expect(first?.count == 1 && first?.first?["pinned"] as? Bool == false)
        // What is beside the archives counts too.
        #expect(try program.run("pin", "latest").status == 0)
        #expect((try next(watch) as? [[String: Any]])?.first?["pinned"] as? Bool == true)
        try program.sandbox.write("PK", to: "Remote/New Stores.zip")
        let third = try next(watch) as? [[String: Any]]
        #expect(third?.first?["not_ready"] as? Bool == true)
        #expect(third?.first?["time_source"] as? String == "file")
        watch.signal(SIGTERM)
        #expect(watch.wait() == 143)
        #expect(try watch.readLine() == nil)
    }

    @Test("A watched status answers again after a change, but not if only the age changed")
    func status() throws {
        let watch = try start("status", "--watch", "--json", "--set", "watch_interval=1s")
        var last = try nextStatus(watch)
        /// Goes on to the answer that fits; each is another one than the one before.
        func look(for isFound: ([String: Any]) -> Bool) throws {
            while !isFound(last) {
                let answer = try nextStatus(watch)
                #expect(try json(answer) != json(last))
                last = answer
            }
        }
        #expect(last["backups"] as? Int == 0)
        #expect(try program.run("backup", "--quiet").status == 0)
        // The log has the run a little later than the folder has the backup.
        try look { $0["backups"] as? Int == 1 && $0["last_backup"] != nil }
        // Looks after these find nothing but the newest backup older than before.
        for number in 1...3 {
            try program.sandbox.write("no backup", to: "Remote/notes \(number).txt")
            #expect(try program.run("list").status == 0)
        }
        #expect(try program.run("backup", "--quiet").status == 0)
        try look { $0["backups"] as? Int == 2 }
        watch.signal(SIGTERM)
        #expect(watch.wait() == 143)
    }

    /// The next answer, without the age of the newest backup and the space on the disk.
    private func nextStatus(_ tool: RunningTool) throws -> [String: Any] {
        var answer = try #require(try next(tool) as? [String: Any])
        if var newest = answer["newest"] as? [String: Any] {
            #expect(newest["age_seconds"] != nil)
            newest["age_seconds"] = nil
            answer["newest"] = newest
        }
        // Other programs fill the disk meanwhile.
        #expect(answer["link"] != nil)
        answer["link"] = nil
        return answer
    }

    private func json(_ answer: [String: Any]) throws -> Data {
        try JSONSerialization.data(withJSONObject: answer, options: .sortedKeys)
    }

    @Test("A watch continues if the folder goes and returns, and fails if it never existed")
    func missing() throws {
        let watch = try start("list", "--watch", "--json", "--set", "watch_interval=1s")
        #expect((try next(watch) as? [Any])?.count == 0)
        try FileManager.default.removeItem(atPath: program.sandbox.path("Remote").string)
        #expect(try program.run("list", "--watch", "--json").status == 10)
        try program.sandbox.directory("Remote")
        try program.sandbox.write("PK", to: "Remote/New Stores.zip")
        while let answer = try next(watch) as? [Any], answer.isEmpty {}
        watch.signal(SIGTERM)
        #expect(watch.wait() == 143)
    }

    @Test("A restore waits for an archive that is still being copied")
    func restore() throws {
        #expect(try program.run("backup", "--quiet").status == 0)
        let listed = try program.run("list", "--json").json as? [[String: Any]]
        let name = try #require(listed?.first?["name"] as? String)
        let whole = try program.sandbox.read("Remote/\(name)")
        try program.sandbox.write(whole.prefix(whole.count / 2), to: "Remote/New Stores.zip")
        let refused = try program.run("restore", "New", "--yes")
        #expect(refused.status == 21 && refused.errors.contains("'--wait 10m'"))
        let waiting = try start("restore", "New", "--yes", "--wait", "1h")
        // Whoever copies writes on into the file that is there.
        try whole.withUnsafeBytes { bytes in
            let path = program.sandbox.path("Remote/New Stores.zip").string
            let handle = try #require(FileHandle(forWritingAtPath: path))
            try handle.write(contentsOf: Data(bytes))
            try handle.close()
        }
        #expect(waiting.wait() == 0)
    }

    @Test("A watch ends if its output is no longer read")
    func closed() throws {
        let command = "'\(Program.path)' list --watch --json --set watch_interval=1s | head -n 1"
        let reader = try RunningTool(
            "bash",
            ["-c", "set -o pipefail; \(command)"],
            environment: program.environment,
            directory: program.sandbox.path
        )
        #expect(try reader.readLine() == "[]")
        // The next answer finds nobody.
        #expect(try program.run("backup", "--quiet").status == 0)
        #expect(reader.wait() == 141)
    }

    @Test("A watch needs an interval longer than zero")
    func interval() throws {
        #expect(try program.run("list", "--watch", "--set", "watch_interval=0s").status == 64)
    }
}
