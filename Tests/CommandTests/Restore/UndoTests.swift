import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Restores that are undone after others which changed nothing.
@Suite("Undoing the last restore that took effect")
struct UndoTests {
    private let program: Program
    private let places: String

    /// Makes a backup, and adds an item after it.
    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        let (stores, remote) = (program.sandbox.path("Stores"), program.sandbox.path("Remote"))
        places = "stores: \(stores)\nremote: \(remote)\n"
        try program.configure(places)
        try program.expect("backup")
        try program.expect("items", "add", "Quinces")
    }

    /// Restores while the configuration has these commands around a restore.
    private func restore(_ hooks: String, status: Int32) throws {
        try program.configure(places + "hooks: {restore: {\(hooks)}}\n")
        try program.expect("restore", "latest", "--yes", status: status)
        try program.configure(places)
    }

    private func expectNothingToUndo() throws {
        for arguments in [["--undo", "--yes"], ["--undo", "--dry-run"]] {
            let outcome = try program.expect(["restore"] + arguments, status: 10)
            #expect(outcome.errors.contains("there is no restore to undo"), "\(outcome.errors)")
        }
        #expect(try program.run("items").text.contains("Quinces"))
    }

    @Test("passes over restores that were rolled back")
    func rolledBack() throws {
        try program.expect("restore", "latest", "--yes")
        try program.expect("items", "add", "Figs")
        try restore("verify: 'false'", status: 21)
        #expect(try program.run("items").text.contains("Figs"))
        try program.expect("restore", "--undo", "--yes")
        let items = try program.run("items").text
        #expect(items.contains("Quinces") && !items.contains("Figs"))
    }

    @Test("is refused if no restore took effect")
    func nothing() throws {
        try restore("verify: 'false'", status: 21)
        try expectNothingToUndo()
    }

    @Test("is refused if the only restore was killed, and the next command undid it")
    func killed() throws {
        let stop = "stop: 'kill -KILL $PPID'"
        try restore(stop, status: 128 + 9)
        try expectNothingToUndo()
        // It starts, is not well, and is stopped; and is killed with the restore when it starts again.
        let start = "start: 'test ! -e unwell || kill -KILL $PPID'"
        try restore("\(start), verify: 'touch unwell; false'", status: 128 + 9)
        try expectNothingToUndo()
    }

    @Test("takes no safety backup of a restore before the last one, however soon they were made")
    func atOnce() throws {
        try program.expect("restore", "latest", "--yes")
        try program.expect("restore", "latest", "--yes", "--no-safety-backup")
        let outcome = try program.expect("restore", "--undo", "--yes", status: 10)
        #expect(outcome.errors.contains("made no safety backup"), "\(outcome.errors)")
    }

    private func expectRefusal(_ text: String, status: Int32 = 10) throws {
        for arguments in [["--undo", "--yes"], ["--undo", "--dry-run"]] {
            let outcome = try program.expect(["restore"] + arguments, status: status)
            #expect(outcome.errors.contains(text), "\(outcome.errors)")
            #expect(!outcome.errors.contains("no safety backup"), "\(outcome.errors)")
        }
    }

    @Test("takes no waiting safety backup if that of the last restore is out of reach, and says so")
    func outOfReach() throws {
        let files = FileManager.default
        let remote = program.sandbox.path("Remote").string
        try program.configure(places + "queue: true\n")
        try files.moveItem(atPath: remote, toPath: remote + " away")
        try program.expect("backup")
        try program.expect("items", "add", "Figs")
        try program.expect("restore", "latest", "--yes")
        try files.moveItem(atPath: remote + " away", toPath: remote)
        try program.expect("restore", "latest", "--yes")
        try files.moveItem(atPath: remote, toPath: remote + " away")
        try expectRefusal("there is no remote folder")
        try files.moveItem(atPath: remote + " away", toPath: remote)
        try program.expect("restore", "--undo", "--yes")
    }

    @Test("says that the safety backup of the last restore is gone, and takes no other")
    func gone() throws {
        try program.expect("restore", "latest", "--yes")
        let remote = program.sandbox.path("Remote").string
        func safety() throws -> [String] {
            let rows = try program.expect("list", "--json").json as? [[String: Any]] ?? []
            return rows.filter { $0["reason"] as? String != nil }
                .compactMap { $0["name"] as? String }
        }
        let first = try safety()
        try program.expect("items", "add", "Figs")
        try program.expect("restore", "latest", "--yes")
        let second = try #require(try safety().first { !first.contains($0) })
        try FileManager.default.removeItem(atPath: "\(remote)/\(second)")
        try expectRefusal("the last restore's safety backup is gone")
        try FileManager.default.removeItem(atPath: "\(remote)/\(first[0])")
        try expectRefusal("the last restore's safety backup is gone")
    }
}
