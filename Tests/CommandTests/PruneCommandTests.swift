import Backups
import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import grocerydude

@Suite("Pruning from the command line")
struct PruneCommandTests {
    private let program: Program
    private let places = ["--stores", "Stores", "--remote", "Remote"]

    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
    }

    private func backups() throws -> [String] {
        try Directory.open(program.sandbox.path("Remote")).names().map(\.description).filter {
            $0.hasSuffix(".zip")
        }
    }

    @Test("A prune with a backup but without a retention policy is refused before the backup")
    func noPolicy() throws {
        let outcome = try program.run(["backup", "--prune"] + places)
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("no backup is made"))
        #expect(try backups().isEmpty)
        #expect(try program.run(["backup", "--prune", "--keep-last", "1"] + places).status == 0)
        #expect(try backups().count == 1)
    }

    @Test("A prune and '--skip-if-unchanged' use a check's result, and keep the good backup")
    func damaged() throws {
        #expect(try program.run(["backup"] + places).status == 0)
        let name = try #require(try backups().first)
        let size = try program.sandbox.read("Remote/\(name)").count
        try program.sandbox.write([UInt8](repeating: 0, count: size), to: "Remote/\(name)")
        #expect(try program.run(["check", "--all"] + places).status == 20)
        #expect(try program.run(["backup", "--skip-if-unchanged"] + places).status == 0)
        #expect(try backups().count == 2)
        #expect(try program.run(["prune", "--keep-last", "1"] + places).status == 0)
        #expect(try backups().count == 2)
        #expect(try program.run(["backup", "--skip-if-unchanged"] + places).status == 0)
        #expect(try backups().count == 2)
    }

    @Test("A dry run has a calendar of at most 24 months, whose signs need no Unicode")
    func calendar() throws {
        func time(_ year: Int, _ month: Int, _ day: Int) -> LocalTime {
            let days = Timestamp.daysSinceEpoch(year, month, day)
            return LocalTime(Date(timeIntervalSince1970: Double(days) * 86_400), in: .utc)
        }
        let keep = [time(2026, 11, 1), time(2026, 11, 30)]
        let old = (0..<10_000).map { time(2026, 10 - $0 % 10, 1 + $0 % 28) }
        let older = (0..<400).map { time(1000 + $0, 1, 1) }
        let lines = PruneCalendar(keep: keep, remove: [time(2026, 11, 30)] + old + older).lines
        #expect(lines.count == 1 + 1 + 24 + 1 + 1)
        #expect(lines.allSatisfy { Columns.width(of: $0) <= 80 })
        #expect(lines[lines.count - 2].hasSuffix("387 to go"))
        #expect(PruneCalendar(keep: [], remove: []).lines.isEmpty)
        #expect(try program.run(["backup"] + places).status == 0)
        let dry = ["prune", "--keep-last", "1", "--dry-run"] + places
        let text = try program.run(dry, environment: ["LC_ALL": "C"]).text
        #expect(text.contains("+") && text.hasSuffix("+ kept, x to go, * some of each\n"))
        #expect(text.utf8.allSatisfy { $0 < 0x80 })
        let unicode = try program.run(dry, environment: ["LC_ALL": "en_US.utf8"]).text
        #expect(unicode.hasSuffix("✓ kept, ✗ to go, ± some of each\n"))
    }

    @Test("A prune reports in JSON the backups that it could not remove")
    func notRemoved() throws {
        for _ in 1...3 { #expect(try program.run(["backup"] + places).status == 0) }
        // What is removed would go there.
        try program.sandbox.write("in the way", to: "Remote/.grocerydude-trash")
        let before = try backups()
        let outcome = try program.run(["prune", "--keep-last", "1", "--json"] + places)
        #expect(outcome.status == 3)
        let answer = try #require(outcome.json as? [String: Any])
        func names(_ key: String, _ name: String) -> [String] {
            (answer[key] as? [[String: Any]] ?? []).compactMap { $0[name] as? String }
        }
        #expect(names("keep", "name").count == 1)
        #expect(names("remove", "name") == [])
        let failed = names("problems", "path").filter { $0.hasSuffix(".zip") }
        #expect(Set(names("keep", "name") + failed) == Set(before))
        #expect(try backups() == before)
    }
}
