import Foundation
import TestSupport
import Testing

/// 'restore' without a name, on a pseudo-terminal.
@Suite("Choosing a backup", .enabled(if: Terminal.isThere, "Python 3 is not installed"))
struct ChoiceTests {
    let program: Program

    init() throws {
        program = try Program()
        try program.make(stores: ".local/share/grocerydude/Stores", remote: "Remote")
        try program.configure("remote: ~/Remote\n")
        #expect(try program.run("backup", "--quiet", "--tag", "first").status == 0)
        #expect(try program.run("items", "add", "Honey", "--quiet").status == 0)
        #expect(try program.run("backup", "--quiet", "--tag", "second").status == 0)
    }

    /// Runs a command on a terminal, on which somebody answers its questions.
    private func type(_ keys: String..., into arguments: String...) throws -> Tool.Outcome {
        try Terminal.run([Program.path] + arguments, answering: keys, program)
    }

    @Test("A choice lists backups with the newest first, takes a number, and asks before it begins")
    func number() throws {
        let outcome = try type("2", "y", into: "restore")
        #expect(outcome.status == 0)
        let lines = outcome.text.replacing("\r", with: "").split(separator: "\n")
        let first = try #require(lines.firstIndex { $0.hasPrefix("1  ") })
        #expect(lines[first].hasSuffix("[second]") && lines[first + 1].hasSuffix("[first]"))
        #expect(lines[first + 1].hasPrefix("2  "))
        #expect(outcome.text.contains("Restore which? [1-2]"))
        #expect(try !program.run("items").text.contains("Honey"))
    }

    @Test("A choice takes a name too, asks again after a wrong one, and ends without an answer")
    func others() throws {
        // No part of any name, whatever the time.
        let again = try type("777", "latest", "n", into: "restore")
        #expect(again.status == 1 && again.text.contains("there is no backup named '777'"))
        #expect(again.text.contains("Restore from"))
        let none = try type("", into: "restore")
        #expect(none.status == 1 && none.text.contains("nothing was changed"))
        #expect(try program.run("items").text.contains("Honey"))
    }

    @Test("A choice needs a terminal")
    func noTerminal() throws {
        let outcome = try program.run("restore", "--yes")
        #expect(outcome.status == 64 && outcome.errors.contains("grocerydude restore latest"))
    }

    @Test("A choice without any backup is an error")
    func empty() throws {
        try program.sandbox.directory("Empty")
        #expect(try type(into: "restore", "--remote", "Empty").status == 10)
    }
}
