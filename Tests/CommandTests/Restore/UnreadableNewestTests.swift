import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite("A damaged newest backup")
struct UnreadableNewestTests {
    private let program: Program
    private let newest: String

    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
        try program.expect("backup", "--quiet")
        try program.sandbox.write([UInt8](repeating: 7, count: 300), to: "Stores/g")
        let made = try program.expect("backup", "--quiet", "--json").json as? [String: Any]
        newest = try #require(made?["name"] as? String)
    }

    private func hurt(_ change: (inout [UInt8]) throws -> Void) throws {
        var bytes = try program.sandbox.read("Remote/\(newest)")
        try change(&bytes)
        try program.sandbox.write(bytes, to: "Remote/\(newest)")
    }

    enum Damage: CaseIterable {
        case bit, zeros, cut

        func apply(to bytes: inout [UInt8]) {
            switch self {
            case .bit: bytes[200] ^= 1
            case .zeros: bytes = [UInt8](repeating: 0, count: bytes.count)
            case .cut: bytes.removeLast(bytes.count / 2)
            }
        }
    }

    @Test(
        "that cannot be read is not passed over by 'check' and 'restore latest'",
        arguments: Damage.allCases
    )
    func unreadable(_ damage: Damage) throws {
        try hurt { damage.apply(to: &$0) }
        for command in [["check"], ["check", "latest", "--restore"], ["check", "--quiet"]] {
            try program.expect(command, status: 20)
        }
        #expect(try !program.expect("log", "--limit", "1").text.contains("done"))
        let refused = try program.run("restore", "latest", "--yes")
        #expect(refused.status != 0, "\(refused.errors)")
        #expect(try program.sandbox.read("Stores/g").count == 300)
        // An older one is restored if it is named, or if the person is asked.
        let names = try Directory.open(program.sandbox.path("Remote")).names().map(\.description)
        let older = try #require(names.first { $0.hasSuffix(".zip") && $0 != newest })
        try program.expect("restore", older, "--yes")
    }

    @Test("that cannot be read is not passed over by commands that change 'latest'")
    func changed() throws {
        try hurt { Damage.cut.apply(to: &$0) }
        let before = try program.sandbox.contents(of: "Remote")
        for command in [["delete", "latest", "--yes"], ["pin", "latest"]] {
            let refused = try program.expect(command, status: 20)
            #expect(refused.errors.contains("the newest, cannot be read"), "\(refused.errors)")
        }
        #expect(try program.sandbox.contents(of: "Remote") == before)
    }

    @Test("gives its damage to no backup that is made within the same minute")
    func inherited() throws {
        try hurt { Damage.cut.apply(to: &$0) }
        try program.expect("check", status: 20)
        try program.expect("backup", "--quiet", "--tag", "later")
        let backups = try program.expect("list", "--json").json as? [[String: Any]]
        let later = try #require(backups?.first { $0["tags"] as? [String] == ["later"] })
        #expect(later["damaged"] as? Bool == false)
        #expect(backups?.count { $0["damaged"] as? Bool == true } == 1)
    }

    @Test(
        "that was cut off is not passed over through rclone",
        .enabled(if: Tool.isInstalled("rclone"), "rclone is not installed")
    )
    func remote() throws {
        let place = "rclone::local:\(program.sandbox.path("Remote").string)"
        try program.configure("stores: ~/Stores\nremote: '\(place)'\n")
        // This machine has seen them.
        try program.expect("check", "--all")
        try hurt { Damage.cut.apply(to: &$0) }
        for command in [["check"], ["restore", "latest", "--yes"], ["delete", "latest", "--yes"]] {
            #expect(try program.run(command).status != 0, "\(command)")
        }
        #expect(try program.sandbox.read("Stores/g").count == 300)
    }

    @Test(
        "stays known as damaged by the command that met the damage",
        arguments: [
            ["copy", "latest", "--to", "Out.zip"], ["extract", "latest", "h", "--to", "Out"],
        ]
    )
    func noted(_ command: [String]) throws {
        var random = Pseudorandom(seed: 1)
        let noise = random.bytes(5000)
        try program.sandbox.write(noise, to: "Stores/h")
        let name = try program.expect("backup", "--quiet", "--json").json as? [String: Any]
        let latest = try #require(name?["name"] as? String)
        var bytes = try program.sandbox.read("Remote/\(latest)")
        let mark = noise[100..<116]
        let place = try #require(
            bytes.indices.dropLast(16).first { bytes[$0..<$0 + 16].elementsEqual(mark) }
        )
        bytes[place] ^= 1
        try program.sandbox.write(bytes, to: "Remote/\(latest)")
        try program.expect(command, status: 20)
        let backups = try program.expect("list", "--json").json as? [[String: Any]]
        let damaged = backups?.filter { $0["damaged"] as? Bool == true }
        #expect(damaged?.map { $0["name"] as? String } == [latest])
    }

    enum Field: Int, CaseIterable {
        case version = 4
        case method = 8
        case checksum = 14
        case size = 20
    }

    @Test("whose local headers differ from its directory is not whole", arguments: Field.allCases)
    func localHeader(_ field: Field) throws {
        try hurt { bytes in
            let header: [UInt8] = [0x50, 0x4B, 3, 4]
            // The header of the file 'g', whose name has one letter.
            let place = try #require(
                bytes.indices.dropLast(31).first {
                    Array(bytes[$0..<$0 + 4]) == header && bytes[$0 + 26] == 1
                        && bytes[$0 + 30] == 0x67
                }
            )
            bytes[place + field.rawValue] ^= 0x20
        }
        try program.expect("check", "latest", "--restore", status: 20)
    }

    @Test("A retention policy that keeps no backup removes none")
    func misspeltTag() throws {
        try program.expect("backup", "--quiet", "--tag", "release")
        let before = try program.sandbox.contents(of: "Remote")
        #expect(try program.run("prune", "--keep-tag", "relaese").status != 0)
        #expect(try program.sandbox.contents(of: "Remote") == before)
    }

    @Test("A restore and its undo write objects alone to standard error with '--json'")
    func messages() throws {
        for command in [
            ["restore", "latest", "--yes", "--json"], ["restore", "--undo", "--yes", "--json"],
        ] {
            let errors = try program.expect(command).errors
            for line in errors.split(separator: "\n") {
                #expect(throws: Never.self, "\(line)") {
                    _ = try JSONSerialization.jsonObject(with: Data(line.utf8))
                }
            }
        }
    }
}
