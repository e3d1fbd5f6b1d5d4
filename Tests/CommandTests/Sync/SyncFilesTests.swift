import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite(
    "Files beside rows",
    .enabled(if: Tool.isInstalled("sqlite3"), "sqlite3 is not installed")
)
struct SyncFilesTests {
    let desk: SyncHome
    let phone: SyncHome
    let map: FilePath

    init() throws {
        let program = try Program()
        try program.sandbox.directory("Shared")
        desk = try SyncHome("desk", program)
        phone = try SyncHome("phone", program)
        map = try program.sandbox.write(#"{"files": {"item.photo": "photos"}}"#, to: "map.json")
        for home in [desk, phone] {
            try home.replaceStore(
                "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, photo TEXT)"
            )
        }
    }

    private func write(_ text: String, to name: String, of home: SyncHome) throws {
        let photos = home.stores.appending("photos")
        try LocalFileSystem().createDirectories(photos)
        try LocalFileSystem().write(Array(text.utf8), to: photos.appending(name))
    }

    @Test("that cannot be written are named, and the run ends with 3")
    func link() throws {
        let disk = phone.path.appending("disk")
        try LocalFileSystem().createDirectories(disk)
        try FileManager.default.createSymbolicLink(
            atPath: phone.stores.appending("photos").string,
            withDestinationPath: disk.string
        )
        #expect(try desk.enable("--map", map.string).status == 0)
        let enabled = try phone.enable()
        #expect(enabled.status == 3, "\(enabled.errors)")
        #expect(enabled.errors.contains("'photos' is a symbolic link"), "\(enabled.errors)")
        #expect(try phone.run("sync").status == 3)
        let status = try phone.run("sync", "status").text
        #expect(status.contains("'photos' is a symbolic link"), "\(status)")
        try LocalFileSystem().remove(phone.stores.appending("photos"))
        #expect(try phone.run("sync").status == 0)
    }

    @Test("under a name that is taken have their row listed, with what to do")
    func taken() throws {
        #expect(try desk.enable("--map", map.string).status == 0 && phone.enable().status == 0)
        try desk.sql("INSERT INTO item VALUES (1, 'milk', NULL)")
        for home in [desk, phone] { #expect(try home.run("sync").status == 0) }
        try write("white", to: "a.jpg", of: desk)
        try write("mine", to: "a.jpg", of: phone)
        try desk.sql("UPDATE item SET photo = 'a.jpg'")
        for home in [desk, phone] { #expect(try home.run("sync").status == 0) }
        let words = "'photos/a.jpg' is here with other content: move it away"
        for command in ["status", "conflicts"] {
            let text = try phone.run("sync", command).text
            #expect(text.contains("milk") && text.contains(words), "\(text)")
        }
        let listed = try phone.run("sync", "conflicts", "--json").text
        #expect(listed.contains(#""kind":"waiting""#), "\(listed)")
    }

    @Test("that a copied store lacks are asked for, before its rows double")
    func copied() throws {
        for home in [desk, phone] { try home.sql("INSERT INTO item VALUES (1, 'milk', 'a.jpg')") }
        try write("white", to: "a.jpg", of: desk)
        #expect(try desk.enable("--map", map.string).status == 0)
        let doubtful = try phone.enable()
        #expect(doubtful.status == 26, "\(doubtful.errors)")
        #expect(doubtful.errors.contains("1 row of 'Grocery-Dude.sqlite' would be there twice"))
        #expect(doubtful.errors.contains("--match copy"), "\(doubtful.errors)")
        #expect(try phone.enable("--match", "copy").status == 0)
        #expect(try desk.run("sync").status == 0)
        for home in [desk, phone] { #expect(try home.sql("SELECT count(*) FROM item") == "1\n") }
        let photo = phone.stores.appending("photos").appending("a.jpg")
        #expect(try FileInfo.ifPresent(photo)?.kind == .file)
    }
}
