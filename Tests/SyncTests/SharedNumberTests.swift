import Testing

@testable import Sync

@Suite("References whose columns share a number")
struct SharedNumberTests {
    /// A schema, rows of one device, and a query that counts the children that have their parents.
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let schema: String
        let rows: @Sendable (String) -> String
        let rightRows: String
    }

    private static let cases = [
        Case(
            testDescription: "the parent's number beside a value",
            schema: """
                CREATE TABLE s (id INTEGER PRIMARY KEY, w INT, n TEXT, UNIQUE (w, id));
                CREATE TABLE c (id INTEGER PRIMARY KEY, w INT, s INT, n TEXT,
                    FOREIGN KEY (w, s) REFERENCES s (w, id));
                """,
            rows: {
                "INSERT INTO s VALUES (1, 7, '\($0)'); INSERT INTO c VALUES (1, 7, 1, '\($0)')"
            },
            rightRows: """
                SELECT count(*) FROM c JOIN s ON s.id = c.s AND s.w = c.w WHERE c.n = s.n
                """
        ),
        Case(
            testDescription: "a number that the parent has from its own parent",
            schema: """
                CREATE TABLE p (id INTEGER PRIMARY KEY, n TEXT);
                CREATE TABLE s (id INTEGER PRIMARY KEY, p INTEGER NOT NULL REFERENCES p (id), n TEXT,
                    UNIQUE (id, p));
                CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER NOT NULL, s INTEGER, n TEXT,
                    FOREIGN KEY (s, p) REFERENCES s (id, p));
                """,
            rows: {
                """
                INSERT INTO p VALUES (1, '\($0)'); INSERT INTO s VALUES (1, 1, '\($0)');
                INSERT INTO c VALUES (1, 1, 1, '\($0)')
                """
            },
            rightRows: """
                SELECT count(*) FROM c JOIN s ON s.id = c.s AND s.p = c.p JOIN p ON p.id = c.p
                WHERE c.n = s.n AND c.n = p.n
                """
        ),
        Case(
            testDescription: "a column with two foreign keys",
            schema: """
                CREATE TABLE base (id INTEGER PRIMARY KEY, n TEXT);
                CREATE TABLE book (id INTEGER PRIMARY KEY REFERENCES base (id) ON DELETE CASCADE, n TEXT);
                CREATE TABLE c (id INTEGER PRIMARY KEY, n TEXT,
                    b INTEGER REFERENCES base (id) REFERENCES book (id));
                """,
            rows: {
                """
                INSERT INTO base VALUES (1, '\($0)'); INSERT INTO book VALUES (1, '\($0)');
                INSERT INTO c VALUES (1, '\($0)', 1)
                """
            },
            rightRows: """
                SELECT count(*) FROM c JOIN base ON base.id = c.b JOIN book ON book.id = c.b
                WHERE c.n = base.n AND c.n = book.n
                """
        ),
    ]

    @Test("name the rows of their own device on all devices", arguments: cases)
    func numbers(_ example: Case) async throws {
        let pair = try DevicePair(schema: example.schema)
        for device in [pair.desk, pair.phone] {
            try await device.enable(at: pair.start)
            try device.edit(example.rows(device.name))
        }
        for minute in 1..<4 {
            try await pair.exchange(pair.desk, pair.phone, at: Double(minute))
        }
        try pair.expectEqual("SELECT count(*) FROM c", ["2"])
        try pair.expectEqual(example.rightRows, ["2"])
    }
}
