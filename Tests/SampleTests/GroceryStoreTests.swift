import Files
import GRDB
import Sample
import SystemPackage
import TestSupport
import Testing

@Suite("The sample store")
struct GroceryStoreTests {
    let sandbox: Sandbox
    let directory: FilePath
    let path: FilePath

    init() throws {
        sandbox = try Sandbox()
        directory = sandbox.path("Stores")
        path = directory.appending(GroceryStore.fileName)
    }

    private var photos: FilePath { directory.appending(".Grocery-Dude_SUPPORT/_EXTERNAL_DATA") }

    @Test("The sample store is created once with its items, and later only opened")
    func creation() throws {
        #expect(throws: SampleError.missing(path)) { try GroceryStore(in: directory) }
        let store = try GroceryStore.create(in: directory, withTestData: false)
        #expect(try store.items().count == 12)
        #expect(throws: SampleError.exists(path)) {
            try GroceryStore.create(in: directory, withTestData: true)
        }
        #expect(try GroceryStore(in: directory).items() == store.items())
    }

    @Test("The sample store gains items with known and unknown units")
    func addition() throws {
        let store = try GroceryStore.create(in: directory, withTestData: false)
        try store.add(name: "Honey", quantity: 2, unit: "jar")
        try store.add(name: "Sugar", quantity: 1, unit: "kg")
        try store.add(name: "Salt", quantity: 3, unit: nil)
        let items = try store.items().filter { ["Honey", "Salt", "Sugar"].contains($0.name) }
        #expect(items.map(\.unit) == ["jar", nil, "kg"])
        #expect(items.map(\.quantity) == [2, 3, 1])
    }

    @Test("The sample store removes an item with its photo, and refuses an unknown item")
    func removal() throws {
        let store = try GroceryStore.create(in: directory, withTestData: true)
        #expect(try Directory.open(photos).names().count == 200)
        #expect(try store.items().filter(\.hasPhoto).count == 200)
        #expect(try store.remove(name: "Test Item 7") == 1)
        #expect(try Directory.open(photos).names().count == 199)
        #expect(throws: SampleError.noItem("Test Item 7")) {
            try store.remove(name: "Test Item 7")
        }
    }

    @Test("The sample store reports why SQLite cannot use it")
    func failure() throws {
        let store = try GroceryStore.create(in: directory, withTestData: false)
        try DatabaseQueue(path: path.string).write { try $0.execute(sql: "DROP TABLE item") }
        #expect(throws: SampleError.failed(path, reason: "no such table: item")) {
            try store.items()
        }
        try sandbox.write("this is no database", to: "Other/\(GroceryStore.fileName)")
        let other = sandbox.path("Other")
        let reason = "file is not a database"
        #expect(
            throws: SampleError.failed(other.appending(GroceryStore.fileName), reason: reason)
        ) { try GroceryStore(in: other) }
    }
}
