import Files
import Changes
import Foundation
import Remotes
import Stores
import TestSupport
import Testing

@testable import Sync

/// Stores of Core Data without their model.
@Suite("Stores of Core Data without a model")
struct MissingModelTests {
    private let stores: SchemaSandbox
    private static let columns = [
        "ZITEM.ZLIST", "ZITEM.ZSHOP",
    ]

    init() throws { stores = try SchemaSandbox() }

    private func statements(_ change: String) -> [String] { [NoteBook.first.schema, change] }

    @Test(
        "are refused until the map says what numbers mean",
        arguments: [
            "DROP TABLE Z_MODELCACHE", "DELETE FROM Z_MODELCACHE",
            "UPDATE Z_MODELCACHE SET Z_CONTENT = NULL", "UPDATE Z_MODELCACHE SET Z_CONTENT = x''",
            "UPDATE Z_MODELCACHE SET Z_CONTENT = substr(Z_CONTENT, 1, 900)",
            "UPDATE Z_MODELCACHE SET Z_CONTENT = zeroblob(5000)",
        ]
    )
    func refused(_ change: String) throws {
        let schema = try SyncSchema(
            of: stores.snapshot(statements(change)),
            rules: SchemaRules()
        )
        let asked = Set(schema.refusals.map(\.description))
        #expect(asked == Set(Self.columns.map { "'\($0)' looks like a reference" }))
        var rules = SchemaRules()
        rules.tables["zitem", default: .init()].references = [
            "zlist": .table("zlist"), "zshop": .table("zplace"),
        ]
        let told = try SyncSchema(of: stores.snapshot([]), rules: rules)
        #expect(told.refusals.isEmpty)
        let item = try #require(told.table("ZITEM"))
        #expect(item.wireName == "item" && item.references.count == 2)
        let joins = try #require(told.table("Z_2TAGS"))
        #expect(Set(joins.references.map(\.parent)) == ["zitem", "ztag"])
    }

    @Test("ask the map for a reference to an entity that the store does not number")
    func unnumbered() throws {
        let schema = try SyncSchema(
            of: stores.snapshot(statements("DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'List'")),
            rules: SchemaRules()
        )
        #expect(
            schema.refusals == [
                .undeclaredReference(table: "ZITEM", column: "ZLIST", parent: nil)
            ]
        )
        #expect(schema.leftOut.contains { $0.table == "ZLIST" && $0.reason == .coreData })
    }

    @Test("sync by the map alone")
    func together() async throws {
        let folder = LocalFolder(try stores.sandbox.directory("Container"))
        let start = Date(timeIntervalSince1970: 1_790_000_000)
        let schema = NoteBook.first.schema + "; DELETE FROM Z_MODELCACHE"
        let desk = try Device("desk", in: stores.sandbox, folder: folder, schema: schema)
        let phone = try Device("phone", in: stores.sandbox, folder: folder, schema: schema)
        try desk.edit(NoteBook.rows)
        let json = """
            {"tables": {"ZITEM": {"references": {"ZLIST": "ZLIST", "ZSHOP": "ZPLACE"}}}}
            """
        let map = try JSONDecoder().decode(SyncMap.self, from: Data(json.utf8))
        try await desk.enable(at: start, map: map)
        try await desk.sync(at: start)
        try await phone.enable(at: start, map: map)
        for device in [phone, desk] { try await device.sync(at: start + 60) }
        for table in ["ZITEM", "ZPLACE", "Z_2TAGS"] {
            let rows = "SELECT * FROM \(table) ORDER BY 1, 2"
            #expect(try phone.rows(rows) == desk.rows(rows))
        }
        #expect(try phone.rows("SELECT count(*) FROM Z_2TAGS") == ["3"])
        #expect(try await phone.sync(at: start + 600).isQuiet)
    }
}
