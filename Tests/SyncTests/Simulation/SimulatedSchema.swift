/// A schema that simulated applications use, and the edits that they make.
struct SimulatedSchema {
    let name: String
    let sql: String
    /// Statements with `?r` for a random key of the table before it, `?n` for a number, `?t` for a text, and
    /// `?f` for a reference to a new file of external data.
    let edits: [String]
    /// Tables that sync, to compare.
    let tables: [String]
    /// Statements that fail if something is wrong, and queries that return a row if so.
    var checks: [String] = []
    /// The application's next version, which each device has at a time of its own.
    var upgrade: [String] = []
    /// Edits that only the next version makes.
    var laterEdits: [String] = []
    /// The group's map.
    var map = "{}"
    /// Whether the application has SQLite enforce references.
    var enforcesReferences = true

    static let all: [SimulatedSchema] = [
        lists, tree, cycle, unique, strange, search, noteBook, words,
    ]

    /// CASCADE, SET NULL and RESTRICT.
    static let lists = SimulatedSchema(
        name: "lists",
        sql: """
            CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT NOT NULL, note TEXT);
            CREATE TABLE shop (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT);
            CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, amount REAL DEFAULT 1,
                list_id INTEGER NOT NULL REFERENCES list(id) ON DELETE CASCADE,
                shop_id INTEGER REFERENCES shop(id) ON DELETE SET NULL);
            CREATE TABLE price (id INTEGER PRIMARY KEY, cents INTEGER,
                shop_id INTEGER NOT NULL REFERENCES shop(id) ON DELETE RESTRICT);
            """,
        edits: [
            "INSERT INTO list (name, note) VALUES (?t, ?t)",
            "INSERT INTO shop (name) VALUES (?t)",
            "INSERT INTO item (name, list_id, shop_id) VALUES (?t, ?r(list), ?r(shop))",
            "INSERT INTO item (name, list_id) VALUES (?t, ?r(list))",
            "INSERT INTO price (cents, shop_id) VALUES (?n, ?r(shop))",
            "UPDATE list SET name = ?t WHERE id = ?r(list)",
            "UPDATE list SET note = NULL WHERE id = ?r(list)",
            "UPDATE item SET amount = ?n WHERE id = ?r(item)",
            "UPDATE item SET name = ?t, shop_id = ?r(shop) WHERE id = ?r(item)",
            "UPDATE item SET list_id = ?r(list) WHERE id = ?r(item)",
            "UPDATE shop SET name = ?t WHERE id = ?r(shop)",
            "DELETE FROM item WHERE id = ?r(item)", "DELETE FROM list WHERE id = ?r(list)",
            "DELETE FROM shop WHERE id = ?r(shop)", "DELETE FROM price WHERE id = ?r(price)",
        ],
        tables: ["list", "shop", "item", "price"],
        upgrade: [
            "ALTER TABLE item ADD COLUMN aisle TEXT DEFAULT '?'",
            """
            CREATE TABLE coupon (id INTEGER PRIMARY KEY, name TEXT,
                shop_id INTEGER REFERENCES shop(id) ON DELETE SET NULL)
            """,
            "INSERT INTO coupon (name) VALUES ('default')",
        ],
        laterEdits: [
            "UPDATE item SET aisle = ?t WHERE id = ?r(item)",
            "INSERT INTO coupon (name, shop_id) VALUES (?t, ?r(shop))",
            "UPDATE coupon SET name = ?t WHERE id = ?r(coupon)",
            "DELETE FROM coupon WHERE id = ?r(coupon)",
        ]
    )

    /// A table that refers to itself.
    static let tree = SimulatedSchema(
        name: "tree",
        sql: """
            CREATE TABLE node (id INTEGER PRIMARY KEY, title TEXT, size INTEGER,
                parent_id INTEGER REFERENCES node(id) ON DELETE CASCADE);
            """,
        edits: [
            "INSERT INTO node (title) VALUES (?t)",
            "INSERT INTO node (title, parent_id) VALUES (?t, ?r(node))",
            "INSERT INTO node (title, size, parent_id) VALUES (?t, ?n, ?r(node))",
            "UPDATE node SET parent_id = ?r(node) WHERE id = ?r(node)",
            "UPDATE node SET title = ?t WHERE id = ?r(node)",
            "UPDATE node SET size = ?n WHERE id = ?r(node)", "DELETE FROM node WHERE id = ?r(node)",
        ],
        tables: ["node"],
        upgrade: ["ALTER TABLE node ADD COLUMN color INTEGER"],
        laterEdits: ["UPDATE node SET color = ?n WHERE id = ?r(node)"]
    )

    /// Tables that refer to each other.
    static let cycle = SimulatedSchema(
        name: "cycle",
        sql: """
            CREATE TABLE album (id INTEGER PRIMARY KEY, name TEXT,
                cover_id INTEGER REFERENCES photo(id) ON DELETE SET NULL);
            CREATE TABLE photo (id INTEGER PRIMARY KEY, caption TEXT,
                album_id INTEGER NOT NULL REFERENCES album(id) ON DELETE CASCADE);
            """,
        edits: [
            "INSERT INTO album (name) VALUES (?t)",
            "INSERT INTO photo (caption, album_id) VALUES (?t, ?r(album))",
            "UPDATE album SET cover_id = ?r(photo) WHERE id = ?r(album)",
            "UPDATE album SET name = ?t WHERE id = ?r(album)",
            "UPDATE photo SET album_id = ?r(album) WHERE id = ?r(photo)",
            "UPDATE photo SET caption = ?t WHERE id = ?r(photo)",
            "DELETE FROM photo WHERE id = ?r(photo)", "DELETE FROM album WHERE id = ?r(album)",
        ],
        tables: ["album", "photo"]
    )

    /// UNIQUE by NOCASE, by an expression, of a part, and of a reference.
    static let unique = SimulatedSchema(
        name: "unique",
        sql: """
            CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE UNIQUE, color INTEGER);
            CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, slug TEXT, is_open INTEGER DEFAULT 1,
                tag_id INTEGER REFERENCES tag(id) ON DELETE SET NULL, position INTEGER,
                UNIQUE (tag_id, position));
            CREATE UNIQUE INDEX note_open ON note (slug) WHERE is_open = 1;
            CREATE UNIQUE INDEX note_title ON note (lower(trim(title)));
            CREATE TABLE pin (note_id INTEGER NOT NULL REFERENCES note(id) ON DELETE CASCADE,
                place TEXT NOT NULL, PRIMARY KEY (note_id, place)) WITHOUT ROWID;
            """,
        edits: [
            "INSERT INTO tag (name, color) VALUES (?t, ?n)",
            "INSERT INTO note (title, slug) VALUES (?t, ?t)",
            "INSERT INTO note (title, tag_id, position) VALUES (?t, ?r(tag), ?n)",
            "INSERT INTO pin VALUES (?r(note), ?t)", "UPDATE tag SET name = ?t WHERE id = ?r(tag)",
            "UPDATE tag SET color = ?n WHERE id = ?r(tag)",
            "UPDATE note SET title = ?t WHERE id = ?r(note)",
            "UPDATE note SET slug = ?t, is_open = 1 WHERE id = ?r(note)",
            "UPDATE note SET is_open = 0 WHERE id = ?r(note)",
            "UPDATE note SET tag_id = ?r(tag), position = ?n WHERE id = ?r(note)",
            "DELETE FROM tag WHERE id = ?r(tag)", "DELETE FROM note WHERE id = ?r(note)",
            "DELETE FROM pin WHERE note_id = ?r(note)",
        ],
        tables: ["tag", "note", "pin"]
    )

    /// CHECK, STRICT, generated columns, keys of text, no rowid.
    static let strange = SimulatedSchema(
        name: "strange",
        sql: """
            CREATE TABLE setting (key TEXT PRIMARY KEY, value ANY) STRICT;
            CREATE TABLE reading (id INTEGER PRIMARY KEY, low INTEGER, high INTEGER,
                span INTEGER GENERATED ALWAYS AS (high - low) VIRTUAL, kept TEXT AS (low || '-' || high) STORED,
                CHECK (high IS NULL OR low IS NULL OR high >= low));
            CREATE TABLE pair (a TEXT, b TEXT, weight REAL, PRIMARY KEY (a, b)) WITHOUT ROWID;
            CREATE TABLE number (id INTEGER PRIMARY KEY, value);
            """,
        edits: [
            "INSERT OR REPLACE INTO setting VALUES (?t, ?n)",
            "UPDATE setting SET value = ?t WHERE key = ?t", "DELETE FROM setting WHERE key = ?t",
            "INSERT INTO reading (low, high) VALUES (?n, ?n)",
            "UPDATE reading SET low = ?n WHERE id = ?r(reading)",
            "UPDATE reading SET high = ?n WHERE id = ?r(reading)",
            "DELETE FROM reading WHERE id = ?r(reading)", "INSERT INTO pair VALUES (?t, ?t, ?n)",
            "UPDATE pair SET weight = ?n WHERE a = ?t", "UPDATE pair SET a = ?t WHERE b = ?t",
            "DELETE FROM pair WHERE a = ?t", "INSERT INTO number (value) VALUES (?n)",
            "INSERT INTO number (value) VALUES (1.0)",
            "UPDATE number SET value = 1 WHERE id = ?r(number)",
            "UPDATE number SET value = -0.0 WHERE id = ?r(number)",
            "UPDATE number SET value = upper(?t) WHERE id = ?r(number)",
            "UPDATE number SET value = lower(value) WHERE id = ?r(number)",
            "UPDATE number SET value = x'00ff' WHERE id = ?r(number)",
            // Long values travel as blobs.
            "UPDATE number SET value = hex(zeroblob(40000 + ?n)) WHERE id = ?r(number)",
            "INSERT INTO number (value) VALUES (zeroblob(70000 + ?n))",
        ],
        tables: ["setting", "reading", "pair", "number"]
    )

    /// A full-text index that triggers keep up, and a trigger that writes what syncs.
    static let search = SimulatedSchema(
        name: "search",
        sql: """
            CREATE TABLE page (id INTEGER PRIMARY KEY, title TEXT, body TEXT, edits INTEGER DEFAULT 0);
            CREATE VIRTUAL TABLE page_text USING fts5(title, body, content='page', content_rowid='id');
            CREATE TRIGGER page_insert AFTER INSERT ON page BEGIN
                INSERT INTO page_text (rowid, title, body) VALUES (new.id, new.title, new.body); END;
            CREATE TRIGGER page_delete AFTER DELETE ON page BEGIN
                INSERT INTO page_text (page_text, rowid, title, body)
                VALUES ('delete', old.id, old.title, old.body); END;
            CREATE TRIGGER page_update AFTER UPDATE OF title, body ON page BEGIN
                INSERT INTO page_text (page_text, rowid, title, body)
                VALUES ('delete', old.id, old.title, old.body);
                INSERT INTO page_text (rowid, title, body) VALUES (new.id, new.title, new.body); END;
            CREATE TRIGGER page_count AFTER UPDATE OF title ON page BEGIN
                UPDATE page SET edits = edits + 1 WHERE id = new.id; END;
            """,
        edits: [
            "INSERT INTO page (title, body) VALUES (?t, ?t)",
            "UPDATE page SET title = ?t WHERE id = ?r(page)",
            "UPDATE page SET body = ?t WHERE id = ?r(page)", "DELETE FROM page WHERE id = ?r(page)",
        ],
        tables: ["page"],
        checks: ["INSERT INTO page_text (page_text, rank) VALUES ('integrity-check', 1)"]
    )
}
