import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Sync

@Suite("Most rows of a table that were deleted elsewhere")
struct MassDeletionTests {
    let scene: AccidentScene

    init() throws { scene = try AccidentScene() }

    private var desk: Device { scene.desk }
    private var phone: Device { scene.phone }

    /// Lets the desk delete most of 30 rows, as it means to.
    private func deleteMost() async throws {
        try await scene.begin()
        try desk.edit(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
            INSERT INTO item (name, amount) SELECT 'thing ' || i, i FROM n
            """
        )
        try await scene.exchange(desk, phone)
        try desk.edit("DELETE FROM item WHERE name LIKE 'thing%'")
        desk.options.acceptsChanges = true
        try await scene.exchange(desk)
        desk.options.acceptsChanges = false
    }

    /// Has the phone hear of it, which is asked.
    private func ask() async throws {
        await #expect(throws: SyncDecision.self) { try await scene.exchange(phone) }
    }

    private func count(_ device: Device) throws -> [String] {
        try device.rows("SELECT count(*), sum(amount) FROM item")
    }

    @Test(
        "come back everywhere if a person says so, edits and all",
        arguments: [Rejoining.merge, .edits]
    )
    func comeBack(_ rejoining: Rejoining) async throws {
        try await deleteMost()
        try await ask()
        try phone.edit(
            """
            UPDATE item SET amount = 100 WHERE name = 'thing 10'; INSERT INTO item (name, amount) VALUES ('ink', 1)
            """
        )
        phone.options.rejoining = rejoining
        try await scene.exchange(phone)
        phone.options.rejoining = nil
        // 1 to 30, but 100 for 10, with milk, tea and ink.
        let sum = "33|559"
        #expect(try count(phone) == [sum])
        try await scene.exchange(desk, phone, desk)
        for device in [desk, phone] { #expect(try count(device) == [sum], "\(device.name)") }
    }

    @Test("go if the local data are to yield, and a copy is kept")
    func yields() async throws {
        try await deleteMost()
        try await ask()
        phone.options.rejoining = .container
        try await scene.exchange(phone)
        #expect(try count(phone) == ["2|3"])
    }

    @Test("that arrive while a person answers another question are asked for all the same")
    func otherQuestion() async throws {
        try await deleteMost()
        phone.options.rejoining = .merge
        try await ask()
        #expect(try count(phone) == ["32|468"])
    }

    @Test("by an older copy of the store, over the same file and with its times, are asked for")
    func olderCopy() async throws {
        try await scene.begin()
        let copy = scene.sandbox.path("copy.sqlite").string
        try desk.withClosedStore { try Tool.check("cp", ["-p", desk.storePath.string, copy]) }
        try desk.edit("UPDATE item SET amount = 5 WHERE name = 'tea'")
        try await scene.exchange(desk, phone)
        try desk.withClosedStore { try Tool.check("cp", ["-p", copy, desk.storePath.string]) }
        await #expect(throws: SyncDecision.replaced("a.sqlite")) { try await scene.exchange(desk) }
        try await scene.exchange(phone)
        #expect(try scene.items(phone).contains("tea|5|home"))
    }
}
