import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Two applications of one machine, whose backups are in one folder.
@Suite("The backups of another application")
struct OtherApplicationsTests {
    private let program: Program
    private let vault: [String]
    private let photos: [String]

    init() throws {
        program = try Program()
        try program.configure("remote: ~/Remote\n")
        try program.sandbox.directory("Remote")
        for (name, item) in [("Vault", "key"), ("Photos", "cat")] {
            try StoreApplication(
                on: try program.sandbox.directory(name).appending("app.db"),
                "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)",
                "INSERT INTO item VALUES (1, '\(item)')"
            ).end()
        }
        vault = ["--stores", program.sandbox.path("Vault").string]
        photos = ["--stores", program.sandbox.path("Photos").string]
    }

    private func archives() throws -> [String] {
        try Directory.open(program.sandbox.path("Remote")).names().map(\.description)
            .filter { $0.hasSuffix(".zip") }
    }

    /// Returns the row of a store, as another directory has it.
    private func item(in directory: String) throws -> String {
        let path = program.sandbox.path(directory).appending("app.db").string
        return try Tool.check("sqlite3", [path, "SELECT name FROM item"])
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Forgets all that the machine knew, as a reinstallation does.
    private func reinstall() throws {
        for name in [".local", ".cache"] {
            try LocalFileSystem().remove(program.sandbox.path(name))
        }
    }

    @Test("are not 'latest' after a reinstallation, nor after the directory got another name")
    func restored() throws {
        try program.expect(["backup"] + vault)
        try program.expect(["backup"] + photos)
        try reinstall()
        try program.expect(["restore", "latest", "--yes"] + vault)
        #expect(try item(in: "Vault") == "key")
        try LocalFileSystem()
            .move(program.sandbox.path("Vault"), to: program.sandbox.path("Moved"))
        let moved = ["--stores", program.sandbox.path("Moved").string]
        let refused = try program.expect(["restore", "latest", "--yes"] + moved, status: 10)
        #expect(refused.errors.contains("Vault'") && refused.errors.contains("Photos'"))
        #expect(try item(in: "Moved") == "key")
    }

    @Test(
        "are 'latest' only if there are no others, with a warning, and are never deleted so"
    )
    func onlyOther() throws {
        try program.expect(["backup"] + photos)
        for command in [["delete", "latest", "--yes"], ["pin", "latest"]] {
            let refused = try program.expect(command + vault, status: 10)
            #expect(refused.errors.contains("Photos'"), "\(command): \(refused.errors)")
        }
        let checked = try program.expect(["check", "latest", "--quiet"] + vault)
        #expect(checked.errors.contains("of another stores directory"))
        #expect(try archives().count == 1)
        let restored = try program.expect(["restore", "latest", "--yes"] + vault)
        #expect(restored.errors.contains("Photos'"))
        #expect(try item(in: "Vault") == "cat")
    }

    @Test("are not searched")
    func searched() throws {
        try program.expect(["backup"] + vault)
        try program.expect(["backup"] + photos)
        let found = try program.expect(["find", "key"] + vault)
        #expect(!found.text.contains("cat"), "\(found.text)")
        #expect(found.errors.contains("not searched"))
    }

    @Test("and what it has deleted are left alone by a profile's prune")
    func pruned() throws {
        try program.configure(
            """
            remote: ~/Remote
            profiles:
              vault: {stores: ~/Vault, retention: {keep_last: 1, keep_trash: 0s}}
              photos: {stores: ~/Photos, retention: {keep_last: 100, keep_trash: 90d}}
            """
        )
        for _ in 0..<3 { try program.expect("backup", "--all-profiles") }
        try program.expect("delete", "latest", "--profile", "photos", "--yes")
        try program.expect("prune", "--profile", "vault")
        #expect(try archives().count == 3)
        let trash = try program.expect("list", "--trash", "--profile", "photos").text
        #expect(trash.contains("[20"), "\(trash)")
    }

    @Test("with the next number are not those of a whole name that is gone")
    func wholeName() throws {
        try program.expect(["backup"] + vault)
        let first = try #require(try archives().first)
        let numbered = first.replacing(" Stores.zip", with: " (2) Stores.zip")
        let remote = program.sandbox.path("Remote")
        try LocalFileSystem().move(remote.appending(first), to: remote.appending(numbered))
        for name in [first, String(first.dropLast(" Stores.zip".count))] {
            try program.expect(["delete", name, "--yes"] + vault, status: 10)
            try program.expect(["restore", name, "--yes"] + vault, status: 10)
        }
        #expect(try archives() == [numbered])
    }
}
