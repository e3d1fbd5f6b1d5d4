import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Two stores directories that have their backups in one folder.
@Suite("A folder that stores directories share")
struct SharedFolderCommandTests {
    private let program: Program

    init() throws {
        program = try Program()
        try program.make(stores: "One", remote: "Remote")
        try program.expect(["init", "--stores", program.sandbox.path("Two").string])
        try add("Apple", to: "One")
        try add("Pear", to: "Two")
    }

    private func run(_ stores: String, _ arguments: [String]) throws -> Tool.Outcome {
        try program.run(
            arguments + [
                "--stores", program.sandbox.path(stores).string,
                "--remote", program.sandbox.path("Remote").string,
            ]
        )
    }

    private func add(_ item: String, to stores: String) throws {
        try program.expect(["items", "add", item, "--stores", program.sandbox.path(stores).string])
    }

    private func items(_ stores: String) throws -> String {
        try program.expect(["items", "--stores", program.sandbox.path(stores).string]).text
    }

    private func backUp(_ stores: String) throws -> String {
        let made = try run(stores, ["backup"])
        #expect(made.status == 0, "\(made.errors)")
        return made.text.trimmingCharacters(in: .newlines)
    }

    @Test("An undo of a restore restores the data of the same stores directory")
    func undo() throws {
        let first = try backUp("One")
        _ = try backUp("Two")
        try add("Quince", to: "One")
        #expect(try run("One", ["restore", first, "--yes"]).status == 0)
        #expect(try run("Two", ["restore", "latest", "--yes"]).status == 0)
        let undone = try run("One", ["restore", "--undo", "--yes"])
        #expect(undone.status == 0, "\(undone.errors)")
        let items = try items("One")
        #expect(items.contains("Quince") && items.contains("Apple") && !items.contains("Pear"))

        // A third one has nothing to undo, and keeps what it has.
        try program.expect(["init", "--stores", program.sandbox.path("Three").string])
        let refused = try run("Three", ["restore", "--undo", "--yes"])
        #expect(refused.status == 10, "\(refused.errors)")
        #expect(refused.errors.contains("of another machine or stores directory"))
        let place = program.sandbox.path("Three").string
        #expect(refused.errors.contains("grocerydude restore --stores \(place) --remote "))
        #expect(try !self.items("Three").contains("Quince"))
    }

    @Test(
        "The latest backup is the stores directory's own, and another's needs confirmation"
    )
    func latest() throws {
        _ = try backUp("One")
        let other = try backUp("Two")
        for choice in [["latest"], ["--at", "2100-01-01"]] {
            try add("Quince", to: "One")
            let restored = try run("One", ["restore"] + choice + ["--yes"])
            #expect(restored.status == 0, "\(restored.errors)")
            #expect(restored.errors.contains("is newer, but of another"), "\(restored.errors)")
            #expect(!restored.errors.contains("is a backup of another machine"))
            let items = try items("One")
            #expect(items.contains("Apple") && !items.contains("Quince"))
        }
        for more in [["--dry-run"], ["--yes"]] {
            let named = try run("One", ["restore", other] + more)
            #expect(named.status == 0, "\(named.errors)")
            #expect(named.errors.contains("is a backup of another machine"), "\(named.errors)")
        }
        #expect(try items("One").contains("Pear"))
        // Without one of its own, as on a new machine, nobody knows which of two others is meant.
        let fresh = try run("New", ["restore", "latest", "--yes"])
        #expect(fresh.status == 10, "\(fresh.errors)")
        let named = try run("New", ["restore", other, "--yes"])
        #expect(named.status == 0 && named.errors.contains("is a backup of another machine"))
        #expect(try items("New").contains("Pear"))
    }

    @Test("All commands agree on the latest backup in a shared folder")
    func latestOfAll() throws {
        let own = try backUp("One")
        let other = try backUp("Two")
        let (to, copies) = (program.sandbox.path("To"), program.sandbox.path("Copies"))
        for directory in [to, copies] { try LocalFileSystem().createDirectory(directory) }
        let commands = [
            ["show", "latest"], ["check"], ["check", "latest"], ["delete", "latest", "--dry-run"],
            ["copy", "latest", "--to", to.appending("Copied.zip").string],
            ["copy", "latest", "latest", "--to", copies.string],
            ["consolidate", "latest"], ["pin", "latest"],
        ]
        for command in commands {
            let ran = try run("One", command)
            #expect(ran.status == 0, "\(command): \(ran.errors)")
            #expect(ran.errors.contains("took '"), "\(command): \(ran.errors)")
            #expect(!ran.text.contains(other), "\(command): \(ran.text)")
        }
        let there = try FileManager.default.contentsOfDirectory(atPath: copies.string)
        #expect(there.contains(own), "\(there)")
        let names = ["sql", "latest", "SELECT name FROM item"]
        #expect(try !run("One", names).text.contains("Pear"))
        #expect(try run("Two", names).text.contains("Pear"))
        #expect(try run("One", ["diff", "--exit-code"]).status == 0)
        // Nothing is said to whom the newest belongs.
        #expect(try !run("Two", ["show", "latest"]).errors.contains("took '"))
    }

    @Test("All commands say of the latest backup that it is damaged, and name the newest whole one")
    func damagedLatest() throws {
        let whole = try backUp("One").replacing(" Stores.zip", with: "")
        _ = try backUp("Two")
        try add("Fig", to: "One")
        let bad = try backUp("One")
        var bytes = try program.sandbox.read("Remote/\(bad)")
        bytes[200] ^= 0xFF
        try program.sandbox.write(bytes, to: "Remote/\(bad)")
        #expect(try run("One", ["check"]).status == 20)
        let name = bad.replacing(" Stores.zip", with: "")
        let commands = [
            ["show", "latest"], ["check"], ["check", "latest"], ["sql", "latest", "SELECT 1"],
            ["delete", "latest", "--dry-run"],
        ]
        for command in commands {
            let errors = try run("One", command).errors
            let words = "warning: '\(name)', the newest, is damaged ("
            #expect(errors.contains(words), "\(command): \(errors)")
            #expect(errors.contains("; the newest whole one is '\(whole)'"), "\(errors)")
        }
        let refused = try run("One", ["restore", "latest", "--yes"])
        #expect(refused.status == 20 && !refused.errors.contains("warning: '\(name)', the newest"))
        #expect(try !run("Two", ["show", "latest"]).errors.contains("damaged"))
    }

    @Test(
        "An undo is refused if several safety backups do not show their origin"
    )
    func unknown() throws {
        let home = try EncryptedHome()
        _ = try home.encrypt()
        for _ in 0..<2 {
            let restored = try home.program.run(
                "restore",
                "latest",
                "--yes",
                "--identity",
                home.key
            )
            #expect(restored.status == 0, "\(restored.errors)")
        }
        try LocalFileSystem().remove(home.program.sandbox.path(".cache"))
        // Only what restores made is marked so, where nothing but its name is known.
        let list = try home.program.run("list", "--json")
        let rows = try #require(list.json as? [[String: Any]])
        #expect(rows.map { $0["reason"] is String } == [true, true, false])
        let refused = try home.program.run("restore", "--undo", "--yes")
        #expect(refused.status == 10, "\(refused.errors)")
        #expect(refused.errors.contains("2 safety backups in"), "\(refused.errors)")
        let undone = try home.program.run("restore", "--undo", "--yes", "--identity", home.key)
        #expect(undone.status == 0, "\(undone.errors)")
    }
}
