import Files
import Foundation
import TestSupport
import Testing

/// The help of every command there is.
@Suite("The program's help")
struct HelpTests {
    let program: Program

    init() throws {
        program = try Program()
    }

    /// The words of every command below one, without 'help', which says nothing of its own.
    private func commands(below command: [String: Any], _ words: [String]) -> [[String]] {
        let subcommands = command["subcommands"] as? [[String: Any]] ?? []
        return [words]
            + subcommands.filter { $0["commandName"] as? String != "help" }.flatMap {
                commands(below: $0, words + [$0["commandName"] as? String ?? ""])
            }
    }

    private func allCommands() throws -> [[String]] {
        let dump = try program.run("--experimental-dump-help")
        let tool = try #require(dump.json as? [String: Any])
        return commands(below: try #require(tool["command"] as? [String: Any]), [])
    }

    @Test("shows usage and options before an example, for every command")
    func order() throws {
        #expect(try program.run("--version").text.hasPrefix("0."))
        let commands = try allCommands()
        #expect(commands.count > 24)
        for command in commands {
            let help = try program.run(command + ["--help"])
            #expect(help.status == 0 && help.errors.isEmpty)
            let parts = ["OVERVIEW: ", "\nUSAGE: grocerydude", "\nOPTIONS:\n", "\nEXAMPLE\n"]
            let places = parts.map { help.text.firstRange(of: $0)?.lowerBound }
            #expect(places.allSatisfy { $0 != nil }, "\(command)")
            let known = places.compactMap(\.self)
            #expect(known == known.sorted(), "\(command)")
            #expect(help.text.contains("\nEXAMPLE\n  grocerydude"), "\(command)")
        }
    }

    @Test("shows the exit codes in the program's own, and in no other")
    func exitCodes() throws {
        for command in try allCommands() {
            let help = try program.run(command + ["--help"]).text
            #expect(help.contains("EXIT CODES") == command.isEmpty, "\(command)")
        }
        let help = try program.run("--help").text
        #expect(help.contains("\n  64  usage\n") && help.contains("\n  129, 130, 143  interrupted"))
    }

    @Test("shows the commands in groups")
    func groups() throws {
        let help = try program.run("--help").text
        var places: [String.Index] = []
        for line in [
            "BACK UP", "  backup ", "GET BACK", "  restore ", "LOOK INSIDE", "  list ", "KEEP",
            "  check ", "KEEP IN STEP", "  sync ", "SET UP", "  config ", "TRY", "  init ",
        ] { places.append(try #require(help.firstRange(of: "\n\(line)")?.lowerBound, "\(line)")) }
        #expect(places == places.sorted())
        #expect(!help.contains("\nSUBCOMMANDS:"))
    }

    @Test("is the same in all ways to ask for it")
    func ways() throws {
        let help = try program.run("items", "add", "--help").output
        #expect(try program.run("items", "add", "-h").output == help)
        #expect(try program.run("help", "items", "add").output == help)
        #expect(try program.run().output == program.run("--help").output)
    }
}
