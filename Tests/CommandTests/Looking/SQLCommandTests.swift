import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite("The command sql")
struct SQLCommandTests {
    private let program: Program

    init() throws {
        program = try Program()
        try program.sandbox.directory("R")
        try program.sandbox.directory("S")
    }

    private func sqlite(_ statements: String, in store: String = "S/store.db") throws {
        try Tool.check("sqlite3", [program.sandbox.path(store).string, statements])
    }

    private func sql(_ arguments: String..., input: String = "") throws -> Tool.Outcome {
        try Tool.run(
            Program.path,
            ["sql"] + arguments + ["--stores", "S", "--remote", "R"],
            environment: program.environment,
            directory: program.sandbox.path,
            input: Array(input.utf8)
        )
    }

    private func backUp() throws {
        let outcome = try program.run("backup", "--stores", "S", "--remote", "R")
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    /// Values of all kinds, some of them hard to show.
    private func makeValues() throws {
        try sqlite(
            """
            CREATE TABLE v (n, t, b);
            INSERT INTO v VALUES (1, 'milk', x'00FF'), (-2.5, 'a,"b"' || char(10) || 'c', zeroblob(40)),
                (9e999, '', NULL), (NULL, CAST(x'FF41' AS TEXT), 'x' || char(0) || 'y' || char(27));
            """
        )
    }

    @Test("The command sql answers in a table, in CSV and in JSON")
    func forms() throws {
        try makeValues()
        try backUp()
        let table = try sql("latest", "SELECT * FROM v")
        #expect(
            table.text == """
                    n  t         b
                -----  --------  ------------------------------------------------------------
                    1  milk      X'00FF'
                 -2.5  a,"b"\\nc  X'\(String(repeating: "0", count: 64))…' (40 bytes)
                9e999            NULL
                 NULL  X'FF41'   x\\u{0}y\\u{1b}

                """
        )
        let csv = try sql("latest", "SELECT n, t FROM v", "--csv")
        let lines = csv.output.split(separator: 10).map(Array.init)
        #expect(lines[0] == Array("n,t".utf8))
        #expect(lines[1] == Array("1,milk".utf8))
        #expect(lines[2...3].map { $0 } == [Array("-2.5,\"a,\"\"b\"\"".utf8), Array("c\"".utf8)])
        #expect(lines[4] == Array("9e999,\"\"".utf8))
        #expect(lines[5] == Array(",X'FF41'".utf8))
        let json = try sql("latest", "SELECT n, t, b, n FROM v", "--json")
        #expect(
            json.text == """
                {"columns":["n","t","b","n:2"],"rows":[{"n":1,"t":"milk","b":{"blob":"00FF"},"n:2":1},\
                {"n":-2.5,"t":"a,\\"b\\"\\nc","b":{"blob":"\(String(repeating: "0", count: 80))"},"n:2":-2.5},\
                {"n":9e999,"t":"","b":null,"n:2":9e999},\
                {"n":null,"t":{"text":"FF41"},"b":"x\\u0000y\\u001b","n:2":null}],"complete":true,"more":false}

                """
        )
    }

    @Test(
        "The command sql answers as sqlite3 does, of a backup and of live data"
    )
    func input() throws {
        try sqlite("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'x'), (2, 'y')")
        try backUp()
        try sqlite("INSERT INTO t VALUES (3, 'z')")
        let query = "SELECT a, b FROM t ORDER BY a DESC;"
        for (name, rows) in [("latest", "2,y\n1,x\n"), ("live", "3,z\n2,y\n1,x\n")] {
            let outcome = try sql(name, "--csv", input: query)
            #expect(outcome.text == "a,b\n" + rows, "\(outcome.errors)")
            #expect(outcome.status == 0)
        }
        let expected = try Tool.check(
            "sqlite3",
            ["-csv", "-header", program.sandbox.path("S/store.db").string, query]
        )
        #expect(try sql("live", query, "--csv").text == expected.replacing("\r\n", with: "\n"))
    }

    @Test("The command sql answers on a terminal until the user ends it")
    func prompt() throws {
        guard Terminal.isThere else { return }
        try sqlite("CREATE TABLE item (id, name); INSERT INTO item VALUES (1, 'milk'), (2, 'eggs')")
        try backUp()
        let outcome = try Terminal.run(
            [Program.path, "sql", "latest", "--stores", "S", "--remote", "R"],
            answering: [
                ".tables", ".schema item", "SELECT name", "FROM item;", "SELECT absent;",
                ".mode csv",
                "SELECT id, name FROM item WHERE id = 2;", ".help", ".quit",
            ],
            program,
            environment: ["TERM": "dumb"]
        )
        #expect(outcome.status == 0)
        #expect(outcome.text.contains("item  table"))
        #expect(outcome.text.contains("CREATE TABLE item (id, name);"))
        #expect(outcome.text.contains("milk\neggs\n"))
        #expect(outcome.text.contains("no such column: absent"))
        #expect(outcome.text.contains("id,name\n2,eggs\n"))
        #expect(outcome.text.contains(".mode FORM"))
    }

    @Test("The command sql marks rows as incomplete if a page is damaged, and exits with 20")
    func damage() throws {
        try sqlite(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, data);
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000)
            INSERT INTO t SELECT i, randomblob(600) FROM n
            """
        )
        try backUp()
        let name = try #require(
            try Directory.open(program.sandbox.path("R")).names()
                .first { $0.description.hasSuffix("Stores.zip") }
        )
        var bytes = try program.sandbox.read("R/\(name)")
        bytes[bytes.count * 4 / 5] ^= 1
        try Data(bytes).write(to: URL(filePath: program.sandbox.path("R/\(name)").string))
        let outcome = try sql("latest", "SELECT id FROM t", "--json")
        #expect(outcome.status == 20)
        #expect(outcome.errors.contains("the store 'store.db' is damaged at page "))
        let answer = try #require(outcome.json as? [String: Any])
        #expect(answer["complete"] as? Bool == false)
        let rows = try #require(answer["rows"] as? [[String: Any]])
        #expect((1000..<8000).contains(rows.count))
        let table = try sql("latest", "SELECT id FROM t")
        #expect(table.text.hasSuffix("(incomplete: there may be more after \(rows.count) rows)\n"))
        // What does not touch it is answered.
        #expect(try sql("latest", "SELECT length(data) FROM t WHERE id = 1", "--csv").status == 0)
    }

    @Test("The command sql refuses a statement that is no query, and an unknown store")
    func refusals() throws {
        try sqlite("CREATE TABLE t (a)")
        try sqlite("CREATE TABLE t (a)", in: "S/other.db")
        try backUp()
        let write = try sql("live", "--store", "store.db", "DELETE FROM t")
        #expect(write.status == 1)
        #expect(write.errors.contains("is refused before it runs: it would write"))
        let several = try sql("latest", "SELECT 1")
        #expect(several.status == 64)
        #expect(several.errors.contains("name one with '--store other.db'"))
        #expect(
            try sql("latest", "--store", "othr.db", "SELECT 1").errors.contains(
                "did you mean 'other.db'?"
            )
        )
        #expect(try sql("nothing", "SELECT 1").status == 10)
        #expect(try sql("latest", "SELECT 1", "--csv", "--json").status == 64)
        #expect(try sql("latest", "SELECT 1", "--limit", "0").status == 64)
    }
}
