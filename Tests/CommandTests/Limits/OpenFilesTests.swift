import Files
import Sample
import SystemPackage
import TestSupport
import Testing

/// The built program if the system lets it have few files open (RLIMIT_NOFILE).
@Suite("Commands with few open files")
struct OpenFilesTests {
    @Test("A directory of many directories is backed up and restored with few open files")
    func manyDirectories() throws {
        let sandbox = try Sandbox()
        try sandbox.directory("Remote")
        for number in 0..<3_000 {
            try sandbox.directory("Stores/\(number)")
            try sandbox.write([1], to: "Stores/\(number)/file")
        }
        func run(_ arguments: String) throws -> Tool.Outcome {
            try Tool.run(
                "sh",
                ["-c", "ulimit -n 1024; exec '\(Tool.product("grocerydude"))' \(arguments)"],
                environment: [
                    "HOME": sandbox.path.string,
                    "GROCERYDUDE_STORES": sandbox.path("Stores").string,
                    "GROCERYDUDE_REMOTE": sandbox.path("Remote").string,
                ]
            )
        }
        let backup = try run("backup")
        // No store is in it.
        #expect(backup.status == 3, "\(backup.errors)")
        let restore = try run("restore latest --target '\(sandbox.path("Target"))'")
        #expect(restore.status == 0, "\(restore.errors)")
        #expect(try sandbox.contents(of: "Target") == sandbox.contents(of: "Stores"))
    }

    @Test(
        "Too many stores for the limit of open files make a partial backup that names the rest",
        arguments: [128, 256, 600]
    )
    func manyStores(limit: Int) throws {
        let sandbox = try Sandbox()
        try sandbox.directory("Remote")
        _ = try GroceryStore.create(in: sandbox.path("Stores"), withTestData: false)
        let store = try sandbox.read("Stores/Grocery-Dude.sqlite")
        for number in 0..<limit { try sandbox.write(store, to: "Stores/\(number).sqlite") }
        func run(_ arguments: String, limit: Int) throws -> Tool.Outcome {
            try Tool.run(
                "sh",
                ["-c", "ulimit -n \(limit); exec '\(Tool.product("grocerydude"))' \(arguments)"],
                environment: [
                    "HOME": sandbox.path.string,
                    "GROCERYDUDE_STORES": sandbox.path("Stores").string,
                    "GROCERYDUDE_REMOTE": sandbox.path("Remote").string,
                ]
            )
        }
        let backup = try run("backup", limit: limit)
        #expect(backup.status == 3, "\(backup.status) \(backup.errors)")
        #expect(backup.errors.contains("too many open files"), "\(backup.errors)")
        let check = try run("check", limit: limit)
        #expect(check.status == 0, "\(check.errors)")
        let restore = try run("restore latest --target '\(sandbox.path("Target"))'", limit: limit)
        #expect(restore.status == 0, "\(restore.errors)")
        let saved = try Set(Directory.open(sandbox.path("Target")).names().map(\.description))
        #expect(saved.count > limit / 8 && saved.count <= limit + 1)
        // Each that is not there was named.
        for number in 0..<limit where !saved.contains("\(number).sqlite") {
            #expect(backup.errors.contains("'\(number).sqlite'"))
        }
        #expect(try run("backup", limit: 8 * limit).status == 0)
    }
}
