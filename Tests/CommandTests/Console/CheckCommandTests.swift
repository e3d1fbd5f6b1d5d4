import Foundation
import SystemPackage
import TestSupport
import Testing

/// 'check', as a person reads it.
@Suite("Checked backups")
struct CheckCommandTests {
    @Test("Checked backups are listed in aligned columns, whatever the lengths of their names")
    func columns() throws {
        let program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
        for _ in 1...2 { try program.expect(["backup", "--quiet", "--same-name", "number"]) }
        let text = try program.expect(["check", "--all"]).text
        let places = text.split(separator: "\n").map { line in
            line.firstRange(of: "yes").map {
                line.distance(from: line.startIndex, to: $0.lowerBound)
            }
        }
        #expect(places.count == 3 && places[1] != nil && places[1] == places[2], "\(text)")
    }

    @Test("A check of all backups is no success if the folder is away and only one waits here")
    func away() throws {
        let program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        try program.configure("stores: ~/Stores\nremote: ~/Remote\nqueue: true\n")
        try program.expect("backup", "--quiet")
        try FileManager.default.moveItem(
            atPath: program.sandbox.path("Remote").string,
            toPath: program.sandbox.path("Away").string
        )
        try program.expect("backup", "--quiet")
        let list = try program.expect(["list", "--json"], status: 10).json as? [[String: Any]]
        let name = try #require(list?.first?["name"] as? String)
        let hook = ["--set", "hooks.check.on_success=touch ~/success"]
        for more in [[], ["--json"], ["--restore"]] {
            let all = try program.expect(["check", "--all"] + more + hook, status: 10)
            #expect(all.text.contains(name.prefix(16)), "\(all.text)")
            #expect(all.errors.contains("there is no remote folder"), "\(all.errors)")
        }
        #expect(!program.sandbox.exists("success"))
        #expect(try program.expect("log").text.contains("failed 10"))
        try program.expect("key", "check", "--all", status: 10)
        // What is named is here.
        try program.expect(["check", name] + hook)
        #expect(program.sandbox.exists("success"))
        try FileManager.default.moveItem(
            atPath: program.sandbox.path("Away").string,
            toPath: program.sandbox.path("Remote").string
        )
        try program.expect("check", "--all")
    }

    @Test("A check of several backups calls nothing well that it did not look at")
    func table() throws {
        let program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
        try program.expect(["backup", "--quiet", "--same-name", "number"])
        let list = try program.expect(["list", "--json"]).json as? [[String: Any]]
        let name = try #require(list?.first?["name"] as? String)
        var bytes = try program.sandbox.read("Remote/\(name)")
        bytes[bytes.count / 4] ^= 1
        try program.sandbox.write(bytes, to: "Remote/\(name)")
        try program.expect(["backup", "--quiet", "--same-name", "number"])
        func rows(_ more: String...) throws -> [[String]] {
            let text = try program.run(["check", "--all"] + more).text
            let lines = text.split(separator: "\n")
            // The line of the damage has its reason: a wrong sum, or data that cannot be inflated.
            let table = lines.filter { !$0.contains(" is damaged: ") }
            #expect(table[0].hasPrefix("BACKUP  ") && table.allSatisfy { $0.count <= 80 })
            return lines.dropFirst().map { line in
                line.components(separatedBy: "  ").dropFirst().filter { !$0.isEmpty }
                    .map { $0.trimmingCharacters(in: .whitespaces) }
            }
        }
        let plain = try rows()
        #expect(plain[0].prefix(3) == ["well", "well", "-"] && plain[0].last == "yes", "\(plain)")
        #expect(plain[1].prefix(3) == ["well", "DAMAGED", "-"] && plain[1].last == "no")
        #expect(try rows("--restore")[0].prefix(3) == ["well", "well", "well"])
        let part = try rows("--read-data-subset", "1/2")
        #expect(part[0].prefix(3) == ["well", "part 1/2", "-"] && part[0].last == "part")
        let json = try program.expect(["check", "--all", "--json"], status: 20).json
        let looked = (json as? [[String: Any]])?.map { $0["looked_at"] as? [String: String] }
        #expect(looked?[0]?["contents"] == "well" && looked?[0]?["stores"] == nil)
        #expect(looked?[1]?["contents"] == "damaged")
    }
}
