import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// The rest of these are in SyncTests.
@Suite("Failures of other programs, with places")
struct SyncPlacesTests {
    @Test(
        "30. Syncthing #4242, QOwnNotes #1589: a store inside the synchronised folder is refused",
        arguments: [".stfolder", ".dropbox.cache"]
    )
    func storeInSynchronisedFolder(mark: String) throws {
        let program = try Program()
        try program.sandbox.directory("Shared")
        let desk = try SyncHome("desk", program)
        let before = try Contents(of: desk.stores)
        // Somewhere above it.
        try LocalFileSystem()
            .createDirectory(desk.stores.removingLastComponent().appending(mark))
        let refused = try desk.enable()
        #expect(refused.status == 1)
        let name = mark == ".stfolder" ? "Syncthing" : "Dropbox"
        #expect(refused.errors.contains("which \(name) synchronises"), "\(refused.errors)")
        #expect(refused.errors.contains("hint: "), "\(refused.errors)")
        #expect(try Contents(of: desk.stores) == before)
        #expect(try Directory.open(desk.container).names().isEmpty)
        // A group's other stores are nobody's to write then.
        #expect(try desk.run("sync").status == 1)
    }

    @Test("Two stores of one user that only have the same name do not become one")
    func namesakes() throws {
        let program = try Program()
        try program.sandbox.directory("Shared")
        let desk = try SyncHome("desk", program)
        try desk.enable()
        let work = try program.sandbox.directory("Work")
        let other = work.appending("Grocery-Dude.sqlite")
        try Tool.check("sqlite3", [other.string, "CREATE TABLE a (x TEXT PRIMARY KEY, y)"])
        let arguments = [
            "sync", "enable", "--stores", work.string, "--container", desk.container.string,
            "--device", "desk", "--yes",
        ]
        let refused = try desk.run(arguments)
        #expect(refused.status == 1)
        #expect(refused.errors.contains("of this machine takes part"), "\(refused.errors)")
        #expect(refused.errors.contains("'--group NAME'"), "\(refused.errors)")
        #expect(try desk.run(arguments + ["--group", "work"]).status == 0)
    }
}
