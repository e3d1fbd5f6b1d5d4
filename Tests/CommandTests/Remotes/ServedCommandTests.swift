import Files
import Foundation
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// Every command, with the remote folder on a real server.
@Suite("Commands over real servers", .serialized)
struct ServedCommandTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
    }

    /// All servers if the tests take their time, else those of the kinds.
    static func some(_ kinds: RemoteServer.Kind...) -> [RemoteServer.Kind] {
        RemoteServer.Kind.available.filter { kinds.contains($0) || isThorough }
    }

    static let isThorough = ProcessInfo.processInfo.environment["GROCERYDUDE_REMOTES"] == "all"

    @Test("A bandwidth limit reaches rclone, and one that is none is refused")
    func bandwidth() throws {
        let machine = try ServedProgram(on: try RemoteServer(.webdav, in: sandbox))
        try machine.makeStores()
        #expect(try machine.run("backup", "--set", "remote_bwlimit=20M:10M").status == 0)
        #expect(try machine.calls.allSatisfy { $0.contains(" --bwlimit=20M:10M ") })
        let outcome = try machine.run("list", "--set", "remote_bwlimit=--fast-list")
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("rclone's form, such as 2M"), "\(outcome.errors)")
        #expect(try machine.calls.isEmpty)
    }

    @Test(
        "Commands over a server do their work, and start few processes",
        arguments: RemoteServer.Kind.available
    )
    func everyCommand(kind: RemoteServer.Kind) throws {
        let server = try RemoteServer(kind, in: sandbox)
        let machine = try ServedProgram(on: server)
        try machine.makeStores()
        let first = try machine.run("backup")
        #expect(first.status == 0, "\(first.errors)")
        #expect(try machine.calls.count <= 4)
        let name = String(first.text.dropLast())
        #expect(try machine.names() == [name])
        #expect(try machine.calls.count == 1)
        #expect(try machine.run("backup", "--tag", "größer [2]").status == 0)
        #expect(try machine.run("pin", name).status == 0)
        let listed = try machine.run("list")
        #expect(listed.text.contains("pinned") && listed.text.contains("[größer [2]]"))
        #expect(try machine.calls.count == 1)
        #expect(try machine.run("status").status == 0)
        // The list, the space, and whose it is.
        #expect(try machine.calls.count <= 4)
        #expect(try machine.run("show", name).status == 0)
        #expect(try machine.run("check", "--all").status == 0)
        #expect(try machine.run("restore", name, "--yes").status == 0)
        #expect(try machine.run("backup").status == 0)
        let second = try #require(try machine.names().first)
        #expect(try machine.run("delete", second, "--yes").status == 0)
        // Listed once more under the lock: another may be built on it by then.
        #expect(try machine.calls.count <= 4)
        #expect(try !machine.names().contains(second))
        #expect(try machine.run("list", "--trash").text.isEmpty == false)
        #expect(try machine.run("undelete", second).status == 0)
        #expect(try machine.names().contains(second))
        #expect(try machine.run("prune", "--keep-last", "1").status == 0)
        #expect(try machine.names().contains(name), "it is pinned")
        #expect(try machine.run("check", "--all").status == 0)
        #expect(try !machine.files().contains { $0.contains(".partial") })
    }

    @Test(
        "Commands keep an encrypted folder on a server, and show the server nothing",
        arguments: some(.webdav)
    )
    func encrypted(kind: RemoteServer.Kind) throws {
        let server = try RemoteServer(kind, in: sandbox)
        let machine = try ServedProgram(on: server)
        try machine.makeStores(megabytes: 3)
        func generate(_ name: String) throws -> (identity: [String], recipient: [String]) {
            let path = machine.program.sandbox.path(name).string
            let made = try machine.run("key", "generate", "--output", path)
            return (["--identity", path], ["--recipient", String(made.text.dropLast())])
        }
        let (old, new) = try (generate("old.txt"), generate("new.txt"))
        let backup = try machine.run(["backup"] + old.recipient)
        #expect(backup.status == 0, "\(backup.errors)")
        let name = String(backup.text.dropLast())
        #expect(name.hasSuffix(" Stores.zip.age"))
        #expect(try machine.run("check", name).status == 12)
        for command in [["show", name], ["check", name], ["restore", name, "--yes"]] {
            let done = try machine.run(command + old.identity)
            #expect(done.status == 0, "\(command): \(done.errors)")
        }
        let rotated = try machine.run(["key", "rotate"] + old.identity + new.recipient)
        #expect(rotated.status == 0, "\(rotated.errors)")
        #expect(try machine.run(["check", name] + old.identity).status == 12)
        let checked = try machine.run(["check", "--all", "--restore"] + new.identity)
        #expect(checked.status == 0, "\(checked.errors)")
        // The restore has made one more; the old ones, in the trash, are for the old key.
        let files = try machine.files().filter { $0.hasSuffix(".age") }
        #expect(files.count == 4, "\(files)")
        for file in files {
            let begins = try server.rclone("cat", "--count", "21", "\(machine.address)/\(file)")
            #expect(begins == "age-encryption.org/v1", "\(file)")
        }
        #expect(try !machine.files().contains { $0.contains(".partial") })
    }

    @Test(
        "Commands of two machines at once lose and overwrite nothing",
        arguments: some(.webdav, .sftp)
    )
    func twoMachines(kind: RemoteServer.Kind) async throws {
        let server = try RemoteServer(kind, in: sandbox)
        let machines = try (0..<2).map { _ in try ServedProgram(on: server) }
        for machine in machines { try machine.makeStores() }
        // Two backups in one minute.
        var made: [String] = []
        for _ in 0..<3 { made += try await both(machines) { try $0.run("backup").text } }
        made = made.map { String($0.dropLast()) }
        #expect(Set(made).count == 6, "\(made)")
        #expect(try Set(machines[0].names()) == Set(made))
        // Two pins at the same moment.
        let pinned = [made[0], made[1]]
        _ = try await both(machines, pinned) { try $0.run("pin", $1).text }
        let listed = try machines[0].run("list", "--json").json as? [[String: Any]] ?? []
        let pins = listed.filter {
            $0["pinned"] as? Bool == true || $0["is_pinned"] as? Bool == true
        }
        #expect(Set(pins.compactMap { $0["name"] as? String }) == Set(pinned))
        // A backup beside a prune.
        let outcomes = try await both(machines, ["backup", "prune"]) { machine, command in
            let outcome =
                command == "backup"
                ? try machine.run("backup") : try machine.run("prune", "--keep-last", "1")
            return "\(outcome.status) \(outcome.text)"
        }
        #expect(outcomes[0].hasPrefix("0 "), "\(outcomes)")
        // If the newest is the other machine's, nothing is pruned before it was looked at.
        #expect(["0 ", "3 "].contains { outcomes[1].hasPrefix($0) }, "\(outcomes)")
        let newest = String(outcomes[0].dropFirst(2).dropLast())
        let left = try machines[1].names()
        #expect(Set(left).isSuperset(of: pinned + [newest]), "\(left)")
        #expect(try machines[1].run("check", "--all").status == 0)
        let trash = try machines[1].run("list", "--trash", "--json").json as? [[String: Any]] ?? []
        let gone = trash.compactMap { $0["name"] as? String }
        #expect(Set(left + gone).isSuperset(of: made))
    }

    /// Runs something on each machine at the same time.
    private func both(
        _ machines: [ServedProgram],
        _ arguments: [String] = ["", ""],
        _ body: @escaping @Sendable (ServedProgram, String) throws -> String
    ) async throws -> [String] {
        try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for (index, machine) in machines.enumerated() {
                group.addTask {
                    // Not on a thread that other tasks need: it waits.
                    try await withCheckedThrowingContinuation { continuation in
                        Thread.detachNewThread {
                            continuation.resume(
                                with: Result { (index, try body(machine, arguments[index])) }
                            )
                        }
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
                .sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func both(
        _ machines: [ServedProgram],
        _ body: @escaping @Sendable (ServedProgram) throws -> String
    ) async throws -> [String] {
        try await both(machines, ["", ""]) { machine, _ in try body(machine) }
    }

    @Test(
        "Commands report the progress of a transfer on one line per second",
        arguments: some(.webdav)
    )
    func status(kind: RemoteServer.Kind) throws {
        let server = try RemoteServer(kind, in: sandbox, isBehindProxy: true)
        let machine = try ServedProgram(on: server)
        try machine.makeStores(megabytes: 8)
        server.proxy?.mode = .delay(.milliseconds(25))
        let outcome = try machine.run("backup", "--json")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let lines = try Tool.Outcome(status: 0, output: Array(outcome.errors.utf8), errors: "")
            .jsonLines.filter { $0["message_type"] as? String == "status" }
        let uploads = lines.filter { $0["stage"] as? String == "uploading" }
        let parts = uploads.compactMap { $0["percent_done"] as? Double }
        #expect(parts.count >= 2, "\(outcome.errors)")
        #expect(parts == parts.sorted() && parts.allSatisfy { 0...1 ~= $0 })
        #expect(uploads.allSatisfy { $0["total_bytes"] as? Int ?? 0 > 8_000_000 })
        let restored = try machine.run("restore", "latest", "--yes", "--json")
        #expect(restored.errors.contains(#""stage":"fetching""#), "\(restored.errors)")
        for flag in ["--quiet", "--no-progress"] {
            let outcome = try machine.run("backup", "--json", flag)
            #expect(!outcome.errors.contains("status"), "\(outcome.errors)")
        }
    }

    @Test("Commands lose and overwrite nothing if the server's list lags", arguments: some(.webdav))
    func lagging(kind: RemoteServer.Kind) throws {
        let server = try RemoteServer(kind, in: sandbox)
        let machine = try ServedProgram(on: server)
        try machine.makeStores()
        #expect(try machine.names().isEmpty)
        try machine.lag(true)
        // Others took the names of these minutes; the list does not show them yet.
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = .gmt
        format.dateFormat = "'['yyyy-MMM-dd'] 'hh.mm a' Stores.zip'"
        var taken: [String] = []
        for minute in 0..<5 {
            let name = format.string(from: Date(timeIntervalSinceNow: Double(minute) * 60))
            try sandbox.write(name, to: "other")
            try server.rclone("copyto", sandbox.path("other").string, "\(machine.address)/\(name)")
            taken.append(name)
        }
        let outcome = try machine.run("backup")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let name = String(outcome.text.dropLast())
        #expect(name.contains(" (2) "))
        #expect(try machine.files() == (taken + [name]).sorted())
        for name in taken {
            #expect(try server.rclone("cat", "\(machine.address)/\(name)") == name)
        }
        // Now it shows one that another machine has removed.
        try machine.lag(false)
        #expect(try machine.names().contains(name))
        try machine.lag(true)
        let other = try ServedProgram(on: server)
        #expect(try other.run("delete", name, "--yes").status == 0)
        let deleted = try machine.run("delete", name, "--yes")
        #expect(deleted.status != 0 && deleted.errors.contains("'\(name)'"), "\(deleted.errors)")
        #expect(try machine.run("restore", name, "--yes").status != 0)
        #expect(try other.run("undelete", name).status == 0)
        #expect(try other.run("check", name).status == 0)
    }

    @Test(
        "Commands transfer a large store",
        .enabled(if: isThorough),
        arguments: RemoteServer.Kind.available
    )
    func large(kind: RemoteServer.Kind) throws {
        let server = try RemoteServer(kind, in: sandbox)
        let machine = try ServedProgram(on: server)
        try machine.makeStores(megabytes: 300)
        let before = try machine.program.sandbox.contents(of: "Stores")
        #expect(try machine.run("backup").status == 0)
        #expect(try machine.run("check").status == 0)
        #expect(try machine.run("restore", "latest", "--yes").status == 0)
        let after = try machine.program.sandbox.contents(of: "Stores")
        #expect(after.items.map(\.detail) == before.items.map(\.detail))
    }
}
