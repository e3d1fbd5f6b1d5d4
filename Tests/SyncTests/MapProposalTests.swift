import Changes
import Foundation
import Remotes
import Stores
import Testing
import TestSupport

@testable import Sync

@Suite("The map that is proposed for a store")
struct MapProposalTests {
    let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    /// Returns the proposal for a store.
    private func propose(_ schema: String, map: String = "{}") throws -> MapProposal {
        let folder = LocalFolder(try sandbox.directory("Shared"))
        let name = "desk\(UUID())"
        let device = try Device(name, in: sandbox, folder: folder, schema: schema)
        let map = try SyncMap(json: Array(map.utf8), name: "map")
        let cut = try StoresCut(
            of: [device.store],
            scratchParent: sandbox.path,
            busyTimeout: .seconds(1)
        )
        let snapshot = try #require(cut.members.first).snapshot
        return try withExtendedLifetime(snapshot) { try MapProposal(of: snapshot, map: map) }
    }

    /// Returns the rules of the proposal's map for a column, as text.
    private func reference(_ table: String, _ column: String, in map: SyncMap) -> String? {
        guard let table = TableName(table), let column = ColumnName(column) else { return nil }
        switch map.tables[table]?.references[column] {
        case .table(let parent): return parent.description
        case SyncMap.Reference.none?: return "none"
        case nil: return nil
        }
    }

    private static func fill(_ table: String, _ columns: String, _ values: String) -> String {
        """
        INSERT INTO \(table) (\(columns)) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
        SELECT \(values) FROM n;
        """
    }

    @Test(
        "names the parents of columns by their values, whatever the columns are called",
        arguments: [
            ("visited INTEGER", "i + 100", "moz_places"), ("visited TEXT", "i + 100", "moz_places"),
            ("visited", "CASE i WHEN 1 THEN 0 WHEN 2 THEN -1 ELSE i + 100 END", "moz_places"),
            ("visited INTEGER", "i * 7", nil), ("visited REAL", "i + 100.0", nil),
            ("quantity INTEGER", "i + 100", nil), ("visited TEXT", "'v' || i", nil),
        ]
    )
    func byValues(column: String, value: String, parent: String?) throws {
        let proposal = try propose(
            """
            CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url TEXT);
            CREATE TABLE visit (id INTEGER PRIMARY KEY, \(column));
            """ + Self.fill("moz_places", "id, url", "i + 100, 'u' || i")
                + Self.fill("visit", String(column.split(separator: " ")[0]), value)
        )
        let name = String(column.split(separator: " ")[0])
        #expect(reference("visit", name, in: proposal.map) == parent)
        #expect(proposal.guesses.isEmpty == (parent == nil))
    }

    @Test(
        "names the parents of columns without values by their names",
        arguments: [
            ("list_id INTEGER", "list"), ("LISTID integer", "list"), ("parent INTEGER", "item"),
            ("list_parent INTEGER", "item"), ("fk INTEGER", "item"), ("owner_id INTEGER", "item"),
            ("list INTEGER NOT NULL", "list"),
            ("lid INTEGER", "list"), ("did INTEGER", "none"),
            ("position INTEGER", nil), ("paid INTEGER", nil), ("list TEXT", nil),
        ]
    )
    func byNames(column: String, parent: String?) throws {
        let proposal = try propose(
            """
            CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE item (id INTEGER PRIMARY KEY, \(column));
            """
        )
        let name = String(column.split(separator: " ")[0])
        #expect(reference("item", name, in: proposal.map) == parent)
    }

    @Test("knows a table by the beginning of its name, and by its own rows")
    func moneyManager() throws {
        let proposal = try propose(
            """
            CREATE TABLE PAYEE_V1 (PAYEEID integer primary key, NAME TEXT);
            CREATE TABLE CATEGORY_V1 (CATEGID INTEGER PRIMARY KEY, NAME TEXT, PARENTID INTEGER);
            CREATE TABLE ACCOUNT_V1 (TRANSID integer primary key, PAYEEID integer NOT NULL, CATEGID integer);
            INSERT INTO CATEGORY_V1 VALUES (1, 'Bills', -1), (2, 'Water', 1);
            """
        )
        #expect(reference("account_v1", "payeeid", in: proposal.map) == "payee_v1")
        #expect(reference("account_v1", "categid", in: proposal.map) == "category_v1")
        #expect(reference("category_v1", "parentid", in: proposal.map) == "category_v1")
        #expect(proposal.guesses.count == 3)
    }

    @Test("says that pairs of kind and number, and lists of numbers, cannot travel")
    func uncarried() throws {
        let proposal = try propose(
            """
            CREATE TABLE note (id INTEGER PRIMARY KEY, subject_type TEXT, subject_id INTEGER, tags TEXT);
            CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT);
            """ + Self.fill("tag", "name", "'t' || i")
                + Self.fill("note", "tags, subject_id", "'[' || i || ',' || (i % 7 + 1) || ']', i")
        )
        #expect(reference("note", "subject_id", in: proposal.map) == "none")
        #expect(reference("note", "tags", in: proposal.map) == "none")
        #expect(proposal.guesses.count == 2)
    }

    @Test("keeps columns that triggers compute on each device, if rows can be without them")
    func triggers() throws {
        let proposal = try propose(
            """
            CREATE TABLE list (id INTEGER PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0, code TEXT UNIQUE);
            CREATE TABLE item (id INTEGER PRIMARY KEY, list INTEGER REFERENCES list (id));
            CREATE TRIGGER counts AFTER INSERT ON item BEGIN UPDATE list SET n = n + 1 WHERE id = NEW.list; END;
            CREATE TRIGGER codes AFTER INSERT ON list BEGIN UPDATE list SET code = id WHERE id = NEW.id; END;
            CREATE TRIGGER guards BEFORE DELETE ON list BEGIN SELECT RAISE(ABORT, 'no'); END;
            """
        )
        let list = try #require(TableName("list"))
        #expect(try proposal.map.tables[list]?.local == [#require(ColumnName("n"))])
        #expect(try proposal.map.triggers == [#require(TableName("codes")): .skip])
        #expect(proposal.findings.contains { $0.subject == "guards" && !$0.isGuess })
    }

    @Test("asks for numbers that mean something, and for numbers that devices would give twice")
    func keys() throws {
        let proposal = try propose(
            """
            CREATE TABLE product (ean INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE step (id INT PRIMARY KEY, name TEXT);
            CREATE TABLE year (id INT PRIMARY KEY, name TEXT);
            CREATE TABLE budget (year INTEGER PRIMARY KEY, amount INTEGER);
            CREATE TABLE log (id INTEGER PRIMARY KEY, line TEXT);
            CREATE TABLE shelf (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE box (id INTEGER PRIMARY KEY, data TEXT, shelf INTEGER REFERENCES shelf
                GENERATED ALWAYS AS (json_extract(data, '$.shelf')) STORED);
            """ + Self.fill("product", "ean", "4000000000000 + i * 7919013")
                + Self.fill("list", "name", "'n' || i") + Self.fill("step", "id", "i")
                + Self.fill("year", "id", "i + 2000")
                + Self.fill("budget", "year", "i + 2000") + Self.fill("log", "id", "i + 5000")
        )
        let shared = proposal.map.tables.filter { $0.value.key == .shared }.keys
        #expect(Set(shared.map(\.description)) == ["product", "step", "shelf", "budget"])
        // The schema says it of the shelf.
        #expect(proposal.guesses.count == 3)
    }

    @Test(
        "reports orphans and other types of references, which travel as they are, without a question"
    )
    func references() throws {
        let proposal = try propose(
            """
            PRAGMA foreign_keys = OFF;
            CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE item (id INTEGER PRIMARY KEY, list TEXT REFERENCES list (id) DEFERRABLE INITIALLY DEFERRED);
            """
        )
        #expect(proposal.guesses.isEmpty)
        #expect(
            proposal.findings.contains {
                $0.subject == "item.list" && $0.evidence.contains("'TEXT'")
            }
        )
    }

    @Test("asks for nothing that the map settles")
    func settled() throws {
        let schema = """
            CREATE TABLE list (id INTEGER PRIMARY KEY, n INTEGER DEFAULT 0);
            CREATE TABLE item (id INTEGER PRIMARY KEY, list_id INTEGER);
            CREATE TABLE step (id INT PRIMARY KEY, name TEXT);
            CREATE TRIGGER counts AFTER INSERT ON item BEGIN UPDATE list SET n = n + 1; END;
            """ + Self.fill("step", "id", "i")
        let first = try propose(schema)
        #expect(first.guesses.count == 3)
        let json = String(decoding: try first.map.json(), as: UTF8.self)
        #expect(try propose(schema, map: json).guesses.isEmpty)
        let other = #"""
            {"tables": {"item": {"references": {"list_id": "none"}}, "step": {"key": "own"}},
            "triggers": {"counts": "skip"}}
            """#
        #expect(try propose(schema, map: other).guesses.isEmpty)
    }

    @Test(
        "names the parents that the store states, whatever the values are like",
        arguments: [
            ("idPath INTEGER", "id"), ("toIdPath INTEGER", "id"), ("value INTEGER", "sees"),
            ("lang_code INTEGER", "sees"), ("value INTEGER", "keeps"), ("value INTEGER", "none"),
        ]
    )
    func stated(column: String, by reason: String) throws {
        let name = String(column.split(separator: " ")[0])
        let triggers = [
            "sees": """
            CREATE TRIGGER sees BEFORE INSERT ON file BEGIN SELECT CASE WHEN
                (SELECT idPath FROM path WHERE idPath = NEW.\(name)) IS NULL THEN RAISE(ABORT, 'no') END; END;
            """,
            "keeps": """
            CREATE TRIGGER keeps BEFORE DELETE ON path BEGIN SELECT CASE WHEN
                (SELECT count(*) FROM file WHERE "\(name)"=OLD.idPath) > 0 THEN RAISE(ABORT, 'no') END; END;
            """,
        ]
        let proposal = try propose(
            """
            CREATE TABLE file (idFile INTEGER PRIMARY KEY, \(column));
            CREATE TABLE path (idPath INTEGER PRIMARY KEY, text TEXT);
            INSERT INTO path VALUES (1, 'a'), (2, 'b'), (3, 'c');
            INSERT INTO file VALUES (1, 2), (2, 3), (3, 3);
            """ + (triggers[reason] ?? "")
        )
        #expect(reference("file", name, in: proposal.map) == (reason == "none" ? nil : "path"))
        #expect(proposal.guesses.count == (reason == "none" ? 0 : 1))
    }

    @Test(
        "asks for the numbers of days, of times and of tables of one row, however few there are",
        arguments: [
            ("mood (day INTEGER PRIMARY KEY)", "(20261101), (20261102)", true),
            ("mood (day INTEGER PRIMARY KEY)", nil, true),
            ("revlog (id INTEGER PRIMARY KEY)", "(1700000000000)", true),
            ("profile (id INTEGER PRIMARY KEY)", "(0)", true),
            ("app_settings (id INTEGER PRIMARY KEY)", "(1)", true),
            ("settings (id INTEGER PRIMARY KEY)", "(1), (2)", false),
            ("note (id INTEGER PRIMARY KEY)", "(1)", false),
            ("note (id INTEGER PRIMARY KEY)", "(1501), (1502)", false),
        ]
    )
    func fewNumbers(table: String, rows: String?, isShared: Bool) throws {
        let name = String(table.split(separator: " ")[0])
        let insertion = rows.map { "INSERT INTO \(name) VALUES \($0);" } ?? ""
        let proposal = try propose("CREATE TABLE \(table); \(insertion)")
        let rules = try proposal.map.tables[#require(TableName(name))]
        #expect((rules?.key == .shared) == isShared)
        #expect(proposal.guesses.isEmpty != isShared)
    }

    @Test("leaves out tables of upgrades only if they are told to be such, or confirmed")
    func upgrades() throws {
        let schema = """
            CREATE TABLE migrations (id INTEGER PRIMARY KEY, migration TEXT, batch INTEGER);
            CREATE TABLE document (id INTEGER PRIMARY KEY, title TEXT);
            CREATE TABLE versions (id INTEGER PRIMARY KEY, doc INTEGER REFERENCES document(id), body TEXT);
            CREATE TABLE phinxlog (version INTEGER PRIMARY KEY, name TEXT);
            """
        let proposal = try propose(schema)
        #expect(proposal.map.exclude.map(\.description) == ["migrations"])
        #expect(proposal.guesses.map(\.subject) == ["migrations"])
        #expect(try propose(schema, map: #"{"tables": {"migrations": {}}}"#).guesses.isEmpty)
    }

    @Test("knows a link by what it links")
    func links() throws {
        let proposal = try propose(
            """
            CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT);
            CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE book_tag (id INTEGER PRIMARY KEY, book INTEGER NOT NULL REFERENCES book,
                tag INTEGER NOT NULL REFERENCES tag, UNIQUE (book, tag));
            CREATE TABLE page (id INTEGER PRIMARY KEY, book INTEGER NOT NULL REFERENCES book,
                position INTEGER NOT NULL, UNIQUE (book, position));
            """
        )
        let table = try #require(TableName("book_tag"))
        #expect(proposal.map.tables[table]?.identity?.map(\.description) == ["book", "tag"])
        #expect(try proposal.map.tables[#require(TableName("page"))] == nil)
        #expect(proposal.guesses.isEmpty)
    }

    @Test("has a trigger skipped that only the application can run")
    func impossibleTrigger() throws {
        let proposal = try propose(
            """
            CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, sort TEXT);
            CREATE TRIGGER sorts AFTER INSERT ON book BEGIN
                UPDATE book SET sort = title_sort(NEW.title) WHERE id = NEW.id; END;
            """
        )
        #expect(try proposal.map.triggers == [#require(TableName("sorts")): .skip])
        #expect(try proposal.map.tables[#require(TableName("book"))] == nil)
        #expect(proposal.guesses.first?.evidence.contains("title_sort") == true)
    }
}
