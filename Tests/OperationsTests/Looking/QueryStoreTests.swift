import Files
import Foundation
import GRDB
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Querying a store with SQL")
struct QueryStoreTests {
    private let scene: IncrementScene

    init() throws {
        scene = try IncrementScene(seed: 20_261_123)
    }

    private typealias Rows = [[StoredValue]]

    private func ask(
        _ store: StoreSnapshot,
        _ sql: String,
        _ limits: QueryStore.Limits = .init()
    ) throws -> (columns: [[String]], rows: Rows, isCut: Bool) {
        var answer = (columns: [[String]](), rows: Rows(), isCut: false)
        try QueryStore(limits: limits, context: scene.scene.context()).run(sql, in: store) {
            switch $0 {
            case .columns(let names): answer.columns.append(names)
            case .row(let values): answer.rows.append(values)
            case .cut: answer.isCut = true
            }
        }
        return answer
    }

    /// Asks the same of SQLite itself, in a file.
    private func expected(_ path: FilePath, _ sql: String) throws -> Rows {
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path.string, configuration: configuration)
        defer { try? queue.close() }
        return try queue.read { database in
            var rows: Rows = []
            let cursor = try Row.fetchCursor(database, sql: sql)
            while let row = try cursor.next() {
                rows.append(
                    row.databaseValues.map { value in
                        switch value.storage {
                        case .null: .null
                        case .int64(let number): .integer(number)
                        case .double(let number): .real(number)
                        case .string(let text): .text(text)
                        case .blob(let data): .blob(StoredBytes([UInt8](data)))
                        }
                    }
                )
            }
            return rows
        }
    }

    private func makeStore() throws {
        try scene.write("store.sqlite") { database in
            try database.execute(
                sql: """
                    CREATE TABLE item (
                        id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, price REAL, data BLOB,
                        twice REAL AS (price * 2) STORED, parent INTEGER REFERENCES item
                    );
                    CREATE INDEX by_name ON item (name, price);
                    CREATE TABLE pair (a TEXT, b INTEGER, c, PRIMARY KEY (b, a)) WITHOUT ROWID;
                    CREATE VIEW dear AS SELECT name, price FROM item WHERE price > 50;
                    CREATE VIRTUAL TABLE words USING fts5(body);
                    CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1);
                    WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
                    INSERT INTO item (id, name, price, data, parent)
                    SELECT i, 'Item ' || (i * 7919 % 10007), i % 97 + 0.25, randomblob(i % 100),
                        nullif(i / 10, 0) FROM n;
                    INSERT INTO pair SELECT name, id, data FROM item WHERE id % 3 = 0;
                    INSERT INTO words SELECT name || ' of the shop' FROM item WHERE id < 2000;
                    INSERT INTO boxes SELECT id, price, price + 2 FROM item WHERE id < 3000;
                    """
            )
        }
    }

    private static let corpus = [
        "SELECT * FROM item WHERE id = 12345",
        "SELECT count(*), sum(price), max(length(data)) FROM item",
        "SELECT name, count(*) FROM item GROUP BY name HAVING count(*) > 3 ORDER BY 2 DESC, 1",
        "SELECT * FROM item ORDER BY data LIMIT 500",
        "SELECT a.name, b.name FROM item a JOIN item b ON b.id = a.parent WHERE a.id % 1000 = 7",
        "SELECT id FROM item WHERE name = 'item 77'",
        "SELECT * FROM pair WHERE b BETWEEN 300 AND 600",
        "SELECT * FROM dear ORDER BY price, name LIMIT 20",
        "SELECT rowid, body FROM words WHERE words MATCH '77 shop' ORDER BY rank, rowid",
        "SELECT id FROM boxes WHERE x0 > 40 AND x1 < 45 ORDER BY id",
        "SELECT id, row_number() OVER (PARTITION BY parent ORDER BY price, id) FROM item WHERE id < 300",
        "WITH RECURSIVE up(i) AS (SELECT 29999 UNION ALL SELECT parent FROM item, up WHERE id = i) SELECT * FROM up",
        "SELECT twice, typeof(twice), quote(data) FROM item WHERE id < 50",
        "SELECT json_object('n', name) FROM item WHERE id < 5",
        "SELECT * FROM pragma_table_xinfo('item')",
        "PRAGMA index_list(item)",
        "PRAGMA integrity_check",
        "EXPLAIN QUERY PLAN SELECT * FROM item WHERE name = 'x'",
        "VALUES (1, 'two', 3.5, NULL, x'00')",
    ]

    @Test("A query of a store in a whole backup or increment answers as the unpacked store does")
    func corpus() async throws {
        try makeStore()
        try await scene.backUp()
        try scene.write("store.sqlite") {
            try $0.execute(
                sql: """
                    UPDATE item SET price = price + 1 WHERE id % 500 = 3;
                    DELETE FROM pair WHERE b % 1000 = 0;
                    """
            )
        }
        #expect(try await scene.backUp().isIncrement)
        for name in scene.names {
            let unpacked = try #require(scene.expected[name]).appending("store.sqlite")
            let expected = try Self.corpus.map { try self.expected(unpacked, $0) }
            let folder = scene.scene.folder()
            let opened = try await OpenedBackup(
                folder.find(name, now: scene.date),
                in: folder,
                context: scene.scene.context()
            )
            try await opened.look { opened in
                let store = try opened.store(nil)
                for (sql, rows) in zip(Self.corpus, expected) {
                    #expect(try ask(store, sql).rows == rows, "\(sql)")
                }
            }
        }
        let live = LiveStores(scene.scene.stores, context: scene.scene.context())
        let path = scene.scene.stores.appending("store.sqlite")
        for sql in Self.corpus {
            #expect(try ask(live.store(nil), sql).rows == expected(path, sql))
        }
    }

    @Test(
        "A query runs nothing that writes or reaches beyond the store",
        arguments: [
            "DELETE FROM item", "SELECT 1; UPDATE item SET id = 1", "CREATE TABLE t (x)",
            "CREATE TEMP TABLE t (x)", "CREATE TEMP VIEW v AS SELECT 1", "DROP TABLE item",
            "INSERT INTO item DEFAULT VALUES RETURNING id", "REPLACE INTO item (id) VALUES (1)",
            "ATTACH 'other.sqlite' AS other", "ATTACH ':memory:' AS m", "DETACH main",
            "SELECT load_extension('x.so')", "SELECT writefile('/tmp/x', 'y')",
            "SELECT readfile('/etc/passwd')", "VACUUM", "VACUUM INTO '/tmp/copy'", "REINDEX",
            "ANALYZE", "BEGIN", "BEGIN IMMEDIATE", "COMMIT", "SAVEPOINT s",
            "PRAGMA user_version = 7",
            "PRAGMA journal_mode = WAL", "PRAGMA writable_schema = ON", "PRAGMA query_only = OFF",
            "PRAGMA wal_checkpoint", "ALTER TABLE item RENAME TO thing", "EXPLAIN DELETE FROM item",
            "WITH x AS (SELECT 1) DELETE FROM item",
        ]
    )
    func refusals(sql: String) throws {
        try scene.makeStore("store.sqlite", rows: 3)
        try scene.write("store.sqlite") { try $0.execute(sql: "CREATE INDEX i ON item (name)") }
        let live = LiveStores(scene.scene.stores, context: scene.scene.context())
        let before = try scene.scene.sandbox.contents(of: "Stores")
        var rows = 0
        #expect {
            try QueryStore(limits: .init(), context: scene.scene.context())
                .run(sql, in: live.store(nil)) { _ in rows += 1 }
        } throws: { error in
            // Of some functions SQLite's library has none.
            if case QueryError.refused = error { return true }
            return "\(error)".contains("no such function")
        }
        #expect(rows == 0)
        #expect(try scene.scene.sandbox.contents(of: "Stores") == before)
    }

    @Test("A wrong query is reported with the place of the error and a suggestion")
    func mistakes() throws {
        try scene.makeStore("store.sqlite", rows: 1)
        let live = LiveStores(scene.scene.stores, context: scene.scene.context())
        func error(_ sql: String) -> QueryError? {
            do {
                _ = try ask(live.store(nil), sql)
                return nil
            } catch {
                return error as? QueryError
            }
        }
        #expect(
            error("SELECT 1;\nSELECT 'é', nmae FROM item")?.description
                == "the query is wrong in line 2, column 13, at 'nmae FROM item': no such column: nmae"
        )
        #expect(error("SELECT 'é', nmae FROM item")?.hint == "did you mean 'name'?")
        #expect(error("SELECT * FROM itme")?.hint == "did you mean 'item'?")
        #expect(error("SELEC 1")?.description.contains("near \"SELEC\": syntax error") == true)
        #expect(error("SELECT 1 WHERE (")?.description.contains("incomplete input") == true)
        #expect(
            error("SELECT abs(-9223372036854775807 - 1)")?.description
                == "the query failed: integer overflow"
        )
    }

    @Test("A query ends at the limits")
    func limits() throws {
        try scene.makeStore("store.sqlite", rows: 5)
        let store = try LiveStores(scene.scene.stores, context: scene.scene.context()).store(nil)
        let cut = try ask(store, "SELECT id FROM item; SELECT 7", .init(rows: 2))
        #expect(cut.rows == [[.integer(1)], [.integer(2)], [.integer(7)]])
        #expect(cut.isCut)
        #expect(try !ask(store, "SELECT id FROM item", .init(rows: 5)).isCut)
        let endless = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n"
        #expect(throws: QueryError.tookTooLong(.zero)) {
            _ = try ask(store, endless, .init(time: .zero))
        }
        #expect(throws: CancellationError.self) {
            let context = scene.scene.context(cancellingAfter: 3)
            try QueryStore(limits: .init(), context: context).run(endless, in: store) { _ in }
        }
        // It answers on.
        #expect(try ask(store, "SELECT 1").rows == [[.integer(1)]])
    }
}
