import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// The commands to try things with.
@Suite("The sample's commands")
struct SampleCommandTests {
    let program: Program

    init() throws {
        program = try Program()
    }

    @Test("The sample's commands update an old sample store, and add each row once")
    func update() throws {
        let sandbox = program.sandbox
        try sandbox.directory("Stores")
        let sql = String(decoding: try Fixtures.read("sample/schema-1.sql"), as: UTF8.self)
        let path = sandbox.path("Stores/Grocery-Dude.sqlite")
        try Tool.check("sqlite3", [path.string, sql])
        let places = ["--stores", "Stores"]
        let first = try program.run(["init", "--update"] + places)
        #expect(first.text == "added 3 rows of the default data to 'Stores/Grocery-Dude.sqlite'\n")
        let second = try program.run(["init", "--update"] + places)
        #expect(second.text == "'Stores/Grocery-Dude.sqlite' has all of the default data\n")
        let json = try program.run(["init", "--update", "--json"] + places).json as? [String: Any]
        #expect(json?["added"] as? Int == 0 && json?["items"] as? Int == 12)
        let none = try program.run("init", "--update", "--stores", "Nowhere")
        #expect(none.status == 1)
        #expect(none.errors.contains("there is no store") && none.errors.contains("hint: "))
        #expect(!sandbox.exists("Nowhere"))
    }

    @Test("The sample's commands use the first old place with a store, and name it")
    func from() throws {
        let sandbox = program.sandbox
        try sandbox.directory("Empty")
        #expect(try program.run("init", "--stores", "Old").status == 0)
        #expect(try program.run("items", "add", "Figs", "--stores", "Old").status == 0)
        let old = try sandbox.contents(of: "Old")
        let copied = try program.run("init", "--stores", "New", "--from", "None", "Empty", "Old")
        #expect(copied.status == 0)
        #expect(
            copied.text.hasPrefix("copied '\(sandbox.path("Old"))' to 'New': 1 store, 1 file, ")
        )
        #expect(copied.errors.contains("'None' is not there"))
        #expect(copied.errors.contains("no store is in 'Empty'"))
        #expect(try sandbox.contents(of: "Old") == old)
        #expect(try program.run("items", "--stores", "New").text.contains("Figs"))
        let none = try program.run("init", "--stores", "Other", "--from", "None", "Empty")
        #expect(none.status == 1 && none.text.isEmpty)
        #expect(none.errors.contains("there is no store in 'None', 'Empty'"))
        let taken = try program.run("init", "--stores", "New", "--from", "Old")
        #expect(taken.status == 1)
        #expect(taken.errors.contains("/New' is there, and is no empty directory"))
        let both = try program.run("init", "--update", "--from", "Old")
        #expect(both.status == 64 && both.errors.contains("exclude each other"))
    }

    @Test("The sample's commands make a store only in a place without other data, unless forced")
    func besideOthers() throws {
        let sandbox = program.sandbox
        try sandbox.write("x", to: "Documents/.letter")
        let before = try sandbox.contents(of: "Documents")
        for option in [[], ["--test-data"]] {
            let refused = try program.run(["init", "--stores", "Documents"] + option)
            #expect(refused.status == 1)
            #expect(refused.errors.contains("'Documents' has other data in it: '.letter'"))
            #expect(refused.errors.contains("or add '--yes'"))
            #expect(try sandbox.contents(of: "Documents") == before)
        }
        #expect(try program.run("init", "--stores", "Documents", "--yes").status == 0)
        #expect(sandbox.exists("Documents/.letter"))
        // The directory of a new file system.
        try sandbox.directory("Disk/lost+found")
        #expect(try program.run("init", "--stores", "Disk").status == 0)
    }

    @Test("The sample's commands suggest the neighbours of a mistyped directory")
    func mistyped() throws {
        let sandbox = program.sandbox
        try sandbox.directory("app/Stores")
        try sandbox.directory("empty")
        for (name, hint) in [
            ("app/Store", "did you mean 'app/Stores'?"),
            ("ap/Stores", "did you mean 'app/Stores'?"),
            ("ap/Other", "did you mean 'app'?"),
            (sandbox.path("app/stroes").string, "did you mean '\(sandbox.path("app/Stores"))'?"),
            ("nowhere", "is it the right directory? name another with '--stores DIR'"),
            ("nowhere/at/all", "is it the right directory?"),
        ] {
            for command in [["backup"], ["items"], ["check"], ["sync", "status"]] {
                let outcome = try program.run(command + ["--stores", name])
                guard outcome.errors.contains("no store") else { continue }
                #expect(outcome.errors.contains("hint: \(hint)"), "\(command) \(outcome.errors)")
                #expect(!outcome.errors.contains("init"), "\(command) \(outcome.errors)")
            }
            #expect(try program.run("backup", "--stores", name).errors.contains(hint))
        }
        #expect(try !program.run("items", "--stores", "empty").errors.contains("init"))
        // The usual one is not mistyped.
        #expect(try program.run("backup").errors.contains("'grocerydude init' makes a sample"))
        #expect(try program.run("items").errors.contains("'grocerydude init' makes a sample"))
    }

    @Test("The sample's commands transfer items to another store through a file or a pipe")
    func transfer() throws {
        for name in ["One", "Two", "Three"] {
            #expect(try program.run("init", "--stores", name).status == 0)
        }
        #expect(try program.run("items", "add", "Figs", "--stores", "One").status == 0)
        let exported = try program.run("items", "export", "a b.json", "--stores", "One")
        #expect(exported.text == "exported 13 items to 'a b.json'\n")
        let again = try program.run("items", "export", "a b.json", "--stores", "Two")
        #expect(again.status == 1)
        #expect(again.errors.contains("'a b.json' is there already"))
        let imported = try program.run("items", "import", "a b.json", "--stores", "Two")
        #expect(imported.text == "added 1 item; 12 were there already\n")
        #expect(try program.run("items", "--stores", "Two").text.contains("Figs"))
        let file = try program.sandbox.read("a b.json")
        let piped = try program.run("items", "export", "-", "--stores", "Two")
        #expect(piped.output == file && piped.errors.isEmpty)
        func pipe(_ input: [UInt8]) throws -> Tool.Outcome {
            try Tool.run(
                Program.path,
                ["items", "import", "-", "--stores", "Three"],
                environment: program.environment,
                directory: program.sandbox.path,
                input: input
            )
        }
        let cut = try pipe(file.dropLast(9))
        #expect(cut.status == 1)
        #expect(cut.errors.contains("'standard input' cannot be imported, nothing was changed"))
        #expect(cut.errors.contains("hint: 'grocerydude sample export' writes such a file"))
        #expect(try !program.run("items", "--stores", "Three").text.contains("Figs"))
        #expect(try pipe(file).text == "added 1 item; 12 were there already\n")
    }

    @Test("The sample's import replaces what is there on request, and says whose list it is")
    func replacing() throws {
        for name in ["One", "Two"] { try program.expect("init", "--test-data", "--stores", name) }
        try program.expect("items", "export", "a.json", "--owner", "Anna", "--stores", "One")
        let text = String(decoding: try program.sandbox.read("a.json"), as: UTF8.self)
        try program.sandbox.write(text.replacing(#""Apples""#, with: #""Pears""#), to: "a.json")
        let kept = try program.expect("items", "import", "a.json", "--stores", "Two")
        #expect(kept.text == "added 0 items of 'Anna'; 212 were there already\n")
        let photos = try program.sandbox.contents(of: "Two").items.count
        let import_ = ["items", "import", "a.json", "--replace", "--stores", "Two"]
        #expect(try program.expect(import_).text == "added 0 items of 'Anna'; replaced 212\n")
        let items = try program.expect("items", "--stores", "Two").text
        #expect(items.contains("Pears") && !items.contains("Apples"))
        #expect(try program.sandbox.contents(of: "Two").items.count == photos)
        try program.expect("backup", "--stores", "Two")
    }
}
