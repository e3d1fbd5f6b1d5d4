import Files
import Foundation
import GRDB
import SystemPackage
import TestSupport
import Testing

@testable import Sample

@Suite("Items in a file")
struct ItemsTransferTests {
    let sandbox: Sandbox
    let first: GroceryStore
    let second: GroceryStore

    init() throws {
        sandbox = try Sandbox()
        first = try GroceryStore.create(in: sandbox.path("First"), withTestData: false)
        second = try GroceryStore.create(in: sandbox.path("Second"), withTestData: false)
    }

    private func photos(of name: String) throws -> [FileName] {
        let path = sandbox.path("\(name)/.Grocery-Dude_SUPPORT/_EXTERNAL_DATA")
        return try FileInfo.ifPresent(path) == nil ? [] : Directory.open(path).names()
    }

    private func file(_ items: String) -> [UInt8] {
        Array(#"{"format": "grocerydude-items", "version": 1, "items": [\#(items)]}"#.utf8)
    }

    private static func item(_ id: String, more: String = "") -> String {
        #"{"id": "\#(id)", "name": "Figs", "quantity": 2, "listed": true, "collected": false\#(more)}"#
    }

    @Test("A file carries all items to another store, except those that it already has")
    func roundTrip() throws {
        try first.add(name: "Käse \"jung\"", quantity: 0.5, unit: "wheel")
        let exported = try first.exportItems()
        #expect(exported.count == 13)
        #expect(try second.importItems(exported.json, from: "a") == .init(added: 1, present: 12))
        #expect(try second.items() == first.items())
        #expect(try second.importItems(exported.json, from: "a") == .init(added: 0, present: 13))
        #expect(try second.exportItems().json == exported.json)
    }

    @Test("A file of items includes their photos and thumbnails")
    func pictures() throws {
        let full = try GroceryStore.create(in: sandbox.path("Full"), withTestData: true)
        let exported = try full.exportItems()
        let imported = try second.importItems(exported.json, from: "a")
        #expect(imported == .init(added: 200, present: 12))
        #expect(try photos(of: "Second").count == 200)
        #expect(try second.exportItems().json == exported.json)
        #expect(try second.remove(name: "Test Item 5") == 1)
        #expect(try photos(of: "Second").count == 199)
        // One that is there stays as it is, and one that was removed comes back.
        #expect(try second.importItems(exported.json, from: "a") == .init(added: 1, present: 211))
    }

    @Test("An import does not change items that the store already has")
    func present() throws {
        let apples = try #require(first.items().first { $0.name == "Apples" })
        let lower = Self.item(apples.identity.lowercased())
        #expect(try first.importItems(file(lower), from: "a") == .init(added: 0, present: 1))
        #expect(try first.items() == second.items())
    }

    @Test(
        "An import with any error is refused, and nothing changes",
        arguments: [
            ("", "it is not JSON"),
            ("[1]", "it is not an object"),
            (#"{"version": 1}"#, "'format' is missing"),
            (#"{"format": "x", "version": 1, "items": []}"#, "'format' is not 'grocerydude-items'"),
            (#"{"format": "grocerydude-items", "version": 2, "items": 7}"#, "a newer version"),
            (#"{"format": "grocerydude-items", "version": 1}"#, "'items' is missing"),
        ]
    )
    func badFiles(text: String, reason: String) throws {
        try refuse(Array(text.utf8), reason)
    }

    @Test(
        "An import is refused if one of its items is invalid",
        arguments: [
            (
                #"{"id": "b", "quantity": 1, "listed": true, "collected": true}"#,
                "'items[1].name' is missing"
            ),
            (item("b", more: #", "unit": 7"#), "'items[1].unit' is of the wrong type"),
            (item("b", more: #", "photo": "?""#), "'items[1].photo' cannot be read"),
            (item(""), "'items[1].id' is empty"),
            (item("a"), "two items have the id 'a'"),
            (item("b").replacing("Figs", with: ""), "'items[1].name' is empty"),
            (item("b").replacing("2,", with: "-2,"), "'items[1].quantity' cannot be -2.0"),
        ]
    )
    func badItems(item: String, reason: String) throws {
        let good = Self.item("a", more: #", "photo": "AAAA""#)
        try refuse(file("\(good), \(item)"), reason)
    }

    private func refuse(_ bytes: [UInt8], _ reason: String) throws {
        let error = #expect(throws: SampleError.self) {
            try first.importItems(bytes, from: "list.json")
        }
        #expect(
            error?.description.contains("'list.json' cannot be imported, nothing was changed")
                == true
        )
        #expect(error?.description.contains(reason) == true, "\(error.debugDescription)")
        #expect(try first.items() == second.items())
        #expect(try photos(of: "First") == [])
    }

    @Test("An import leaves neither rows nor photos if the store cannot take all of them")
    func transaction() throws {
        let other = Self.item("b", more: #", "photo": "AAAA""#).replacing("Figs", with: "Dates")
        let path = sandbox.path("First").appending(GroceryStore.fileName)
        try DatabaseQueue(path: path.string).write {
            try $0.execute(
                sql: """
                    CREATE TRIGGER refusal BEFORE INSERT ON item WHEN NEW.name = 'Dates'
                    BEGIN SELECT RAISE(ABORT, 'no dates'); END
                    """
            )
        }
        #expect(throws: SampleError.self) {
            try first.importItems(
                file(Self.item("a", more: #", "photo": "AAAA""#) + "," + other),
                from: "a"
            )
        }
        #expect(try first.items() == second.items())
        #expect(try photos(of: "First") == [])
    }

    @Test("An export is refused if a photo is missing")
    func missingPhoto() throws {
        _ = try first.importItems(file(Self.item("a", more: #", "photo": "AAAA""#)), from: "a")
        let name = try #require(photos(of: "First").first)
        try LocalFileSystem().remove(
            sandbox.path("First/.Grocery-Dude_SUPPORT/_EXTERNAL_DATA/\(name)")
        )
        #expect(throws: FileError.self) { try first.exportItems() }
    }
}
