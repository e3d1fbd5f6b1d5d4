import Changes
import Files
import Foundation
import GRDB
import Remotes
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Sync

@Suite("After an accident")
struct AccidentTests {
    let scene: AccidentScene

    init() throws { scene = try AccidentScene() }

    private var desk: Device { scene.desk }
    private var phone: Device { scene.phone }

    @Test("a clone takes a new id before it says anything, and both go on")
    func clone() async throws {
        try await scene.begin()
        let twin = try scene.device("twin")
        try twin.clone(phone.save())
        try phone.edit("INSERT INTO item (name) VALUES ('from the phone')")
        try twin.edit("INSERT INTO item (name) VALUES ('from the twin')")
        try await scene.exchange(phone, twin, desk, phone, twin)
        let expected = [
            "from the phone|1|NULL", "from the twin|1|NULL", "milk|2|home", "tea|1|home",
        ]
        for device in [desk, phone, twin] { #expect(try scene.items(device) == expected) }
        #expect(try phone.ids().count == 1)
        #expect(try twin.ids().count == 2)
        #expect(try twin.ids().first == phone.ids().first)
        // Its card says who it was.
        let was = try desk.inspect { access in
            try access.rows("SELECT was FROM device WHERE length(was) > 0").map { $0.bytes(0) }
        }
        #expect(try was == [phone.ids()[0].bytes])
        // Both are there, under different names.
        try phone.edit("INSERT INTO item (name) VALUES ('still here')")
        try await scene.exchange(phone, desk)
        let titles = try scene.overview(of: desk).devices.map(\.title)
        #expect(titles.count == 2 && Set(titles).count == 2)
        #expect(titles.allSatisfy { $0.hasPrefix("phone (") }, "\(titles)")
    }

    @Test("a disk that was rolled back heals with no question")
    func wholeDisk() async throws {
        try await scene.begin()
        let disk = try phone.save()
        try phone.edit(
            "UPDATE item SET amount = 7 WHERE name = 'milk'; DELETE FROM item WHERE name = 'tea'"
        )
        try await scene.exchange(phone, desk)
        try phone.rollBack(to: disk)
        #expect(try scene.items(phone) == ["milk|2|home", "tea|1|home"])
        try await scene.exchange(phone, desk, phone)
        #expect(try scene.items(phone) == ["milk|7|home"])
        #expect(try scene.items(desk) == ["milk|7|home"])
        #expect(try phone.ids().count == 2)
        // The id that it had is no other device.
        try phone.edit("INSERT INTO item (name) VALUES ('jam')")
        try await scene.exchange(phone, desk)
        #expect(try scene.overview(of: desk).devices.map(\.title) == ["phone"])
        #expect(try scene.overview(of: phone).devices.map(\.title) == ["desk"])
    }

    @Test("a sidecar that was rolled back finds its rows again, and doubles none")
    func sidecarOnly() async throws {
        try await scene.begin()
        let disk = try phone.save()
        try phone.edit(
            """
            INSERT INTO item (name, amount, list_id) VALUES ('figs', 3, 1);
            UPDATE item SET amount = 7 WHERE name = 'milk'; DELETE FROM item WHERE name = 'tea'
            """
        )
        try await scene.exchange(phone, desk)
        try phone.rollBack(to: disk, store: false)
        try await scene.exchange(phone, desk, phone)
        #expect(try scene.items(phone) == ["figs|3|home", "milk|7|home"])
        #expect(try scene.items(desk) == scene.items(phone))
    }

    @Test(
        "a sidecar that is put back after rows arrived, and before any was sent, doubles none",
        arguments: [true, false]
    )
    func sidecarBeforeArrivals(isOtherFile: Bool) async throws {
        try await scene.begin()
        let disk = try phone.save()
        try desk.edit("INSERT INTO item (name, list_id) VALUES ('figs', 1), ('rice', 1)")
        // This device writes a card only once a day.
        if !isOtherFile { scene.wait(hours: 25) }
        try await scene.exchange(desk, phone)
        try phone.rollBack(to: disk, store: false)
        if isOtherFile { try phone.moveSidecar() }
        try phone.edit("UPDATE item SET amount = 3 WHERE name = 'figs'")
        if isOtherFile {
            try await scene.exchange(phone)
        } else {
            await #expect(throws: SyncDecision.self) { try await scene.exchange(phone) }
            phone.options.rejoining = .edits
            try await scene.exchange(phone)
            phone.options.rejoining = nil
        }
        try await scene.exchange(desk, phone)
        for device in [desk, phone] {
            let expected = ["figs|3|home", "milk|2|home", "rice|1|home", "tea|1|home"]
            #expect(try scene.items(device) == expected)
        }
    }

    @Test("of two rows alike one is found again after an accident, and the other is another row")
    func foundAndAlike() async throws {
        try await scene.begin()
        let disk = try phone.save()
        try phone.edit("INSERT INTO item VALUES (9, 'rice', 1, 1)")
        try await scene.exchange(phone, desk)
        let coupon = "CREATE TABLE coupon (id INTEGER PRIMARY KEY, name TEXT)"
        try desk.edit("\(coupon); INSERT INTO coupon VALUES (1, 'default')")
        try await scene.exchange(desk)
        try phone.edit("\(coupon); INSERT INTO coupon VALUES (1, 'default'), (2, 'default')")
        try phone.rollBack(to: disk, store: false)
        phone.options.rejoining = .edits
        try await scene.exchange(phone, desk, phone)
        phone.options.rejoining = nil
        // Had both one id, the shadow would have one of them only.
        try phone.inspect { try $0.shadow.forgetLooks() }
        let outcome = try await scene.exchange(phone)
        #expect(outcome.sentChanges == 0)
        for device in [desk, phone] {
            #expect(try device.rows("SELECT count(*) FROM coupon") == ["2"])
        }
    }

    @Test("a sidecar that was rolled back asks, if the store has what nobody else has")
    func sidecarAndEdits() async throws {
        try await scene.begin()
        let disk = try phone.save()
        try phone.edit("INSERT INTO item (name, amount, list_id) VALUES ('figs', 3, 1)")
        try await scene.exchange(phone, desk)
        try phone.edit("UPDATE item SET amount = 9 WHERE name = 'figs'")
        try phone.rollBack(to: disk, store: false)
        await #expect(throws: SyncDecision.self) { try await scene.exchange(phone) }
        phone.options.rejoining = .edits
        try await scene.exchange(phone, desk, phone)
        #expect(try scene.items(desk).filter { $0.contains("figs") }.contains("figs|9|home"))
        #expect(try scene.items(desk) == scene.items(phone))
    }

    /// A store that was put back to where the phone had three items, and that has lost an edit of milk, a
    /// delete of tea, and the bread, which is the desk's.
    private func replaced() async throws {
        try await scene.begin()
        let disk = try phone.save()
        try phone.edit(
            "UPDATE item SET amount = 7 WHERE name = 'milk'; DELETE FROM item WHERE name = 'tea'"
        )
        try desk.edit("INSERT INTO item (name, list_id) VALUES ('bread', 1)")
        try await scene.exchange(phone, desk, phone)
        #expect(try scene.items(phone) == ["bread|1|home", "milk|7|home"])
        try phone.putBackStore(disk)
        try phone.edit("INSERT INTO item (name) VALUES ('jam')")
        for _ in 0..<2 {
            await #expect(throws: SyncDecision.self) { try await scene.exchange(phone) }
        }
        #expect(try scene.items(phone) == ["jam|1|NULL", "milk|2|home", "tea|1|home"])
        #expect(try await scene.exchange(desk).takenChanges == 0)
    }

    @Test("a store that was replaced asks, and can be right for everybody")
    func replacedEdits() async throws {
        try await replaced()
        phone.options.rejoining = .edits
        try await scene.exchange(phone)
        phone.options.rejoining = nil
        try await scene.exchange(desk, phone)
        #expect(try scene.items(desk) == ["jam|1|NULL", "milk|2|home", "tea|1|home"])
        #expect(try scene.items(phone) == scene.items(desk))
    }

    @Test("a store that was replaced asks, and can bring back what was deleted, and nothing else")
    func replacedMerge() async throws {
        try await replaced()
        phone.options.rejoining = .merge
        try await scene.exchange(phone)
        phone.options.rejoining = nil
        try await scene.exchange(desk, phone)
        #expect(
            try scene.items(desk) == ["bread|1|home", "jam|1|NULL", "milk|7|home", "tea|1|home"]
        )
        #expect(try scene.items(phone) == scene.items(desk))
    }

    @Test("a store that was replaced asks, and can yield; a copy is kept")
    func replacedContainer() async throws {
        try await replaced()
        phone.options.rejoining = .container
        try await scene.exchange(phone)
        phone.options.rejoining = nil
        try await scene.exchange(desk, phone)
        #expect(try scene.items(desk) == ["bread|1|home", "milk|7|home"])
        #expect(try scene.items(phone) == scene.items(desk))
        // It yields again: the first copy stays.
        try phone.edit("INSERT INTO item (name) VALUES ('only here')")
        phone.options.rejoining = .container
        try await scene.exchange(phone)
        phone.options.rejoining = nil
        let sidecar = try Sidecar(in: phone.sidecarPath)
        defer { try? sidecar.close() }
        let copies = try sidecar.copies(.yielded)
        #expect(copies.map { $0.lastComponent?.string } == ["yielded.sqlite", "yielded-2.sqlite"])
        let counts = try copies.map { copy in
            try DatabaseQueue(path: copy.string).read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM item WHERE name = 'only here'")
            }
        }
        #expect(counts == [0, 1])
    }

    @Test("copies of a store from before it took part stay, and one that is the same is kept once")
    func copiesBefore() async throws {
        try await scene.begin()
        let sidecar = try Sidecar(in: phone.sidecarPath)
        defer { try? sidecar.close() }
        func keep() throws {
            let cut = try StoresCut(
                of: [phone.store],
                scratchParent: phone.options.scratch,
                busyTimeout: .seconds(1)
            )
            try sidecar.keepBefore(#require(cut.members.first).snapshot)
        }
        try keep()
        try keep()
        #expect(try sidecar.copies(.before).count == 1)
        try phone.edit("DELETE FROM item")
        try keep()
        #expect(try sidecar.copies(.before).count == 2)
        #expect(try sidecar.copyBefore?.lastComponent?.string == "before-2.sqlite")
        try sidecar.putBack(phone.store)
        #expect(try scene.items(phone).isEmpty)
    }

    @Test("a store that was put back to its last capture, before what arrived was written, asks")
    func replacedByCapture() async throws {
        try await scene.begin()
        let disk = try phone.save()
        try desk.edit("INSERT INTO item (name, list_id) VALUES ('bread', 1)")
        try await scene.exchange(desk, phone)
        #expect(try scene.items(phone).contains("bread|1|home"))
        try phone.putBackStore(disk)
        await #expect(throws: SyncDecision.self) { try await scene.exchange(phone) }
    }

    @Test(
        "a store that another one without its tables replaced asks; after an answer, all is listed"
    )
    func withoutTables() async throws {
        try await scene.begin()
        try phone.edit(
            "DROP TABLE item; DROP TABLE list; DROP TABLE unit; CREATE TABLE other (id INTEGER PRIMARY KEY)"
        )
        try phone.inspect { try $0.set("replaced", 1) }
        await #expect(throws: SyncDecision.self) { try await scene.exchange(phone) }
        phone.options.rejoining = .merge
        try await scene.exchange(phone)
        phone.options.rejoining = nil
        let hidden = try phone.unshown.count
        #expect(hidden > 0)
        phone.options.rejoining = .merge
        try await scene.exchange(phone)
        phone.options.rejoining = nil
        #expect(try phone.unshown.count == hidden)
        #expect(try await scene.exchange(desk).takenChanges == 0)
    }

    @Test("a store that was replaced by its equal is not asked about; one that a restore marked is")
    func marked() async throws {
        try await scene.begin()
        let disk = try phone.save()
        try phone.putBackStore(disk)
        try await scene.exchange(phone)
        try phone.edit("UPDATE item SET amount = 4 WHERE name = 'milk'")
        try await scene.exchange(phone, desk)
        #expect(try scene.items(desk).contains("milk|4|home"))
        try Sidecar.markReplaced(in: phone.sidecarPath)
        try phone.edit("UPDATE item SET amount = 5 WHERE name = 'milk'")
        await #expect(throws: SyncDecision.self) { try await scene.exchange(phone) }
    }

    @Test("rebuilt keys are found again by content; only other differences are asked about")
    func rebuiltKeys() async throws {
        try await scene.begin()
        try phone.edit(
            """
            PRAGMA defer_foreign_keys = ON; UPDATE list SET id = 50; UPDATE item SET id = id + 100, list_id = 50
            """
        )
        try Sidecar.markReplaced(in: phone.sidecarPath)
        try await scene.exchange(phone, desk)
        #expect(try scene.items(desk) == ["milk|2|home", "tea|1|home"])
        try phone.edit(
            """
            PRAGMA defer_foreign_keys = ON; UPDATE list SET id = 60; UPDATE item SET id = id + 100, list_id = 60;
            INSERT INTO item (name, list_id) VALUES ('bread', 60)
            """
        )
        try Sidecar.markReplaced(in: phone.sidecarPath)
        await #expect(throws: SyncDecision.self) { try await scene.exchange(phone) }
        phone.options.rejoining = .merge
        try await scene.exchange(phone, desk)
        #expect(try scene.items(desk) == ["bread|1|home", "milk|2|home", "tea|1|home"])
        #expect(try scene.items(phone) == scene.items(desk))
        #expect(try phone.rows("SELECT id FROM list") == ["60"])
    }

    @Test("a store that was deleted and made again asks, even with the same inode")
    func madeAgain() async throws {
        try await scene.begin()
        let place = try phone.inspect { try #require(try $0.storePlace) }
        try phone.withClosedStore {
            for suffix in ["", "-wal", "-shm"] {
                try LocalFileSystem().remove(FilePath(phone.storePath.string + suffix))
            }
        }
        try phone.edit(AccidentScene.schema)
        // Not every file system gives the inode again.
        let inode = try FileInfo(of: phone.storePath).identity.inode
        let birth = try #require(place.birth)
        try phone.inspect { try $0.set("store", "\(inode) \(birth)") }
        await #expect(throws: SyncDecision.self) { try await scene.exchange(phone) }
        #expect(try await scene.exchange(desk).takenChanges == 0)
        phone.options.rejoining = .container
        try await scene.exchange(phone)
        phone.options.rejoining = nil
        try await scene.exchange(desk, phone)
        for device in [desk, phone] { #expect(try scene.items(device).count == 2) }
    }

    @Test("a store whose schema was changed less often asks")
    func olderSchema() async throws {
        try await scene.begin()
        try phone.inspect { access in
            let cookie = try #require(try access.integer("cookie"))
            #expect(cookie > 0)
            try access.set("cookie", cookie + 1)
        }
        try phone.edit("DELETE FROM item")
        await #expect(throws: SyncDecision.replaced("a.sqlite")) {
            try await scene.exchange(phone)
        }
    }

    @Test("a store is the same file by what an older sidecar noted, and after VACUUM")
    func samePlace() async throws {
        try await scene.begin()
        let inode = try FileInfo(of: phone.storePath).identity.inode
        try phone.inspect { access in
            try access.set("store", "\(inode)")
            try access.forget("cookie")
        }
        try phone.withClosedStore {
            try DatabaseQueue(path: phone.storePath.string).writeWithoutTransaction {
                try $0.execute(sql: "VACUUM")
            }
        }
        try phone.edit("UPDATE item SET amount = 5 WHERE name = 'milk'")
        try await scene.exchange(phone, desk)
        #expect(try scene.items(desk).contains("milk|5|home"))
        #expect(try phone.inspect { try $0.storePlace?.birth } != nil)
        #expect(try #require(StorePlace("7 5")).isSame(as: #require(StorePlace("7"))))
        #expect(try !#require(StorePlace("7 5")).isSame(as: #require(StorePlace("7 4"))))
        #expect(try !#require(StorePlace("7 5")).isSame(as: #require(StorePlace("8 5"))))
    }
}
