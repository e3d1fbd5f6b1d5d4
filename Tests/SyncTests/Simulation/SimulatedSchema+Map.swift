// Rows that a group's map identifies.
extension SimulatedSchema {
    /// Names that are no keys: of rows with numbers, which may be called otherwise later or not at all, and of
    /// rows that have no key.
    static let named = SimulatedSchema(
        name: "named",
        sql: """
            CREATE TABLE kind (id INTEGER PRIMARY KEY, name TEXT, color INTEGER, size INTEGER);
            CREATE TABLE thing (id INTEGER PRIMARY KEY, title TEXT,
                kind_id INTEGER REFERENCES kind(id) ON DELETE SET NULL);
            CREATE TABLE tally (day INTEGER, place TEXT, count INTEGER, note TEXT);
            """,
        edits: [
            """
            INSERT INTO kind (name, color) SELECT t, n FROM (SELECT ?t t, ?n n)
            WHERE t NOT IN (SELECT name FROM kind WHERE name IS NOT NULL)
            """,
            """
            UPDATE kind SET name = t FROM (SELECT ?t t)
            WHERE id = ?r(kind) AND t NOT IN (SELECT name FROM kind WHERE name IS NOT NULL)
            """,
            "UPDATE kind SET color = ?n WHERE id = ?r(kind)",
            "UPDATE kind SET size = ?n WHERE id = ?r(kind)",
            "UPDATE kind SET name = NULL WHERE id = ?r(kind)",
            "INSERT INTO kind (color) VALUES (?n)", "DELETE FROM kind WHERE id = ?r(kind)",
            "INSERT INTO thing (title, kind_id) VALUES (?t, ?r(kind))",
            "UPDATE thing SET title = ?t WHERE id = ?r(thing)",
            "UPDATE thing SET kind_id = ?r(kind) WHERE id = ?r(thing)",
            "DELETE FROM thing WHERE id = ?r(thing)",
            """
            INSERT INTO tally SELECT d, p, ?n, ?t FROM (SELECT ?n d, ?t p)
            WHERE NOT EXISTS (SELECT 1 FROM tally WHERE day = d AND place = p)
            """,
            "UPDATE tally SET count = ?n WHERE rowid = ?r(tally)",
            """
            UPDATE tally SET day = d FROM (SELECT ?n d) WHERE tally.rowid = ?r(tally)
            AND NOT EXISTS (SELECT 1 FROM tally other WHERE other.day = d AND other.place = tally.place)
            """,
            "DELETE FROM tally WHERE rowid = ?r(tally)",
            // As VACUUM does.
            "UPDATE tally SET rowid = rowid + 100 WHERE rowid = ?r(tally)",
        ],
        tables: ["kind", "thing", "tally"],
        map: #"""
            {"tables": {"kind": {"identity": ["name"]}, "tally": {"identity": ["day", "place"]}}}
            """#
    )
}
