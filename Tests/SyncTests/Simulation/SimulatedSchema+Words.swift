// References by value.
extension SimulatedSchema {
    /// Keys of text, and a number that rows are called by as well.
    static let words = SimulatedSchema(
        name: "words",
        sql: """
            CREATE TABLE word (spelling TEXT PRIMARY KEY, serial INTEGER UNIQUE, note TEXT);
            CREATE TABLE sense (id INTEGER PRIMARY KEY, meaning TEXT,
                word TEXT NOT NULL REFERENCES word(spelling) ON DELETE CASCADE ON UPDATE CASCADE,
                see INTEGER REFERENCES word(serial) ON DELETE SET NULL ON UPDATE CASCADE);
            CREATE TABLE rhyme (one TEXT REFERENCES word(spelling) ON DELETE CASCADE,
                other TEXT REFERENCES word(spelling) ON DELETE CASCADE, note TEXT,
                PRIMARY KEY (one, other)) WITHOUT ROWID;
            CREATE TABLE quote (id INTEGER PRIMARY KEY, line TEXT,
                sense INTEGER REFERENCES sense(id) ON DELETE SET NULL,
                word TEXT REFERENCES word(spelling) ON DELETE SET NULL ON UPDATE CASCADE);
            """,
        edits: [
            "INSERT INTO word (spelling, serial) VALUES (?t, ?n)",
            "INSERT INTO word (spelling, note) VALUES (?t, ?t)",
            "UPDATE word SET serial = ?n WHERE spelling = ?t",
            "UPDATE word SET serial = NULL WHERE spelling = ?t",
            "UPDATE word SET note = ?t WHERE spelling = ?t",
            "UPDATE word SET spelling = ?t WHERE spelling = ?t",
            "DELETE FROM word WHERE spelling = ?t", "DELETE FROM word WHERE serial = ?n",
            "INSERT INTO sense (meaning, word) VALUES (?t, ?t)",
            "INSERT INTO sense (meaning, word, see) VALUES (?t, ?t, ?n)",
            "UPDATE sense SET see = ?n WHERE id = ?r(sense)",
            "UPDATE sense SET word = ?t WHERE id = ?r(sense)",
            "UPDATE sense SET meaning = ?t WHERE id = ?r(sense)",
            "DELETE FROM sense WHERE id = ?r(sense)",
            "INSERT INTO rhyme (one, other) VALUES (?t, ?t)",
            "UPDATE rhyme SET note = ?t WHERE one = ?t", "DELETE FROM rhyme WHERE other = ?t",
            "INSERT INTO quote (line, sense, word) VALUES (?t, ?r(sense), ?t)",
            "UPDATE quote SET word = ?t WHERE id = ?r(quote)",
            "UPDATE quote SET sense = ?r(sense) WHERE id = ?r(quote)",
        ],
        tables: ["word", "sense", "rhyme", "quote"]
    )
}
