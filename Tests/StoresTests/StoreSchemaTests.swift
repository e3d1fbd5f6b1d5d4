import Files
import TestSupport
import Testing

@testable import Stores

@Suite("A schema")
struct StoreSchemaTests {
    let stores: RowsSandbox

    init() throws { stores = try RowsSandbox() }

    private func schema(_ statements: String..., name: String = "a.sqlite") throws -> StoreSchema {
        try stores.run(name, statements)
        return try stores.snapshot(name).schema()
    }

    @Test("reports tables, and their kinds")
    func kinds() throws {
        let schema = try schema(
            "CREATE TABLE plain (id INTEGER PRIMARY KEY AUTOINCREMENT, x)",
            "INSERT INTO plain (x) VALUES (1)",
            "CREATE TABLE strict (id INT PRIMARY KEY, x ANY) STRICT",
            "CREATE TABLE keyed (b TEXT, a BLOB, PRIMARY KEY (a, b)) WITHOUT ROWID",
            "CREATE VIRTUAL TABLE words USING fts5(body)",
            "CREATE VIEW seen AS SELECT * FROM plain",
            "CREATE VIEW broken AS SELECT * FROM missing"
        )
        let kinds = Dictionary(uniqueKeysWithValues: schema.tables.map { ($0.name, $0.kind) })
        #expect(kinds["plain"] == .table)
        #expect(kinds["words"] == .virtual)
        #expect(kinds["words_content"] == .shadow)
        #expect(kinds["seen"] == .view)
        #expect(kinds["broken"] == .view)
        #expect(kinds["sqlite_sequence"] == nil)
        let plain = try #require(schema.table("PLAIN"))
        #expect(plain.isAutoincrement)
        #expect(plain.rowIDAlias == 0)
        #expect(plain.rootPage > 1)
        let strict = try #require(schema.table("strict"))
        #expect(strict.isStrict && !strict.isWithoutRowID)
        // INT is not INTEGER: the rowid is another number.
        #expect(strict.rowIDAlias == nil && strict.primaryKey == [0])
        #expect(strict.columns.map(\.affinity) == [.integer, .blob])
        let keyed = try #require(schema.table("keyed"))
        #expect(keyed.isWithoutRowID && keyed.rowIDAlias == nil)
        #expect(keyed.primaryKey == [1, 0])
        #expect(schema.tables.map(\.name) == schema.tables.map(\.name).sorted())
    }

    @Test("knows the tables of a virtual table whose module is not here")
    func strangeModule() throws {
        let schema = try schema(
            "CREATE TABLE vec_rows (id INTEGER PRIMARY KEY)",
            "CREATE TABLE vector (id INTEGER PRIMARY KEY)",
            "PRAGMA writable_schema = ON",
            """
            INSERT INTO sqlite_schema VALUES
            ('table', 'vec', 'vec', 0, 'CREATE VIRTUAL TABLE vec USING vec0(x)')
            """
        )
        #expect(schema.tables.map(\.kind) == [.virtual, .shadow, .table])
        #expect(schema.table("vec")?.columns.isEmpty == true)
    }

    @Test("reports columns")
    func columns() throws {
        let schema = try schema(
            """
            CREATE TABLE t (
                a VARCHAR(10) COLLATE NOCASE NOT NULL, b DOUBLE, c DECIMAL, d, e BIGINT,
                f AS (a || b), g INT AS (e + 1) STORED, h "FLOATING POINT"
            )
            """
        )
        let columns = try #require(schema.table("t")).columns
        #expect(columns.map(\.name) == ["a", "b", "c", "d", "e", "f", "g", "h"])
        #expect(
            columns.map(\.affinity)
                == [.text, .real, .numeric, .blob, .integer, .blob, .integer, .integer]
        )
        #expect(columns[0].collation == "NOCASE" && columns[1].collation == "BINARY")
        #expect(columns[0].isNotNull && !columns[1].isNotNull)
        #expect(
            columns.map(\.isGenerated) == [false, false, false, false, false, true, true, false]
        )
        #expect(columns[5].kind == .generated && columns[6].kind == .generatedStored)
    }

    @Test(
        "evaluates defaults that are constants, and no others",
        arguments: [
            ("INT DEFAULT 5", StoredValue.integer(5)), ("REAL DEFAULT 5", .real(5)),
            ("TEXT DEFAULT 5", .text("5")), ("DEFAULT -1.5", .real(-1.5)),
            ("DEFAULT 'it''s'", .text("it's")), ("DEFAULT \"word\"", .text("word")),
            ("DEFAULT word", .text("word")), ("INT DEFAULT '7'", .integer(7)),
            ("DEFAULT TRUE", .integer(1)), ("DEFAULT NULL", .null), ("", .null),
            ("DEFAULT X'00FF'", .blob(StoredBytes([0, 255]))), ("DEFAULT (1 + 2)", .integer(3)),
            ("DEFAULT ('a' || 'b')", .text("ab")), ("\"odd \"\" type\" DEFAULT '1'", .integer(1)),
            ("DEFAULT 9e999", .real(.infinity)), ("INT DEFAULT (CAST('3' AS TEXT))", .integer(3)),
        ]
    )
    func constantDefaults(declaration: String, value: StoredValue) throws {
        let schema = try schema("CREATE TABLE t (id INTEGER PRIMARY KEY, c \(declaration))")
        #expect(schema.table("t")?.columns[1].defaultValue == .constant(value))
        // SQLite itself gives the same.
        try stores.run("a.sqlite", "INSERT INTO t (id) VALUES (1)")
        #expect(try stores.snapshot().allRows("t")[0].values[1] == value)
    }

    @Test(
        "leaves other defaults as they are written",
        arguments: [
            "CURRENT_TIMESTAMP", "current_date", "(random())", "(strftime('%s', 'now'))",
            "(lower('A'))", "(hex(zeroblob(900000000)))", "(1 LIKE 2)",
        ]
    )
    func otherDefaults(expression: String) throws {
        let schema = try schema("CREATE TABLE t (c DEFAULT \(expression))")
        guard case .expression = schema.table("t")?.columns[0].defaultValue else {
            Issue.record("\(String(describing: schema.table("t")?.columns[0].defaultValue))")
            return
        }
    }

    @Test("reports indexes, foreign keys and triggers")
    func belongings() throws {
        let schema = try schema(
            "CREATE TABLE list (id INTEGER PRIMARY KEY, a, b, UNIQUE (a, b))",
            """
            CREATE TABLE item (
                id INTEGER PRIMARY KEY, list INT REFERENCES list ON DELETE CASCADE, a, b, name TEXT,
                FOREIGN KEY (b, a) REFERENCES List (b, a) ON UPDATE SET NULL ON DELETE RESTRICT
            )
            """,
            "CREATE UNIQUE INDEX item_name ON item (lower(name), a COLLATE NOCASE DESC) WHERE a > 1",
            "CREATE TRIGGER two AFTER INSERT ON item BEGIN SELECT 1; END",
            "CREATE TRIGGER one AFTER UPDATE ON Item BEGIN SELECT 1; END"
        )
        let item = try #require(schema.table("item"))
        let index = try #require(item.indexes.first)
        #expect(item.indexes.count == 1)
        #expect(index.isUnique && index.isPartial && index.origin == .statement)
        #expect(index.keys.map(\.isExpression) == [true, false])
        #expect(index.keys[1].column == 2)
        #expect(index.keys[1].collation == "NOCASE" && index.keys[1].isDescending)
        #expect(schema.table("list")?.indexes.first?.origin == .unique)
        #expect(item.triggers.map(\.name) == ["one", "two"])
        let byParent = item.references.sorted { $0.columns.count < $1.columns.count }
        #expect(byParent.map(\.columns) == [[1], [3, 2]])
        #expect(byParent[0].parentColumns == nil && byParent[0].onDelete == .cascade)
        #expect(byParent[1].parentColumns == ["b", "a"] && byParent[1].onUpdate == .setNull)
        #expect(byParent[1].onDelete == .restrict && byParent[1].parent == "List")
    }

    @Test("has the digest of what it means, not of how it was written")
    func digest() throws {
        let plain = try schema("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b INT DEFAULT 1)")
        let written = try schema(
            "create table  T (id integer primary key, b integer default (2 - 1), A varchar)",
            name: "b.sqlite"
        )
        #expect(plain.digest == written.digest)
        for (name, change) in [
            ("c.sqlite", "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b INT DEFAULT 2)"),
            ("d.sqlite", "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b REAL DEFAULT 1)"),
            ("e.sqlite", "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE, b INT DEFAULT 1)"),
            (
                "f.sqlite",
                "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT COLLATE RTRIM, b INT DEFAULT 1)"
            ),
            ("g.sqlite", "CREATE TABLE u (id INTEGER PRIMARY KEY, a TEXT, b INT DEFAULT 1)"),
        ] {
            #expect(try schema(change, name: name).digest != plain.digest, "\(change)")
        }
    }
}
