import Changes
import Files
import Foundation
import Remotes
import SystemPackage
import Testing

@testable import Sync

@Suite("The map of a group")
struct GroupMapTests {
    let scene: AccidentScene

    init() throws { scene = try AccidentScene() }

    private var desk: Device { scene.desk }
    private var phone: Device { scene.phone }

    private func map(_ json: String) throws -> SyncMap {
        try SyncMap(json: Array(json.utf8), name: "map")
    }

    private func publish(_ json: String, on device: Device) throws {
        try device.publish(json, at: scene.now)
    }

    @Test("is sent by the device that begins, and taken by devices that join or are there")
    func taken() async throws {
        try desk.edit(
            "INSERT INTO list VALUES (1, 'home'); INSERT INTO item VALUES (1, 'milk', 2, 1)"
        )
        try await desk.enable(at: scene.now, map: map(#"{"exclude": ["unit"]}"#))
        try await scene.exchange(desk)
        let look = try await Enrolment(in: phone.container()).look()
        #expect(try look.map?.content == map(#"{"exclude": ["unit"]}"#))
        try await scene.enable(phone)
        try await scene.exchange(phone, desk)
        let excluded = try phone.inspect { try $0.membership.map.exclude }
        #expect(excluded == [try #require(TableName("unit"))])
        try desk.edit("INSERT INTO unit VALUES ('kg', 1000, NULL)")
        try await scene.exchange(desk, phone)
        #expect(try phone.rows("SELECT * FROM unit").isEmpty)
        // Less is left out now: nobody need be asked, and what was left out goes out.
        try publish("{}", on: desk)
        try await scene.exchange(desk, phone)
        #expect(try phone.rows("SELECT name FROM unit") == ["kg"])
    }

    @Test(
        "that newly leaves out or identifies waits for a person; nothing is removed by it",
        arguments: [
            (#"{"exclude": ["unit"]}"#, "leaves out 'unit'"),
            (#"{"tables": {"unit": {"local": ["note"]}}}"#, "leaves out 'unit.note'"),
            (
                #"{"tables": {"list": {"identity": ["name"]}}}"#,
                "identifies rows differently in 'list'"
            ),
        ]
    )
    func asks(json: String, text: String) async throws {
        try await scene.begin()
        try publish(json, on: desk)
        try await scene.exchange(desk)
        try phone.edit("INSERT INTO item (name) VALUES ('figs')")
        for _ in 0..<2 {
            do {
                try await scene.exchange(phone)
                Issue.record("nothing was asked")
            } catch let decision as SyncDecision {
                #expect(decision.code == "new_map")
                #expect(decision.description.contains(text))
            }
        }
        phone.options.acceptsChanges = true
        try await scene.exchange(phone)
        phone.options.acceptsChanges = false
        try await scene.exchange(desk, phone)
        #expect(try scene.items(desk).contains("figs|1|NULL"))
        #expect(try scene.items(desk) == scene.items(phone))
        for device in [desk, phone] {
            #expect(try device.rows("SELECT name FROM unit") == ["kg"])
            #expect(try device.inspect { try $0.membership.map } == map(json))
        }
    }

    @Test(
        "that names a synced table or column otherwise is refused, and doubles no row",
        arguments: [
            #"{"tables": {"item": {"was": "goods"}}}"#,
            #"{"tables": {"item": {"columns": {"amount": {"was": "number"}}}}}"#,
        ]
    )
    func otherName(json: String) async throws {
        try await scene.begin()
        let before = try scene.items(desk)
        try publish(json, on: desk)
        for _ in 0..<2 {
            let refusal = await #expect(throws: SyncRefusal.self) { try await scene.exchange(desk) }
            #expect(refusal?.outcome == .needsDecision)
            #expect(refusal?.description.contains("had another name, but it synced") == true)
        }
        try publish("{}", on: desk)
        try phone.edit("UPDATE item SET amount = 9 WHERE name = 'milk'")
        try await scene.exchange(desk, phone, desk)
        #expect(try scene.items(desk) == scene.items(phone))
        #expect(try scene.items(desk).count == before.count)
    }

    @Test("that leaves a table out and takes it in again finds its rows, and doubles none")
    func takenIn() async throws {
        try await scene.begin()
        try desk.edit("INSERT INTO item (id, name) VALUES (7, 'jam')")
        try desk.edit("UPDATE item SET amount = 5 WHERE name = 'milk'")
        try await scene.exchange(desk, phone)
        for device in [desk, phone] { device.options.acceptsChanges = true }
        try publish(#"{"exclude": ["item"]}"#, on: desk)
        try await scene.exchange(desk, phone)
        for device in [desk, phone] { device.options.acceptsChanges = false }
        // Meanwhile one is edited, one goes and one is new.
        try phone.edit("UPDATE item SET amount = 9 WHERE name = 'tea'")
        try phone.edit("DELETE FROM item WHERE name = 'jam'")
        try phone.edit("INSERT INTO item (id, name) VALUES (30, 'figs')")
        try await scene.exchange(phone, desk)
        #expect(try !scene.items(desk).contains("figs|1|NULL"))
        try publish("{}", on: desk)
        try await scene.exchange(desk, phone, desk, phone)
        let items = ["figs|1|NULL", "jam|1|NULL", "milk|5|home", "tea|9|home"]
        for device in [desk, phone] { #expect(try scene.items(device) == items) }
        #expect(try phone.rows("SELECT id FROM item WHERE name = 'milk'") == ["1"])
    }

    @Test("counts if its clock is the greatest, wherever it comes from and in whatever order")
    func greatest() async throws {
        try await scene.begin()
        try publish(#"{"exclude": ["unit"]}"#, on: phone)
        try publish(#"{"triggers": {"t": "skip"}}"#, on: desk)
        try publish(#"{"triggers": {"t": "run"}}"#, on: desk)
        for device in [desk, phone] { device.options.acceptsChanges = true }
        try await scene.exchange(phone, desk, phone, desk)
        let both = try [desk, phone].map { try $0.inspect { try $0.membership.map } }
        #expect(both[0] == both[1])
    }

    @Test("is refused if it is hostile, and keeps nothing else from being taken")
    func hostile() async throws {
        try await scene.begin()
        let group = try desk.inspect { try $0.membership.groups[0] }
        let device = try desk.inspect { try $0.membership.own }
        var writer = ByteWriter()
        writer.identifier(group)
        writer.identifier(device)
        writer.bigEndian(UInt64(1) << 50)
        let deep = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
        let bodies = [
            #"{"tables": {"unit": {"local": \#(deep)}}}"#,
            #"{"tables": {"unit": {"identity": []}}}"#, "no JSON",
        ]
        for (number, body) in bodies.enumerated() {
            let file = try Envelope.write(.map, header: writer.bytes, body: Array(body.utf8))
            let path = scene.container.appending("a/info/hostile-\(number).map")
            try LocalFileSystem().write(file.bytes, to: path)
        }
        // A table that nobody has is nothing to mind.
        try publish(#"{"tables": {"none": {"local": ["x"]}}}"#, on: desk)
        phone.options.acceptsChanges = true
        try desk.edit("INSERT INTO item (name) VALUES ('figs')")
        try await scene.exchange(desk, phone)
        #expect(try scene.items(phone).contains("figs|1|NULL"))
        #expect(try phone.inspect { try $0.membership.map.exclude.isEmpty })
        #expect(try phone.inspect { try $0.files.waiting().count } == bodies.count)
    }
}
