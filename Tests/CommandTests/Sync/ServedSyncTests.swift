import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Machines that share a folder on a real server.
@Suite("Machines that share a folder on a server", .serialized)
struct ServedSyncTests {
    /// Two machines and a server behind a proxy.
    final class Scene {
        let program: Program
        let server: RemoteServer
        let desk: SyncHome
        let phone: SyncHome
        let address: String
        private let environment: [String: String]

        init(_ kind: RemoteServer.Kind) throws {
            program = try Program()
            server = try RemoteServer(kind, in: program.sandbox, isBehindProxy: true)
            address = "rclone:" + server.remote("Shared")
            try server.rclone("mkdir", server.remote("Shared"))
            desk = try SyncHome("desk", program)
            phone = try SyncHome("phone", program)
            let rclone = try Tool.check("sh", ["-c", "command -v rclone"])
                .trimmingCharacters(in: .newlines)
            let shim = try program.sandbox.write(
                "#!/bin/sh\necho \"$1\" >> '\(program.sandbox.path("calls"))'\nexec '\(rclone)' \"$@\"\n",
                to: "bin/rclone"
            )
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o700],
                ofItemAtPath: shim.string
            )
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            let settings = [
                "PATH": "\(shim.removingLastComponent()):\(path)",
                "GROCERYDUDE_REMOTE_CONNECT_TIMEOUT": "3s",
            ]
            environment = server.client.merging(settings) { $1 }
        }

        func run(_ home: SyncHome, _ arguments: String...) throws -> Tool.Outcome {
            try program.sandbox.write("", to: "calls")
            var environment = environment
            // A server that only is slow, as on a busy machine, is waited for.
            let isGood = server.proxy?.mode ?? .pass == .pass
            environment["GROCERYDUDE_REMOTE_IDLE_TIMEOUT"] = isGood ? "5m" : "2s"
            return try home.run(arguments, environment: environment)
        }

        func enable(_ home: SyncHome) throws {
            let outcome = try run(
                home,
                "sync",
                "enable",
                "--container",
                address,
                "--device",
                home.name,
                "--yes"
            )
            #expect(outcome.status == 0, "\(outcome.errors)")
        }

        /// How many processes of rclone's the last run started.
        func calls() throws -> Int {
            String(decoding: try program.sandbox.read("calls"), as: UTF8.self)
                .split(separator: "\n").count
        }
    }

    @Test(
        "A sync over a server starts few rclone processes, however many files exist",
        arguments: RemoteServer.Kind.available.filter { $0 != .sftp }
    )
    func processes(kind: RemoteServer.Kind) throws {
        let scene = try Scene(kind)
        try scene.enable(scene.desk)
        try scene.enable(scene.phone)
        #expect(try scene.run(scene.desk, "sync").status == 0)
        #expect(try scene.run(scene.desk, "sync").status == 0)
        #expect(try scene.calls() == 1)
        // Long values are files of their own.
        for number in 0..<8 {
            let note = String(repeating: "\(number)", count: 70_000)
            try scene.desk.sql("INSERT INTO unit (id, name) VALUES ('u\(number)', '\(note)')")
            if number % 4 == 3 { #expect(try scene.run(scene.desk, "sync").status == 0) }
        }
        #expect(try scene.calls() == 2)
        let taken = try scene.run(scene.phone, "sync")
        #expect(taken.status == 0, "\(taken.errors)")
        #expect(try scene.calls() <= 4)
        let query = "SELECT id, length(name) FROM unit ORDER BY id"
        #expect(try scene.phone.sql(query) == scene.desk.sql(query))
    }

    @Test("A sync keeps edits while the server is down, and reports it", arguments: [false, true])
    func down(holds: Bool) throws {
        let scene = try Scene(.webdav)
        try scene.enable(scene.desk)
        try scene.enable(scene.phone)
        try scene.desk.run("items", "add", "Honey")
        scene.server.proxy?.mode = holds ? .hold : .refuse
        let cut = try scene.run(scene.desk, "sync")
        #expect(cut.status == 10, "\(cut.errors)")
        #expect(cut.text == "Grocery-Dude.sqlite  local only, 1 change waits\n")
        #expect(cut.errors.contains("1 change waits on this machine"))
        #expect(
            cut.errors.contains("hint: make sure that its disk, the network and the server work")
        )
        let status = try scene.run(scene.desk, "sync", "status", "--max-age", "0s")
        #expect(status.status == 25 && status.text.contains("local only, 1 change waits"))
        scene.server.proxy?.mode = .pass
        #expect(try scene.run(scene.desk, "sync").text == "Grocery-Dude.sqlite  sent 1 change\n")
        #expect(try scene.run(scene.phone, "sync").status == 0)
        #expect(try scene.phone.items() == scene.desk.items())
    }

    /// `GROCERYDUDE_CUTS=100` tries a hundred times, `GROCERYDUDE_CUTS_SEED=n` begins with a seed.
    @Test(
        "Machines become equal over a connection that is cut at random",
        arguments: RemoteServer.Kind.available.filter { $0 != .sftp }
    )
    func cuts(kind: RemoteServer.Kind) throws {
        let settings = ProcessInfo.processInfo.environment
        let rounds = settings["GROCERYDUDE_CUTS"].flatMap { Int($0) } ?? 3
        let seed = settings["GROCERYDUDE_CUTS_SEED"].flatMap { UInt64($0) } ?? 1
        let scene = try Scene(kind)
        try scene.enable(scene.desk)
        try scene.enable(scene.phone)
        var cutRuns = 0
        for round in 0..<UInt64(rounds) {
            let seed = seed + round
            var random = Pseudorandom(seed: seed)
            for home in [scene.desk, scene.phone] {
                try home.sql(
                    """
                    INSERT INTO unit (id, name) VALUES ('\(home.name) \(seed)', 'of \(home.name) \(seed)');
                    UPDATE item SET quantity = \(random.next() % 100) WHERE id IN
                        (SELECT id FROM item ORDER BY id LIMIT 3 OFFSET \(random.next() % 8));
                    UPDATE unit SET name = '\(String(repeating: home.name, count: 20_000)) \(seed)'
                        WHERE id = '\(scene.desk.name) \(seed - seed % 3)'
                    """
                )
            }
            for _ in 0..<2 {
                for home in [scene.desk, scene.phone] {
                    scene.server.proxy?.mode = .cut(after: Int(random.next() % 40_000))
                    let outcome = try scene.run(home, "sync")
                    if outcome.status != 0 { cutRuns += 1 }
                    #expect([0, 10].contains(outcome.status), "seed \(seed): \(outcome.errors)")
                }
            }
            scene.server.proxy?.mode = .pass
            for home in [scene.desk, scene.phone, scene.desk] {
                let outcome = try scene.run(home, "sync")
                #expect(outcome.status == 0, "seed \(seed): \(outcome.errors)")
            }
            let items = "SELECT id, name, quantity FROM item ORDER BY id"
            #expect(try scene.desk.sql(items) == scene.phone.sql(items), "seed \(seed)")
            let units = "SELECT id, length(name), substr(name, -20) FROM unit ORDER BY id"
            let (left, right) = (try scene.desk.sql(units), try scene.phone.sql(units))
            #expect(left == right, "seed \(seed)")
        }
        #expect(cutRuns > 0)
    }
}
