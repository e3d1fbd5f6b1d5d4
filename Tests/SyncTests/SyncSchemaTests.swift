import CSQLite
import Files
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Sync

/// A store that a test makes, and that is looked at as a run does.
struct SchemaSandbox {
    let sandbox: Sandbox
    let directory: FilePath

    init() throws {
        sandbox = try Sandbox()
        directory = try sandbox.directory("Stores")
        try sandbox.directory("Scratch")
    }

    func snapshot(_ statements: [String]) throws -> StoreSnapshot {
        var handle: OpaquePointer?
        let path = directory.appending("a.sqlite")
        try #require(sqlite3_open(path.string, &handle) == SQLITE_OK)
        addStrangers(to: handle)
        for statement in statements {
            let code = sqlite3_exec(handle, statement, nil, nil, nil)
            try #require(
                code == SQLITE_OK,
                "\(statement): \(String(cString: sqlite3_errmsg(handle)))"
            )
        }
        sqlite3_close(handle)
        return try snapshot()
    }

    /// The store as it is.
    func snapshot() throws -> StoreSnapshot {
        let path = directory.appending("a.sqlite")
        let store = Store(
            path: try RelativePath("a.sqlite"),
            directory: directory,
            identity: try FileInfo(of: path).identity
        )
        let cut = try StoresCut(
            of: [store],
            scratchParent: sandbox.path.appending("Scratch"),
            busyTimeout: .zero
        )
        return try #require(cut.members.first).snapshot
    }

    /// What only an application has.
    private func addStrangers(to handle: OpaquePointer?) {
        sqlite3_create_collation_v2(
            handle,
            "unicase",
            SQLITE_UTF8,
            nil,
            { _, _, _, _, _ in 0 },
            nil
        )
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC
        sqlite3_create_function_v2(
            handle,
            "stem",
            -1,
            flags,
            nil,
            { context, _, _ in sqlite3_result_int(context, 1) },
            nil,
            nil,
            nil
        )
    }

    func schema(
        _ statements: String...,
        change: (inout SchemaRules) -> Void = { _ in }
    ) throws -> SyncSchema {
        var rules = SchemaRules()
        change(&rules)
        return try SyncSchema(of: snapshot(statements), rules: rules)
    }
}

extension SchemaRules {
    /// What it says of a table, to be changed.
    subscript(table: ExactString) -> Table {
        get { tables[table] ?? Table() }
        set { tables[table] = newValue }
    }
}

@Suite("The schema that syncs")
struct SyncSchemaTests {
    let stores: SchemaSandbox

    init() throws { stores = try SchemaSandbox() }

    // MARK: - Identities

    @Test("knows rows by their keys, by their content, or as the map says")
    func identities() throws {
        let schema = try stores.schema(
            "CREATE TABLE named (uuid TEXT PRIMARY KEY, x)",
            "CREATE TABLE pair (a, b, x, PRIMARY KEY (b, a)) WITHOUT ROWID",
            "CREATE TABLE numbered (id INTEGER PRIMARY KEY, x, y AS (x + 1))",
            "CREATE TABLE shared (id INTEGER PRIMARY KEY, x)",
            "CREATE TABLE setting (name, value)"
        ) { rules in
            rules["shared"].sharesKey = true
            rules["setting"].identity = ["NAME"]
        }
        #expect(schema.refusals.isEmpty && schema.leftOut.isEmpty)
        let tables = Dictionary(uniqueKeysWithValues: schema.tables.map { ($0.name, $0) })
        #expect(tables["named"]?.identity == .key([0]))
        #expect(tables["pair"]?.identity == .key([1, 0]))
        #expect(tables["numbered"]?.identity == .content)
        #expect(tables["numbered"]?.hasOwnNumbers == true)
        #expect(tables["numbered"]?.columns.map(\.place) == [1])
        #expect(tables["shared"]?.identity == .key([0]))
        #expect(tables["shared"]?.hasOwnNumbers == false)
        #expect(tables["shared"]?.columns.map(\.place) == [0, 1])
        #expect(tables["setting"]?.identity == .named([0]))
    }

    @Test("knows a row by its parent if its number is its parent's")
    func sharedNumber() throws {
        let schema = try stores.schema(
            "CREATE TABLE item (id INTEGER PRIMARY KEY, x)",
            "CREATE TABLE detail (item INTEGER PRIMARY KEY REFERENCES item, y)"
        )
        let detail = try #require(schema.table("detail"))
        #expect(detail.identity == .key([0]) && !detail.hasOwnNumbers)
        #expect(detail.columns[0].reference == 0)
    }

    @Test("travels by the first names, without what is local")
    func names() throws {
        let schema = try stores.schema(
            "CREATE TABLE Item (id INTEGER PRIMARY KEY, Title, cached)"
        ) { rules in
            rules["item"].was = "thing"
            rules["item"].renamed = ["title": "name"]
            rules["item"].local = ["cached"]
        }
        let item = try #require(schema.table("ITEM"))
        #expect(item.wireName == "thing")
        #expect(item.columns.map(\.wireName) == ["name"])
        #expect(schema.unknownNames.isEmpty)
    }

    @Test("reports names of the map that the store lacks")
    func unknownNames() throws {
        let schema = try stores.schema("CREATE TABLE item (id INTEGER PRIMARY KEY, x)") { rules in
            rules["other"].sharesKey = true
            rules["item"].local = ["y"]
            rules.exclude = ["log"]
            rules.triggers = ["t": .skip]
        }
        #expect(schema.unknownNames == ["item.y", "log", "other", "t"])
        #expect(schema.tables.count == 1)
    }

    @Test("refuses an identity that cannot be", arguments: ["id", "missing", "computed", "cached"])
    func identity(column: String) throws {
        let schema = try stores.schema(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a, cached, computed AS (a))"
        ) { rules in
            rules["t"].identity = ["a", column.exact]
            rules["t"].local = ["cached"]
        }
        #expect(schema.refusals == [.identity(table: "t", column: column)])
    }

    @Test(
        "refuses a local column without which other devices' rows cannot be inserted",
        arguments: [
            ("NOT NULL", true), ("NOT NULL DEFAULT 0", false), ("", false),
            ("NOT NULL DEFAULT NULL", true), ("NOT NULL DEFAULT (abs(1))", false),
        ]
    )
    func localWithoutDefault(_ rule: String, _ isRefused: Bool) throws {
        let schema = try stores.schema("CREATE TABLE t (id INTEGER PRIMARY KEY, a, seen \(rule))") {
            $0["t"].local = ["seen"]
        }
        let refusal = SyncRefusal.localWithoutDefault(table: "t", column: "seen")
        #expect(schema.refusals == (isRefused ? [refusal] : []))
    }

    // MARK: - Left out

    @Test("leaves tables out, and says why")
    func leftOut() throws {
        let schema = try stores.schema(
            "CREATE TABLE log (x)",
            "CREATE TABLE grdb_migrations (identifier TEXT PRIMARY KEY)",
            "CREATE TABLE queue (id INTEGER PRIMARY KEY)",
            "CREATE VIEW seen AS SELECT 1",
            "CREATE VIRTUAL TABLE words USING fts5(body, content='')",
            "CREATE TABLE odd (rowid, oid, _rowid_, name PRIMARY KEY)",
            "CREATE TABLE item (id INTEGER PRIMARY KEY AUTOINCREMENT, x)"
        ) { $0.exclude = ["queue"] }
        let reasons = Dictionary(
            uniqueKeysWithValues: schema.leftOut.map { ($0.table, $0.reason) }
        )
        #expect(reasons["log"] == .noPrimaryKey)
        #expect(reasons["grdb_migrations"] == .migrations)
        #expect(reasons["queue"] == .excluded)
        #expect(reasons["seen"] == .view)
        #expect(reasons["words"] == .virtual)
        #expect(reasons["words_data"] == .shadow)
        #expect(reasons["odd"] == .noRowID)
        #expect(schema.tables.map(\.name) == ["item"])
        #expect(schema.refusals.isEmpty)
        #expect(
            schema.leftOut.first { $0.table == "log" }?.description
                == "'log' has no primary key: name its identity in the map, or leave it"
        )
    }

    @Test("leaves columns out whose names cannot travel, and tables whose keys have such a name")
    func leftOutNames() throws {
        let long = String(repeating: "n", count: 1025)
        let schema = try stores.schema(
            #"CREATE TABLE item (id INTEGER PRIMARY KEY, "" TEXT, \#(long) TEXT, name TEXT)"#,
            #"CREATE TABLE unit ("" TEXT PRIMARY KEY, name TEXT)"#
        )
        let found = schema.leftOut.map { LeftOut(table: $0.table, reason: $0.reason) }
        #expect(found.contains(LeftOut(table: "unit", reason: .name)))
        #expect(found.contains(LeftOut(table: "item", reason: .column(""))))
        #expect(found.contains(LeftOut(table: "item", reason: .column(long))))
        #expect(schema.tables.map(\.name) == ["item"])
    }

    // MARK: - Refused

    @Test("refuses UTF-16")
    func utf16() throws {
        let schema = try stores.schema(
            "PRAGMA encoding = 'UTF-16le'",
            "CREATE TABLE t (k TEXT PRIMARY KEY)"
        )
        #expect(schema.refusals == [.encoding("UTF-16le")])
    }

    @Test("refuses a store of Core Data that names no entity")
    func coreData() throws {
        let schema = try stores.schema(
            "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID, Z_PLIST BLOB)",
            "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME, Z_SUPER, Z_MAX)",
            "CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT, ZNAME)"
        )
        #expect(schema.refusals == [.coreData])
    }

    @Test(
        "refuses a collation of the application in an index, a key or a CHECK",
        arguments: [
            "CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT UNIQUE COLLATE unicase)",
            "CREATE TABLE notes (title TEXT COLLATE unicase PRIMARY KEY) WITHOUT ROWID",
            "CREATE TABLE notes (id INTEGER PRIMARY KEY, title, UNIQUE (title COLLATE unicase))",
        ]
    )
    func collation(table: String) throws {
        let schema = try stores.schema(table)
        #expect(
            schema.refusals
                == [.collation(table: "notes", column: "title", collation: "unicase")]
        )
        #expect(
            schema.refusals.first?.description
                == "'notes.title' sorts by 'unicase', which only the application has"
        )
    }

    @Test("refuses a collation in a CHECK, and not one that nothing sorts by")
    func collationElsewhere() throws {
        let schema = try stores.schema(
            "CREATE TABLE a (id INTEGER PRIMARY KEY, x CHECK (x > 'a' COLLATE unicase))",
            "CREATE TABLE b (id INTEGER PRIMARY KEY, x TEXT COLLATE unicase)"
        )
        #expect(schema.refusals == [.collation(table: "a", column: nil, collation: "unicase")])
    }

    @Test(
        "refuses a function of the application in an index, a CHECK or a computed column",
        arguments: [
            ["CREATE TABLE t (id INTEGER PRIMARY KEY, x CHECK (stem(x) > 0))"],
            ["CREATE TABLE t (id INTEGER PRIMARY KEY, x, y AS (stem(x)) STORED)"],
            ["CREATE TABLE t (id INTEGER PRIMARY KEY, x)", "CREATE INDEX i ON t (stem(x))"],
            [
                "CREATE TABLE t (id INTEGER PRIMARY KEY, x)",
                "CREATE INDEX i ON t (x) WHERE stem(x) > 0",
            ],
        ]
    )
    func function(statements: [String]) throws {
        let schema = try SyncSchema(of: stores.snapshot(statements), rules: SchemaRules())
        #expect(schema.refusals == [.function(table: "t", function: "stem")])
    }

    @Test("does not mind what tables need that are left out")
    func excludedNeeds() throws {
        let schema = try stores.schema(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, x CHECK (stem(x) > 0))",
            "CREATE TABLE u (id INTEGER PRIMARY KEY, x)"
        ) { $0.exclude = ["t"] }
        #expect(schema.refusals.isEmpty)
    }

    // MARK: - References

    @Test("puts parents first, and finds cycles")
    func order() throws {
        let schema = try stores.schema(
            "CREATE TABLE a (id INTEGER PRIMARY KEY, z REFERENCES z, b REFERENCES b)",
            "CREATE TABLE b (id INTEGER PRIMARY KEY, up INT REFERENCES B ON DELETE CASCADE)",
            "CREATE TABLE x (id INTEGER PRIMARY KEY, y REFERENCES y (code))",
            "CREATE TABLE y (id INTEGER PRIMARY KEY, x INT REFERENCES x, code UNIQUE)",
            "CREATE TABLE z (id INTEGER PRIMARY KEY, x REFERENCES x, gone REFERENCES nothing_at_all)"
        )
        #expect(schema.refusals.isEmpty)
        #expect(schema.tables.map(\.name) == ["b", "x", "y", "z", "a"])
        #expect(schema.tables.map(\.cycle) == [0, 1, 1, nil, nil])
        let x = try #require(schema.table("x"))
        #expect(x.references[0].parent == "y" && x.references[0].parentColumns == [2])
        #expect(schema.table("b")?.references[0].onDelete == .cascade)
        #expect(schema.table("z")?.references.count == 1)
    }

    @Test(
        "refuses columns that look like references",
        arguments: [
            ("list_id INTEGER", "list"), ("listId INT", "list"), ("listid INTEGER", "list"),
            ("lists_id", "list"), ("category_id INTEGER", "categories"), ("owner_id INT", nil),
            ("nid", nil),
        ] as [(String, String?)]
    )
    func undeclared(column: String, parent: String?) throws {
        let statements = [
            "CREATE TABLE list (id INTEGER PRIMARY KEY, name)",
            "CREATE TABLE categories (id INTEGER PRIMARY KEY, name)",
            "CREATE TABLE item (id INTEGER PRIMARY KEY, \(column))",
        ]
        let name = String(column.split(separator: " ")[0])
        let schema = try SyncSchema(of: stores.snapshot(statements), rules: SchemaRules())
        #expect(
            schema.refusals
                == [.undeclaredReference(table: "item", column: name, parent: parent)]
        )
        let hint = try #require(schema.refusals.first?.hint)
        let table = #"{"item": {"references": {"\#(name)": "\#(parent ?? "TABLE")"}}}"#
        #expect(hint.contains(table))
        // The map answers.
        var rules = SchemaRules()
        rules["item"].references = [name.foldedIdentifier: .table((parent ?? "list").exact)]
        let referring = try SyncSchema(of: stores.snapshot([]), rules: rules)
        #expect(referring.refusals.isEmpty)
        #expect(referring.table("item")?.references.first?.parent == (parent ?? "list").exact)
        #expect(referring.table("item")?.references.first?.isDeclared == false)
        rules["item"].references = [name.foldedIdentifier: .none]
        let plain = try SyncSchema(of: stores.snapshot([]), rules: rules)
        #expect(plain.refusals.isEmpty && plain.table("item")?.references.isEmpty == true)
    }

    @Test("refuses a column named like a table if its values are all keys of that")
    func undeclaredByValues() throws {
        let numbers = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < "
        let create = [
            "CREATE TABLE list (id INTEGER PRIMARY KEY, name)",
            "CREATE TABLE item (id INTEGER PRIMARY KEY, list INTEGER)",
            "\(numbers) 30) INSERT INTO list SELECT i, 'x' FROM n",
            "INSERT INTO item VALUES (51, NULL)",
        ]
        let none = try SyncSchema(of: stores.snapshot(create), rules: SchemaRules())
        #expect(none.refusals.isEmpty)
        // As in a new library of calibre's, whose links have few rows at first.
        for more in ["(50, 30)", "(1, 3), (2, 3), (3, 4)"] {
            let insertion = "INSERT INTO item VALUES \(more)"
            let schema = try SyncSchema(of: stores.snapshot([insertion]), rules: SchemaRules())
            #expect(
                schema.refusals
                    == [.undeclaredReference(table: "item", column: "list", parent: "list")]
            )
        }
        let other = "INSERT INTO item VALUES (52, 31)"
        let no = try SyncSchema(of: stores.snapshot([other]), rules: SchemaRules())
        #expect(no.refusals.isEmpty)
    }

    @Test("does not take everything for a reference")
    func noReference() throws {
        let schema = try stores.schema(
            "CREATE TABLE list (id INTEGER PRIMARY KEY, name, paid INTEGER, grid INT, uuid_id TEXT)",
            "CREATE TABLE code (k TEXT PRIMARY KEY)",
            "CREATE TABLE item (item_id INTEGER PRIMARY KEY, code_id INTEGER)"
        )
        #expect(schema.refusals.isEmpty)
        #expect(schema.tables.count == 3)
    }

    @Test("refuses references to a table that does not sync, by number and by value")
    func leftOutParent() throws {
        let schema = try stores.schema(
            "CREATE TABLE log (id INTEGER PRIMARY KEY, x)",
            "CREATE TABLE code (k TEXT PRIMARY KEY)",
            "CREATE TABLE item (id INTEGER PRIMARY KEY, a REFERENCES log, b REFERENCES code)"
        ) { $0.exclude = ["log", "code"] }
        let byValue = SyncRefusal.referenceToLeftOut(
            table: "item",
            column: "b",
            parent: "code",
            isByValue: true
        )
        #expect(
            schema.refusals
                == [byValue, .referenceToLeftOut(table: "item", column: "a", parent: "log")]
        )
        #expect(byValue.hint?.contains(#"{"item": {"references": {"b": "none"}}}"#) == true)
        #expect(schema.table("item")?.columns.map(\.reference) == [nil, nil])
    }

    @Test("refuses a reference of the map to no table, or to none whose rows have one number")
    func unknownParent() throws {
        for parent in ["lists", "pair"] {
            let schema = try SchemaSandbox().schema(
                "CREATE TABLE list (id INTEGER PRIMARY KEY, name)",
                "CREATE TABLE pair (a, b, PRIMARY KEY (a, b))",
                "CREATE TABLE item (id INTEGER PRIMARY KEY, list_id INTEGER)"
            ) { $0["item"].references = ["list_id": .table(parent.exact)] }
            #expect(
                schema.refusals
                    == [.unknownReference(table: "item", column: "list_id", parent: parent)]
            )
        }
    }

    @Test("refuses tables and columns that would travel by one name")
    func sameName() throws {
        let schema = try stores.schema(
            "CREATE TABLE a (id INTEGER PRIMARY KEY, x, y)",
            "CREATE TABLE b (id INTEGER PRIMARY KEY, x)"
        ) {
            $0["b"].was = "a"
            $0["a"].renamed = ["y": "x"]
        }
        #expect(
            Set(schema.refusals.map(\.description))
                == Set(
                    [SyncRefusal.sameName("a", other: "b"), .sameName("a.x", other: "a.y")].map(
                        \.description
                    )
                )
        )
    }

    @Test("has a digest of the tables that sync alone")
    func digest() throws {
        let before = try stores.schema("CREATE TABLE item (id INTEGER PRIMARY KEY, x)")
        let more = try stores.schema("CREATE TABLE log (x)", "CREATE VIEW v AS SELECT 1")
        #expect(before.digest == more.digest && before.version != more.version)
        let other = try stores.schema("ALTER TABLE item ADD COLUMN y")
        #expect(before.digest != other.digest)
    }
}

@Suite("Triggers of a store that syncs")
struct SyncTriggerTests {
    let stores: SchemaSandbox

    init() throws { stores = try SchemaSandbox() }

    private static let tables = [
        "CREATE TABLE item (id INTEGER PRIMARY KEY, name, changed, cached)",
        "CREATE TABLE log (x)",
        "CREATE TABLE deep (x)",
        "CREATE VIRTUAL TABLE words USING fts5(name, content='item', content_rowid='id')",
    ]

    private func schema(
        _ triggers: String...,
        change: (inout SchemaRules) -> Void = { _ in }
    ) throws -> SyncSchema {
        var rules = SchemaRules()
        rules["item"].local = ["cached"]
        change(&rules)
        return try SyncSchema(of: stores.snapshot(Self.tables + triggers), rules: rules)
    }

    private static let dates = """
        CREATE TRIGGER dates AFTER UPDATE OF name ON item BEGIN
        UPDATE item SET changed = stem() WHERE id = new.id; END
        """
    private static let mixed = """
        CREATE TRIGGER mixed AFTER DELETE ON item BEGIN
        UPDATE item SET changed = 1; INSERT INTO log VALUES (1); END
        """

    @Test("are off if what they write syncs, and copied if it does not")
    func treatments() throws {
        let schema = try schema(
            Self.dates,
            """
            CREATE TRIGGER fts AFTER INSERT ON item BEGIN
            INSERT INTO words (rowid, name) VALUES (new.id, new.name); END
            """,
            """
            CREATE TRIGGER cache AFTER UPDATE OF name ON item BEGIN
            UPDATE item SET cached = 1 WHERE id = new.id; END
            """,
            """
            CREATE TRIGGER refuse BEFORE DELETE ON item BEGIN
            SELECT RAISE(ABORT, 'no') WHERE old.name = 'keep'; END
            """,
            "CREATE TRIGGER logged AFTER INSERT ON item BEGIN INSERT INTO log VALUES (1); END",
            "CREATE TRIGGER deeper AFTER INSERT ON log BEGIN DELETE FROM deep; END",
            "CREATE TRIGGER idle AFTER INSERT ON deep BEGIN DELETE FROM log; END"
        )
        #expect(schema.refusals.isEmpty)
        let treatments = Dictionary(
            uniqueKeysWithValues: schema.triggers.map { ($0.name, $0.treatment) }
        )
        #expect(
            treatments == [
                "dates": .off, "fts": .copied, "cache": .copied, "refuse": .off,
                "logged": .copied, "deeper": .copied, "idle": .copied,
            ]
        )
    }

    @Test("are refused if they write both, unless the map says how")
    func mixed() throws {
        #expect(
            try schema(Self.mixed).refusals == [.mixedTrigger("mixed", writes: ["item", "log"])]
        )
        for (rule, treatment) in [
            (SchemaRules.TriggerRule.run, SyncTrigger.Treatment.copied), (.skip, .off),
        ] {
            var rules = SchemaRules()
            rules.triggers = ["mixed": rule]
            let schema = try SyncSchema(of: stores.snapshot([]), rules: rules)
            #expect(schema.refusals.isEmpty)
            #expect(schema.triggers.map(\.treatment) == [treatment])
        }
    }

    @Test("are refused if they must run, and need what only the application has")
    func strangers() throws {
        let schema = try schema(
            "CREATE TRIGGER t AFTER INSERT ON item BEGIN INSERT INTO log VALUES (stem(1)); END",
            """
            CREATE TRIGGER u AFTER INSERT ON item BEGIN
            DELETE FROM log WHERE x = 'a' COLLATE unicase; END
            """,
            "CREATE TRIGGER v AFTER INSERT ON item BEGIN INSERT INTO missing VALUES (1); END"
        )
        #expect(
            schema.refusals.map(\.description) == [
                "the trigger 't' needs the function 'stem', which only the application has",
                "the trigger 'u' needs the collation 'unicase', which only the application has",
                "the trigger 'v' needs more (no such table: main.missing), which only the application has",
            ]
        )
        #expect(schema.refusals.allSatisfy { $0.hint?.contains("skip") == true })
    }
}
