import Files
import Foundation
import SystemPackage
import TestSupport

/// A machine of a person's: a home directory of its own, with the built program.
struct SyncHome {
    let program: Program
    let name: String

    /// Makes one with the sample store in it.
    init(_ name: String, _ program: Program) throws {
        self.program = program
        self.name = name
        try program.sandbox.directory(name)
        try run("init")
    }

    var path: FilePath { program.sandbox.path(name) }
    var stores: FilePath { path.appending(".local/share/grocerydude/Stores") }
    var store: FilePath { stores.appending("Grocery-Dude.sqlite") }

    /// The container that all machines of a test share.
    var container: FilePath { program.sandbox.path("Shared") }

    /// The directory that sync keeps for the store.
    var sidecar: FilePath {
        get throws {
            let parent = path.appending(".local/state/grocerydude/sync")
            let names = try Directory.open(parent).names()
            return names.reduce(parent) { $0.appending($1.description) }
        }
    }

    /// Runs the program.
    @discardableResult
    func run(
        _ arguments: [String],
        environment: [String: String] = [:]
    ) throws -> Tool.Outcome {
        let home = ["HOME": path.string]
        return try program.run(arguments, environment: home.merging(environment) { $1 })
    }

    @discardableResult
    func run(
        _ arguments: String...,
        environment: [String: String] = [:]
    ) throws -> Tool.Outcome {
        try run(arguments, environment: environment)
    }

    /// Has the store take part.
    @discardableResult
    func enable(_ options: String...) throws -> Tool.Outcome {
        try run(
            ["sync", "enable", "--container", container.string, "--device", name, "--yes"] + options
        )
    }

    /// Puts a store of another schema in the sample's place, in the journal mode that applications use.
    func replaceStore(_ schema: String) throws {
        for suffix in ["", "-wal", "-shm"] {
            try LocalFileSystem().remove(FilePath("\(store)\(suffix)"))
        }
        try sql("PRAGMA journal_mode = WAL; \(schema)")
    }

    /// The names of the items.
    func items() throws -> [String] {
        try sql("SELECT name FROM item ORDER BY name").split(separator: "\n").map(String.init)
    }

    /// Runs SQL as an application does.
    @discardableResult
    func sql(_ statement: String) throws -> String {
        try Tool.check("sqlite3", [store.string, statement])
    }
}
