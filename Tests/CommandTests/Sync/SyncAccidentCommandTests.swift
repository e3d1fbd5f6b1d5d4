import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite("Syncing stores after an accident")
struct SyncAccidentCommandTests {
    let program: Program
    let desk: SyncHome
    let phone: SyncHome

    init() throws {
        program = try Program()
        try program.sandbox.directory("Shared")
        desk = try SyncHome("desk", program)
        phone = try SyncHome("phone", program)
        #expect(try desk.enable().status == 0)
        #expect(try phone.enable().status == 0)
    }

    private func items(_ home: SyncHome) throws -> String { try home.run("items").text }

    @Test("A sync fills an emptied container again, and removes nothing local")
    func seed() throws {
        try desk.run("items", "add", "Honey")
        #expect(try desk.run("sync").status == 0)
        for name in try Directory.open(desk.container).names() {
            try LocalFileSystem().remove(desk.container.appending(name.description))
        }
        let away = try desk.run("sync")
        #expect(away.status == 10 && away.errors.contains("grocerydude sync seed"))
        let unasked = try desk.run("sync", "seed")
        #expect(unasked.status == 64)
        #expect(try desk.run("sync", "seed", "--yes").status == 0)
        let taken = try phone.run("sync")
        #expect(taken.status == 0, "\(taken.errors)")
        #expect(try items(phone).contains("Honey") && items(desk) == items(phone))
    }

    @Test(
        "A sync asks what a restore meant, and follows the answer",
        arguments: ["merge", "edits", "container"]
    )
    func restore(take: String) throws {
        let remote = program.sandbox.path("Remote").string
        try program.sandbox.directory("Remote")
        #expect(try desk.run("backup", "--remote", remote).status == 0)
        try desk.run("items", "add", "Honey")
        #expect(try desk.run("sync").status == 0 && phone.run("sync").status == 0)
        let restored = try desk.run("restore", "latest", "--remote", remote, "--yes")
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(try !items(desk).contains("Honey"))
        let asked = try desk.run("sync")
        #expect(asked.status == 26 && asked.errors.contains("grocerydude sync rejoin --take merge"))
        let told = try desk.run("sync", "rejoin", "--take", take, "--yes")
        #expect(told.status == 0, "\(told.errors)")
        #expect(try phone.run("sync").status == 0 && desk.run("sync").status == 0)
        #expect(try items(phone).contains("Honey") == (take != "edits"))
        #expect(try items(desk) == items(phone))
    }

    @Test("A rejoin names the copy of the replaced store, and replaces no older copy")
    func yielded() throws {
        let remote = try program.sandbox.directory("Remote").string
        #expect(try desk.run("backup", "--remote", remote).status == 0)
        for (item, name) in [("Honey", "yielded.sqlite"), ("Nuts", "yielded-2.sqlite")] {
            #expect(try desk.run("restore", "latest", "--remote", remote, "--yes").status == 0)
            try desk.run("items", "add", item)
            let told = try desk.run("sync", "rejoin", "--take", "container", "--yes")
            #expect(told.status == 0 && told.errors.contains("/\(name)'"), "\(told.errors)")
            #expect(try !items(desk).contains(item))
            let copy = try desk.sidecar.appending(name)
            #expect(try FileInfo.ifPresent(copy) != nil)
        }
        let answer = try desk.run("sync", "rejoin", "--take", "container", "--yes", "--json").json
        let stores = (answer as? [String: Any])?["stores"] as? [[String: Any]]
        #expect((stores?.first?["yielded"] as? String)?.hasSuffix(".sqlite") == true)
    }

    @Test("A rejoin does not accept a waiting map")
    func waitingMap() throws {
        let map = try program.sandbox.write(
            #"{"tables": {"item": {"references": {"location_at_home_id": "none"}}}, "exclude": ["location_at_home"]}"#,
            to: "map.json"
        )
        #expect(try phone.run("sync", "seed", "--map", map.string, "--yes").status == 0)
        let waits = try desk.run("sync", "rejoin", "--take", "merge", "--yes")
        #expect(waits.status == 26 && waits.errors.contains("leaves out 'location_at_home'"))
        #expect(waits.errors.contains("grocerydude sync --accept-changes"))
        #expect(try desk.run("sync").status == 26)
        #expect(try desk.run("sync", "--accept-changes").status == 0)
        #expect(try desk.run("sync", "rejoin", "--take", "merge", "--yes").status == 0)
    }

    @Test("Forget needs a clear choice between two devices of one name, and removes each once")
    func forgetOfTwo() throws {
        #expect(try phone.run("sync", "disable", "--yes").status == 0)
        #expect(try phone.enable().status == 0)
        #expect(try desk.run("sync").status == 0)
        let text = try desk.run("sync", "status").text
        let titles = text.split(separator: "\n").filter { $0.hasPrefix("  phone (") }
        #expect(titles.count == 2, "\(text)")
        let unclear = try desk.run("sync", "forget", "phone", "--yes")
        #expect(unclear.status == 1 && unclear.errors.contains("phone ("), "\(unclear.errors)")
        let title = try #require(titles.first?.split(separator: ")").first).dropFirst(2) + ")"
        #expect(try desk.run("sync", "forget", String(title), "--yes").status == 0)
        #expect(try desk.run("sync", "forget", "phone", "--yes").status == 0)
    }

    @Test("Forget removes the named device and no other")
    func forget() throws {
        #expect(try desk.run("sync").status == 0)
        let none = try desk.run("sync", "forget", "tablet", "--yes")
        #expect(none.status == 1 && none.errors.contains("'tablet'"))
        #expect(none.errors.contains("grocerydude sync status"))
        let done = try desk.run("sync", "forget", "phone", "--yes", "--json")
        let answer = try done.json as? [String: String]
        #expect(answer?["device"] == "phone", "\(done.errors)")
        #expect(try desk.run("sync").status == 0)
        // It comes back, and nothing of it is lost.
        try phone.run("items", "add", "Nuts")
        #expect(try phone.run("sync").status == 0)
        #expect(try phone.run("sync").status == 0 && desk.run("sync").status == 0)
        #expect(try items(desk).contains("Nuts"))
    }
}
