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

    /// Returns the words of every command below one, without 'help' and its topics.
    private func commands(below command: [String: Any], _ words: [String]) -> [[String]] {
        let subcommands = command["subcommands"] as? [[String: Any]] ?? []
        return [words]
            + subcommands.filter { $0["commandName"].map(Self.isOfHelp) == false }.flatMap {
                commands(below: $0, words + [$0["commandName"] as? String ?? ""])
            }
    }

    private static func isOfHelp(_ name: Any) -> Bool {
        ["help", "options", "exit-codes", "manual"].contains(name as? String)
    }

    private func allCommands() throws -> [[String]] {
        let dump = try program.run("--experimental-dump-help")
        let tool = try #require(dump.json as? [String: Any])
        return commands(below: try #require(tool["command"] as? [String: Any]), [])
    }

    @Test("The help of every command shows usage and options before an example")
    func order() throws {
        #expect(try program.run("--version").text.hasPrefix("grocerydude 0."))
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
            let whole = try program.run(command + ["--help-hidden"]).text
            let wide = "\(help.text)\n\(whole)".split(separator: "\n").filter { $0.count > 80 }
            #expect(wide.isEmpty, "\(command): \(wide)")
        }
    }

    @Test("The help shows the exit codes and the common options on separate pages")
    func topics() throws {
        for command in try allCommands() {
            let help = try program.run(command + ["--help"]).text
            #expect(!help.contains("EXIT CODES") && !help.contains("--remote <"), "\(command)")
        }
        let codes = try program.run("help", "exit-codes").text
        #expect(
            codes.contains("\n  64  usage\n") && codes.contains("\n  129, 130, 143  interrupted")
        )
        let options = try program.run("help", "options").text
        for option in ["--stores <dir>", "--remote <folder>", "--profile <name>", "--json"] {
            #expect(
                options.contains("\n  \(option)") || options.contains(" \(option) "),
                "\(option)"
            )
        }
    }

    @Test(
        "The help fits two screens, and shows every option on request",
        arguments: ["backup", "restore"]
    )
    func length(command: String) throws {
        let help = try program.run(command, "--help").text
        #expect(help.split(separator: "\n", omittingEmptySubsequences: false).count <= 61)
        #expect(help.contains("'grocerydude help options'") && help.contains("'--help-hidden'"))
        let whole = try program.run(command, "--help-hidden").text
        for option in ["--stores", "--lock-wait", "--set"] {
            #expect(whole.contains(option) && !help.contains("  \(option)"), "\(option)")
        }
    }

    @Test(
        "An unknown command gets no help, but the name of the nearest command",
        arguments: [
            ("bakup", "'grocerydude' has no command 'bakup'", "did you mean 'grocerydude backup'?"),
            (
                "help bakup", "'grocerydude' has no command 'bakup'",
                "did you mean 'grocerydude backup'?"
            ),
            (
                "config validat --json", "'grocerydude config' has no command 'validat'",
                "did you mean 'grocerydude config validate'?"
            ),
            ("xyzzy a b", "'grocerydude' has no command 'xyzzy'", "run 'grocerydude --help'"),
        ]
    )
    func unknown(words: String, message: String, hint: String) throws {
        let outcome = try program.run(words.split(separator: " ").map(String.init))
        #expect(outcome.status == 64 && outcome.text.isEmpty)
        #expect(
            outcome.errors.contains(message) && outcome.errors.contains(hint),
            "\(outcome.errors)"
        )
    }

    @Test("The help is a page of the manual too, with every command")
    func manual() throws {
        let page = try program.expect("help", "manual").text
        #expect(page.hasPrefix(".TH GROCERYDUDE 1 "))
        // The units of systemd run a hidden one.
        for command in try allCommands().dropFirst() where command != ["notify", "failed"] {
            let title = command.joined(separator: " ").uppercased()
            #expect(page.contains("\n.SH \(title.replacing("-", with: "\\-"))\n"), "\(command)")
        }
        #expect(page.contains("\n.SH EXIT CODES\n"))
        guard Tool.isInstalled("groff") else { return }
        let groff = try Tool.run("groff", ["-man", "-ww", "-z"], input: Array(page.utf8))
        #expect(groff.errors.isEmpty, "\(groff.errors)")
    }

    @Test("The help shows the commands in groups")
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

    @Test("The help is the same for all ways to ask for it")
    func ways() throws {
        let help = try program.run("sample", "add", "--help").output
        #expect(try program.run("sample", "add", "-h").output == help)
        #expect(try program.run("help", "sample", "add").output == help)
        #expect(try program.run().output == program.run("--help").output)
    }
}
