import Files
import GRDB
import SystemPackage
import TestSupport
import Testing

@testable import Sample

@Suite("The default data of the sample store")
struct GroceryDefaultsTests {
    let sandbox: Sandbox
    let directory: FilePath

    /// The set of a version to come.
    private static let newer = GroceryDefaults(
        units: GroceryDefaults.current.units + ["crate"],
        items: GroceryDefaults.current.items + [
            GroceryDefaults.Item(
                name: "Pears",
                quantity: 1,
                unit: "crate",
                home: "Cellar",
                shop: "Produce"
            ),
            GroceryDefaults.Item(
                name: "Honey",
                quantity: 1,
                unit: "jar",
                home: "Pantry",
                shop: "Baking"
            ),
        ]
    )

    init() throws {
        sandbox = try Sandbox()
        directory = try sandbox.directory("Stores")
    }

    private func queue() throws -> DatabaseQueue {
        try DatabaseQueue(path: directory.appending(GroceryStore.fileName).string)
    }

    /// Makes a store as the program made it before there were identities.
    private func makeOld(_ change: String = "") throws {
        let sql = String(decoding: try Fixtures.read("sample/schema-1.sql"), as: UTF8.self)
        let queue = try queue()
        try queue.writeWithoutTransaction { try $0.execute(sql: sql + change) }
        try queue.close()
    }

    private func names(_ table: String) throws -> [String] {
        try queue().read { try String.fetchAll($0, sql: "SELECT name FROM \(table) ORDER BY name") }
    }

    @Test("The default data has the same identities in every store, and each row has its own")
    func identities() throws {
        let milk = "4E612A35-41BB-5F47-BDD6-1E5545F041A5"
        let store = try GroceryStore.create(in: directory, withTestData: false)
        #expect(try store.items().first { $0.name == "Milk" }?.identity == milk)
        let other = try GroceryStore.create(in: sandbox.path("Other"), withTestData: false)
        #expect(try store.items() == other.items())
        #expect(Set(try store.items().map(\.identity)).count == 12)
        #expect(throws: DatabaseError.self) {
            try queue().write {
                try $0.execute(sql: "INSERT INTO item (id, name) VALUES ('\(milk)', 'Oat Milk')")
            }
        }
    }

    @Test("The default data of a newer version is added once")
    func update() throws {
        let store = try GroceryStore.create(in: directory, withTestData: false)
        #expect(try store.update() == 0)
        // A unit, a location and two items.
        #expect(try store.update(to: Self.newer) == 4)
        #expect(try store.update(to: Self.newer) == 0)
        #expect(try store.items().count == 14)
        let pears = try #require(store.items().first { $0.name == "Pears" })
        #expect(pears.unit == "crate" && pears.locationAtHome == "Cellar")
        #expect(pears.identity == GroceryDefaults.identity(of: .item, named: "Pears"))
        // An older version of the program takes nothing away.
        #expect(try store.update(to: .first) == 0)
        #expect(try store.items().count == 14)
    }

    @Test("The default data does not return after it was removed or renamed")
    func once() throws {
        let store = try GroceryStore.create(in: directory, withTestData: false)
        _ = try store.update(to: Self.newer)
        _ = try store.remove(name: "Pears")
        _ = try store.remove(name: "Milk")
        try queue().write {
            try $0.execute(sql: "UPDATE item SET name = 'Oat Bread' WHERE name = 'Bread'")
            try $0.execute(sql: "UPDATE unit SET name = 'parcel' WHERE name = 'pack'")
        }
        #expect(try store.update(to: Self.newer) == 0)
        let items = try store.items()
        #expect(!items.contains { ["Pears", "Milk", "Bread"].contains($0.name) })
        #expect(items.first { $0.name == "Apples" }?.unit == "parcel")
    }

    @Test("The default data is not added beside a row of the same name")
    func sameName() throws {
        let store = try GroceryStore.create(in: directory, withTestData: false)
        try store.add(name: "Honey", quantity: 3, unit: "crate")
        // Pears and their place.
        #expect(try store.update(to: Self.newer) == 2)
        #expect(try store.items().filter { $0.name == "Honey" }.map(\.quantity) == [3])
        _ = try store.remove(name: "Honey")
        #expect(try store.update(to: Self.newer) == 0)
    }

    @Test(
        "The default data of a first-schema store gets its identities, and nothing else changes"
    )
    func oldStore() throws {
        try makeOld("UPDATE item SET photo = x'0241' WHERE name = 'Eggs';")
        let store = try GroceryStore(in: directory)
        let new = try GroceryStore.create(in: sandbox.path("New"), withTestData: false)
        let items = try store.items()
        #expect(items.filter(\.hasPhoto).map(\.name) == ["Eggs"])
        #expect(
            items.map { item in
                var item = item
                item.hasPhoto = false
                return item
            } == (try new.items())
        )
        #expect(try names("unit").count == 8)
        // The second set has three units more.
        #expect(try store.update() == 3)
        #expect(try store.update() == 0)
        #expect(try names("unit").contains("jar"))
        #expect(try queue().read { try String.fetchAll($0, sql: "PRAGMA foreign_key_check") } == [])
    }

    @Test("The default data of a first-schema store stays removed, renamed or duplicated")
    func changedOldStore() throws {
        try makeOld(
            """
            DELETE FROM item WHERE name = 'Milk';
            UPDATE item SET name = 'Oat Bread' WHERE name = 'Bread';
            INSERT INTO item (id, name) VALUES ('mine', 'Apples');
            INSERT INTO unit (id, name) VALUES ('jar of mine', 'jar');
            """
        )
        let store = try GroceryStore(in: directory)
        #expect(try store.update() == 2)
        let items = try store.items()
        #expect(items.count == 12 && items.contains { $0.name == "Oat Bread" })
        #expect(!items.contains { ["Milk", "Bread"].contains($0.name) })
        let apples = items.filter { $0.name == "Apples" }.map(\.identity)
        #expect(Set(apples) == ["mine", GroceryDefaults.identity(of: .item, named: "Apples")])
    }
}
