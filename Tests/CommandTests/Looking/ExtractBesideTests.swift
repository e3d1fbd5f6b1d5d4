import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// 'extract' into a directory that has something in it, or that somebody else has prepared.
@Suite("Files extracted beside others")
struct ExtractBesideTests {
    private let program: Program
    private var sandbox: Sandbox { program.sandbox }

    init() throws {
        program = try Program()
        for name in ["Stores/sub", "Remote", "Out"] { try sandbox.directory(name) }
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
        for store in ["app.db", "sub/app.db", "notes"] {
            try Tool.check(
                "sqlite3",
                [sandbox.path("Stores/\(store)").string, "CREATE TABLE t (x)"]
            )
        }
        try sandbox.write("a diary", to: "Stores/notes-journal")
        try sandbox.write("hello", to: "Stores/note.txt")
    }

    private static let wal: [UInt8] = [0x37, 0x7F, 0x06, 0x82] + [UInt8](repeating: 1, count: 60)
    private static let hot: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7, 0, 0, 0, 1]

    @Test(
        "No store is extracted beside a log of another state, in a directory or behind a link",
        arguments: ["-wal", "-journal", "-shm", "text", "link", "dangling link", "directory"]
    )
    func logInTheWay(kind: String) throws {
        try program.expect("backup", "--quiet")
        let name = kind.hasPrefix("-") ? "sub/app.db\(kind)" : "sub/app.db-journal"
        switch kind {
        case "-wal": try sandbox.write(Self.wal, to: "Out/\(name)")
        case "-journal": try sandbox.write(Self.hot, to: "Out/\(name)")
        case "-shm": try sandbox.write([UInt8](repeating: 0, count: 32_768), to: "Out/\(name)")
        case "directory": try sandbox.directory("Out/\(name)")
        case "link", "dangling link":
            try sandbox.directory("Out/sub")
            if kind == "link" { try sandbox.write(Self.hot, to: "Out/elsewhere") }
            try sandbox.link("Out/\(name)", to: "../elsewhere")
        default: try sandbox.write("mine", to: "Out/\(name)")
        }
        let before = try sandbox.contents(of: "Out")
        let extract = ["extract", "latest", "note.txt", "sub/app.db", "--to", "Out"]
        let refused = try program.expect(extract, status: 1)
        #expect(refused.errors.contains("is of another state than 'app.db' in the backup"))
        #expect(refused.errors.contains("hint: move it away: mv \(sandbox.path("Out/\(name)")) "))
        #expect(try sandbox.contents(of: "Out") == before)
        try LocalFileSystem().remove(sandbox.path("Out/\(name)"))
        try program.expect(extract)
        let check = ["-readonly", sandbox.path("Out/sub/app.db").string, "PRAGMA integrity_check"]
        #expect(try Tool.check("sqlite3", check) == "ok\n")
    }

    @Test("A log is not extracted beside an existing store")
    func logOfBackup() throws {
        try sandbox.write(Self.wal, to: "Zip/app.db-wal")
        try sandbox.write("text", to: "Zip/note.txt-wal")
        let zip = sandbox.path("Remote/Other Stores.zip").string
        try Tool.check("zip", ["-qr", zip, "."], directory: sandbox.path("Zip"))
        try sandbox.write([1, 2], to: "Out/app.db")
        try sandbox.write("hello", to: "Out/note.txt")
        let log = ["extract", "Other", "app.db-wal", "--to", "Out"]
        #expect(
            try program.expect(log, status: 1).errors.contains(
                "is of another state than 'app.db-wal'"
            )
        )
        #expect(try sandbox.contents(of: "Out").paths == ["app.db", "note.txt"])
        try program.expect("extract", "Other", "note.txt-wal", "--to", "Out")
        // Where there is no store, it may.
        try program.expect("extract", "Other", "app.db-wal", "--to", "Out/sub")
        // And a restore puts none beside a store that is none of the backup's.
        let part = ["restore", "Other", "--only", "app.db-wal", "--yes"]
        #expect(
            try program.expect(part, status: 21).errors.contains("is a part of the store 'app.db'")
        )
    }

    @Test("A file that only has the name of a log is extracted with the files beside it")
    func fileCalledJournal() throws {
        try program.expect("backup", "--quiet")
        try program.expect("extract", "latest", "notes", "notes-journal", "--to", "Out")
        #expect(try sandbox.read("Out/notes-journal") == Array("a diary".utf8))
        // What is no store has no log.
        try sandbox.write("mine", to: "Out/note.txt-journal")
        try program.expect("extract", "latest", "note.txt", "--to", "Out")
        try sandbox.write(Self.hot, to: "New/note.txt-journal")
        try program.expect("extract", "latest", "note.txt", "--to", "New", status: 1)
    }

    @Test("An extraction follows no link below its target directory, which may be a link itself")
    func links() throws {
        try program.expect("backup", "--quiet")
        try sandbox.directory("Victim")
        try sandbox.link("Out/sub", to: "../Victim")
        let refused = try program.expect(
            "extract",
            "latest",
            "sub/app.db",
            "--to",
            "Out",
            status: 1
        )
        #expect(
            refused.errors.contains("cannot open '\(sandbox.path("Out/sub"))': a symbolic link")
        )
        #expect(try sandbox.contents(of: "Victim").paths == [])
        #expect(try sandbox.contents(of: "Out").paths == ["sub"])
        try sandbox.write("a file", to: "New/sub")
        try program.expect("extract", "latest", "sub/app.db", "--to", "New", status: 1)
        #expect(try sandbox.contents(of: "New").paths == ["sub"])
        try sandbox.link("Way", to: "Victim")
        try program.expect("extract", "latest", "sub/app.db", "--to", "Way")
        #expect(try sandbox.contents(of: "Victim").paths == ["sub", "sub/app.db"])
    }

    @Test("An extraction sets set-user-id and set-group-id bits only on request")
    func setID() throws {
        let given = ["tool": "6755", "group": "2755", "shared": "3777"]
        try sandbox.directory("Stores/shared")
        for name in ["tool", "group"] { try sandbox.write("run", to: "Stores/\(name)") }
        for (name, mode) in given {
            try Tool.check("chmod", [mode, sandbox.path("Stores/\(name)").string])
        }
        func modes(of directory: String) throws -> [String] {
            try ["tool", "group", "shared"].map {
                String(try FileInfo(of: sandbox.path("\(directory)/\($0)")).mode, radix: 8)
            }
        }
        try program.expect("backup", "--quiet")
        let (saved, safe) = (["6755", "2755", "3777"], ["755", "755", "3777"])
        #expect(try modes(of: "Stores") == saved)
        let names = ["tool", "group", "shared"]
        let told = "2 files come without the set-user-id and set-group-id bits, 'group' first"
        for (directory, command) in [
            ("A", ["extract", "latest"] + names + ["--to", "A"]),
            ("B", ["restore", "latest", "--target", "B"]),
            ("C", ["restore", "latest", "--target", "C", "--salvage"]),
        ] {
            let outcome = try program.expect(command)
            #expect(outcome.errors.contains(told), "\(command): \(outcome.errors)")
            #expect(try modes(of: directory) == safe, "\(command)")
        }
        for (directory, command) in [
            ("D", ["extract", "latest"] + names + ["--to", "D"]),
            ("E", ["restore", "latest", "--target", "E"]),
            ("F", ["restore", "latest", "--target", "F", "--salvage"]),
            ("Stores", ["restore", "latest", "--yes", "--only"] + names),
        ] {
            let outcome = try program.expect(command + ["--keep-setuid"])
            #expect(!outcome.errors.contains("set-user-id"))
            #expect(try modes(of: directory) == saved, "\(command)")
        }
    }

    @Test(
        "An extraction suggests a command that is safe for a shell, whatever the directory's name"
    )
    func quoted() throws {
        let odd = "q'u$(touch pwned)x"
        try program.expect("backup")
        try sandbox.write(Self.wal, to: "\(odd)/app.db-wal")
        let refused = try program.expect("extract", "latest", "app.db", "--to", odd, status: 1)
        let command = try #require(
            refused.errors.firstMatch(of: /move it away: (mv .*); or name/)?.1
        )
        try Tool.check("sh", ["-c", String(command)], environment: [:])
        #expect(!FileManager.default.fileExists(atPath: "pwned") && !sandbox.exists("pwned"))
        #expect(sandbox.exists("\(odd)/app.db-wal.old"))
        #expect(!sandbox.exists("\(odd)/app.db-wal"))
    }
}
