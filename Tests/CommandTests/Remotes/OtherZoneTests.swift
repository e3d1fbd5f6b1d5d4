import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite(
    "A machine in another time zone that has read no archive",
    .enabled(if: Tool.isInstalled("rclone"), "rclone is not installed")
)
struct OtherZoneTests {
    private let program: Program

    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
    }

    /// Runs the program in a zone, with a cache of that zone alone.
    private func run(_ arguments: [String], in zone: String) throws -> Tool.Outcome {
        let places = ["--remote", "rclone::local:\(program.sandbox.path("Remote").string)"]
        let cache = program.sandbox.path("Cache \(zone.filter(\.isLetter))").string
        return try program.run(
            arguments + places,
            environment: ["TZ": zone, "XDG_CACHE_HOME": cache, "XDG_STATE_HOME": cache]
        )
    }

    @Test(
        "A machine in another time zone knows a backup's time, with named or unnamed rules",
        arguments: ["Asia/Kathmandu", "<+0545>-5:45", "AAA11", "UTC"]
    )
    func times(zone: String) throws {
        let before = Date()
        let stores = program.sandbox.path("Stores").string
        let backup = try run(["backup", "--quiet", "--stores", stores], in: zone)
        #expect(backup.status == 0, "\(backup.errors)")
        for reader in ["Pacific/Auckland", "America/New_York", "<-03>3"] {
            let list = try run(["list", "--json"], in: reader)
            let rows = try #require(list.json as? [[String: Any]])
            let text = try #require(rows.first?["time"] as? String)
            let time = try Date(
                text,
                strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            )
            #expect(
                (-60..<60).contains(time.timeIntervalSince(before)),
                "\(zone), \(reader): \(text)"
            )
            let status = try run(["status", "--max-age", "1h", "--stores", stores], in: reader)
            #expect(status.status == 0 && !status.errors.contains("future"), "\(status.errors)")
        }
    }

    @Test(
        "A machine in another time zone finds the latest backup, and a day's backup by its date"
    )
    func latest() throws {
        try FileManager.default.removeItem(atPath: program.sandbox.path("Remote").string)
        try program.sandbox.directory("Remote")
        // In order: 08:00, 08:30, 09:00 and 09:30 UTC.
        let names = [
            "[2026-Nov-20] 08.00 AM", "[2026-Nov-20] 02.15 PM +0545",
            "[2026-Nov-20] 10.00 AM +0100",
            "[2026-Nov-20] 04.30 AM -0500",
        ].map { "\($0) Stores.zip" }
        for name in names { try program.sandbox.write("no archive", to: "Remote/\(name)") }
        let list = try run(["list", "--json"], in: "Pacific/Auckland")
        let rows = try #require(list.json as? [[String: Any]])
        #expect(
            rows.compactMap { $0["file"] as? String ?? $0["name"] as? String } == names.reversed()
        )
        let several = try run(["show", "2026-11-20"], in: "UTC")
        #expect(
            several.status != 0 && several.errors.contains("04.30 AM -0500"),
            "\(several.errors)"
        )
        let none = try run(["show", "2026-11-21"], in: "UTC")
        #expect(none.status != 0 && none.errors.contains("no backup named '2026-11-21'"))
    }
}
