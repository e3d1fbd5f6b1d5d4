import Files
import Foundation
import GRDB
import Remotes
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Sync

/// A small application with Core Data, in two versions.
enum NoteBook {
    private static let list = ModelCache.Entity(
        "List",
        [
            "name": .attribute("VARCHAR"),
            "items": .relationship(.init("Item", "list", isToMany: true, deleteRule: 2)),
        ]
    )
    private static let tag = ModelCache.Entity(
        "Tag",
        [
            "name": .attribute("VARCHAR"),
            "items": .relationship(.init("Item", "tags", isToMany: true)),
        ]
    )

    private static func item(
        _ more: KeyValuePairs<String, ModelCache.Property>
    ) -> ModelCache.Entity {
        var item = ModelCache.Entity(
            "Item",
            [
                "name": .attribute("VARCHAR"), "amount": .attribute("FLOAT"),
                "photo": .attribute("BLOB"), "list": .relationship(.init("List", "items")),
                "shop": .relationship(.init("Place", "offers")),
                "tags": .relationship(.init("Tag", "items", isToMany: true)),
            ]
        )
        item.properties += more.map { ($0.key, $0.value) }
        return item
    }

    /// Subentities of one, two of which have a property of one name.
    private static func places(
        _ more: KeyValuePairs<String, ModelCache.Property>
    ) -> [ModelCache.Entity] {
        var shop = ModelCache.Entity("Shop", below: "Place", ["note": .attribute("VARCHAR")])
        shop.properties += more.map { ($0.key, $0.value) }
        return [
            .init(
                "Place",
                [
                    "title": .attribute("VARCHAR"),
                    "offers": .relationship(.init("Item", "shop", isToMany: true)),
                ]
            ), shop, .init("Market", below: "Place", ["note": .attribute("VARCHAR")]),
        ]
    }

    static let first = ModelCache([list, item([:]), tag] + places([:]))
    /// It has an entity more, before the others, and a property more.
    static let second = ModelCache(
        [.init("Alarm", ["at": .attribute("TIMESTAMP")]), list]
            + [item(["aisle": .attribute("VARCHAR")]), tag]
            + places(["city": .attribute("VARCHAR")])
    )

    /// The statements by which an application of the second version takes over a store of the first.
    static let migration = """
        CREATE TABLE counters AS SELECT Z_NAME AS name, Z_MAX AS count FROM Z_PRIMARYKEY;
        CREATE TABLE ZALARM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAT TIMESTAMP);
        ALTER TABLE ZITEM ADD COLUMN ZAISLE VARCHAR;
        ALTER TABLE ZPLACE ADD COLUMN ZCITY VARCHAR;
        ALTER TABLE ZITEM RENAME COLUMN Z4_SHOP TO Z5_SHOP;
        ALTER TABLE Z_2TAGS RENAME TO Z_3TAGS;
        ALTER TABLE Z_3TAGS RENAME COLUMN Z_3TAGS TO Z_4TAGS;
        ALTER TABLE Z_3TAGS RENAME COLUMN Z_2ITEMS TO Z_3ITEMS;
        ALTER TABLE Z_3TAGS RENAME COLUMN Z_FOK_2ITEMS TO Z_FOK_3ITEMS;
        UPDATE ZLIST SET Z_ENT = Z_ENT + 1; UPDATE ZITEM SET Z_ENT = Z_ENT + 1, Z5_SHOP = Z5_SHOP + 1;
        UPDATE ZTAG SET Z_ENT = Z_ENT + 1; UPDATE ZPLACE SET Z_ENT = Z_ENT + 1;
        DELETE FROM Z_PRIMARYKEY; DELETE FROM Z_MODELCACHE;
        \(second.rows.joined(separator: ";\n"));
        UPDATE Z_PRIMARYKEY SET Z_MAX = ifnull((SELECT count FROM counters WHERE name = Z_NAME), 0);
        DROP TABLE counters
        """

    static let rows = """
        INSERT INTO ZLIST VALUES (1, 1, 1, 'home'), (2, 1, 1, 'work');
        INSERT INTO ZTAG VALUES (1, 3, 1, 'new'), (2, 3, 1, 'cheap');
        INSERT INTO ZPLACE VALUES (1, 5, 1, 'Corner', 'till six', NULL), (2, 6, 1, 'Square', NULL, 'sunny');
        INSERT INTO ZITEM VALUES (1, 2, 1, 'milk', 2, NULL, 1, 1, 5), (2, 2, 1, 'tea', 1, NULL, 1, 2, 6),
            (3, 2, 1, 'pens', 5, NULL, 2, NULL, NULL);
        INSERT INTO Z_2TAGS VALUES (1, 1, 1024), (1, 2, 2048), (3, 2, 1024);
        UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_SUPER = 0
        """
}

@Suite("Stores of Core Data")
struct CoreDataTests {
    let sandbox: Sandbox
    let desk: Device
    let phone: Device
    let start = Date(timeIntervalSince1970: 1_790_000_000)

    private static let items = """
        SELECT i.ZNAME, i.ZAMOUNT, l.ZNAME, p.ZTITLE, e.Z_NAME FROM ZITEM i LEFT JOIN ZLIST l ON l.Z_PK = i.ZLIST
        LEFT JOIN ZPLACE p ON p.Z_PK = i.ZSHOP LEFT JOIN Z_PRIMARYKEY e ON e.Z_ENT = p.Z_ENT ORDER BY 1
        """
    private static let tags = """
        SELECT i.ZNAME, t.ZNAME, j.Z_FOK_2ITEMS FROM Z_2TAGS j JOIN ZITEM i ON i.Z_PK = j.Z_2ITEMS
        JOIN ZTAG t ON t.Z_PK = j.Z_3TAGS ORDER BY 1, 2
        """
    /// The same by the second version's numbers.
    private static let laterTags = tags.replacing("3TAGS", with: "4TAGS").replacing(
        "2ITEMS",
        with: "3ITEMS"
    )
    .replacing("2TAGS", with: "3TAGS")

    init() throws {
        sandbox = try Sandbox()
        let folder = LocalFolder(try sandbox.directory("Container"))
        desk = try Device("desk", in: sandbox, folder: folder, schema: NoteBook.first.schema)
        phone = try Device("phone", in: sandbox, folder: folder, schema: NoteBook.second.schema)
    }

    private func exchange(_ devices: [Device], at minutes: Double) async throws {
        for device in devices { try await device.sync(at: start + minutes * 60) }
    }

    private func begin() async throws {
        try desk.edit(NoteBook.rows)
        try await desk.enable(at: start)
        try await exchange([desk], at: 0)
        try await phone.enable(at: start)
        try await exchange([phone, desk], at: 1)
    }

    @Test("of two versions show the same, be it an attribute, a reference, a join or its order")
    func versions() async throws {
        try await begin()
        #expect(
            try phone.rows(Self.items) == [
                "milk|2.0|home|Corner|Shop", "pens|5.0|work|NULL|NULL",
                "tea|1.0|home|Square|Market",
            ]
        )
        #expect(try phone.rows(Self.items) == desk.rows(Self.items))
        #expect(
            try phone.rows(Self.laterTags) == [
                "milk|cheap|2048", "milk|new|1024", "pens|cheap|1024",
            ]
        )
        #expect(try phone.rows("SELECT DISTINCT Z_ENT FROM ZITEM") == ["3"])
        #expect(
            try phone.rows("SELECT Z5_SHOP, Z_OPT FROM ZITEM ORDER BY ZNAME") == [
                "6|1", "NULL|1", "7|1",
            ]
        )
        try phone.edit(
            """
            UPDATE ZITEM SET ZAMOUNT = 7, ZSHOP = NULL, Z5_SHOP = NULL, ZAISLE = 'dairy' WHERE ZNAME = 'milk';
            UPDATE Z_3TAGS SET Z_FOK_3ITEMS = 512 WHERE Z_FOK_3ITEMS = 2048;
            INSERT INTO Z_3TAGS SELECT i.Z_PK, t.Z_PK, 1 FROM ZITEM i, ZTAG t WHERE i.ZNAME = 'tea' AND t.ZNAME = 'new'
            """
        )
        try desk.edit("UPDATE ZITEM SET ZNAME = 'oat milk' WHERE ZNAME = 'milk'")
        try await exchange([desk, phone, desk], at: 2)
        #expect(try desk.rows(Self.items)[0] == "oat milk|7.0|home|NULL|NULL")
        #expect(try phone.rows(Self.items) == desk.rows(Self.items))
        let tags = ["oat milk|cheap|512", "oat milk|new|1024", "pens|cheap|1024", "tea|new|1"]
        #expect(try desk.rows(Self.tags) == tags)
        #expect(try phone.rows(Self.laterTags) == tags)
        // Writes of ours are counted, the application's own are not touched.
        #expect(try desk.rows("SELECT Z_OPT FROM ZITEM ORDER BY ZNAME") == ["2", "1", "1"])
        #expect(try await desk.sync(at: start + 600).isQuiet)
    }

    @Test("treat what refers to a deleted row as the model says")
    func deletes() async throws {
        try await begin()
        // A list takes its items along; a place and a tag do not.
        try phone.edit(
            "DELETE FROM ZLIST WHERE ZNAME = 'home'; DELETE FROM ZPLACE WHERE ZTITLE = 'Square'"
        )
        try await exchange([phone, desk, phone], at: 2)
        #expect(try desk.rows(Self.items) == ["pens|5.0|work|NULL|NULL"])
        #expect(try desk.rows(Self.tags) == ["pens|cheap|1024"])
        #expect(try desk.rows("SELECT ZTITLE FROM ZPLACE") == ["Corner"])
        try desk.edit("UPDATE ZITEM SET ZSHOP = (SELECT Z_PK FROM ZPLACE), Z4_SHOP = 5")
        try phone.edit("DELETE FROM ZPLACE")
        try await exchange([phone, desk, phone], at: 3)
        #expect(try desk.rows(Self.items) == ["pens|5.0|work|NULL|NULL"])
        #expect(try phone.rows(Self.items) == desk.rows(Self.items))
    }

    @Test("hold what only another model has, and show it once the application is updated")
    func updates() async throws {
        try await begin()
        // Of sibling entities with a property of one name only an equal model knows which column is whose.
        #expect(try phone.rows("SELECT ZNOTE, ZNOTE1 FROM ZPLACE") == ["NULL|NULL", "NULL|NULL"])
        try phone.edit(
            "UPDATE ZPLACE SET ZCITY = 'Basel' WHERE ZTITLE = 'Corner'; UPDATE ZITEM SET ZAISLE = '3' WHERE ZNAME = 'tea'"
        )
        try await exchange([phone, desk], at: 2)
        let sent = try await desk.sync(at: start + 180)
        #expect(sent.isQuiet)
        try desk.edit(NoteBook.migration)
        // Other numbers are no edits, and nothing has gone.
        let outcome = try await desk.sync(at: start + 240)
        #expect(outcome.deleted == 0 && outcome.inserted == 0)
        #expect(try desk.rows(Self.laterTags).count == 3)
        #expect(try desk.rows("SELECT ZCITY FROM ZPLACE WHERE ZTITLE = 'Corner'") == ["Basel"])
        #expect(try desk.rows("SELECT ZAISLE FROM ZITEM WHERE ZNAME = 'tea'") == ["3"])
        try await exchange([phone, desk], at: 5)
        // The models are equal now.
        #expect(
            try phone.rows("SELECT ZNOTE, ZNOTE1 FROM ZPLACE ORDER BY 1")
                == desk.rows("SELECT ZNOTE, ZNOTE1 FROM ZPLACE ORDER BY 1")
        )
        #expect(try phone.rows("SELECT ZNOTE1 FROM ZPLACE WHERE ZTITLE = 'Square'") == ["sunny"])
        #expect(try phone.rows(Self.items) == desk.rows(Self.items))
        #expect(try await desk.sync(at: start + 600).isQuiet)
    }

    @Test("ask for no renamed column when a store returns to an older model")
    func olderModel() async throws {
        try await begin()
        let old = try desk.save()
        try desk.edit(NoteBook.migration)
        try await exchange([desk, phone], at: 2)
        // The name of a note's column in change files depends on the model, which loses a column of its type.
        try desk.putBackStore(old)
        desk.options.rejoining = .merge
        try await exchange([desk], at: 3)
        desk.options.rejoining = nil
        try await exchange([phone, desk], at: 4)
        #expect(try desk.rows(Self.items) == phone.rows(Self.items))
    }

    @Test("with equal default rows make one set of them")
    func defaults() async throws {
        try desk.edit(NoteBook.rows)
        let other = try Device(
            "other",
            in: sandbox,
            folder: desk.folder,
            schema: NoteBook.first.schema
        )
        try other.edit(NoteBook.rows)
        try await desk.enable(at: start)
        try await other.enable(at: start)
        try await exchange([desk, other, desk, other], at: 1)
        #expect(try desk.rows("SELECT count(*) FROM ZITEM") == ["3"])
        #expect(try other.rows("SELECT * FROM ZITEM") == desk.rows("SELECT * FROM ZITEM"))
        #expect(try desk.rows(Self.tags).count == 3)
    }

    @Test(
        "keep their triggers of derived attributes from running, and the keys of what is not theirs"
    )
    func triggers() async throws {
        try phone.edit(
            """
            CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
            INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 5); UPDATE Z_PRIMARYKEY SET Z_MAX = 40 WHERE Z_NAME = 'Item'
            """
        )
        // Only the application has the function.
        try await phone.queue.writeWithoutTransaction { database in
            database.add(function: DatabaseFunction("NSCoreDataDA", argumentCount: 1) { $0[0] })
            try database.execute(
                sql: """
                    CREATE TRIGGER Z_DA_ZITEM_Item_aisle_UPDATE AFTER UPDATE OF ZNAME ON ZITEM
                    BEGIN UPDATE ZITEM SET ZAISLE = NSCoreDataDA(NEW.ZNAME) WHERE Z_PK = NEW.Z_PK; END
                    """
            )
        }
        try await begin()
        try desk.edit("UPDATE ZITEM SET ZNAME = 'soy milk' WHERE ZNAME = 'milk'")
        try await exchange([desk, phone], at: 2)
        #expect(try phone.rows("SELECT ZNAME FROM ZITEM WHERE ZAISLE IS NOT NULL") == [])
        #expect(try phone.rows(Self.items) == desk.rows(Self.items))
        // Keys that Core Data has given out are not given out again.
        try desk.edit("INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (60, 2, 1, 'salt')")
        try await exchange([desk, phone], at: 3)
        #expect(
            try phone.rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME IN ('Item', 'CHANGE')") == [
                "60", "5",
            ]
        )
    }
}
