// Keys that the application changes.
extension SimulatedSchema {
    /// Numbers and texts that rows follow, alone, in keys of their own, and in a tree.
    static let keys = SimulatedSchema(
        name: "keys",
        sql: """
            CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT, note TEXT, rank INTEGER,
                parent INTEGER REFERENCES list(id) ON UPDATE CASCADE ON DELETE SET NULL);
            CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, amount INTEGER,
                list INTEGER NOT NULL REFERENCES list(id) ON UPDATE CASCADE ON DELETE CASCADE);
            CREATE TABLE remark (id INTEGER PRIMARY KEY REFERENCES list(id) ON UPDATE CASCADE ON DELETE CASCADE,
                text TEXT);
            CREATE TABLE tag (name TEXT PRIMARY KEY COLLATE NOCASE, color TEXT, rank INTEGER);
            CREATE TABLE tagged (list INTEGER NOT NULL REFERENCES list(id) ON UPDATE CASCADE ON DELETE CASCADE,
                tag TEXT NOT NULL REFERENCES tag(name) ON UPDATE CASCADE ON DELETE CASCADE,
                PRIMARY KEY (list, tag)) WITHOUT ROWID;
            CREATE TABLE label (id INTEGER PRIMARY KEY, name TEXT UNIQUE, text TEXT);
            CREATE TABLE line (text TEXT, amount INTEGER);
            """,
        edits: [
            "INSERT INTO list (name, rank) VALUES (?t, ?n)",
            "INSERT INTO list (name, note, parent) VALUES (?t, ?t, ?r(list))",
            "INSERT INTO item (name, list) VALUES (?t, ?r(list))",
            "INSERT INTO item (name, amount, list) VALUES (?t, ?n, ?r(list))",
            "INSERT INTO remark VALUES (?r(list), ?t)", "INSERT INTO tag VALUES (?t, ?t, ?n)",
            "INSERT INTO tagged VALUES (?r(list), ?t)", "INSERT INTO line VALUES (?t, ?n)",
            "UPDATE list SET name = ?t WHERE id = ?r(list)",
            "UPDATE list SET rank = ?n WHERE id = ?r(list)",
            "UPDATE list SET parent = ?r(list) WHERE id = ?r(list)",
            "UPDATE item SET name = ?t WHERE id = ?r(item)",
            "UPDATE item SET list = ?r(list) WHERE id = ?r(item)",
            "UPDATE remark SET text = ?t WHERE id = ?r(remark)",
            "UPDATE tag SET color = ?t WHERE name = ?t",
            "UPDATE line SET amount = ?n WHERE rowid = ?r(line)",
            "DELETE FROM list WHERE id = ?r(list)", "DELETE FROM item WHERE id = ?r(item)",
            "DELETE FROM tag WHERE name = ?t", "DELETE FROM line WHERE rowid = ?r(line)",
            "REPLACE INTO label (name, text) VALUES (?t, ?t)",
            "UPDATE label SET text = ?t WHERE id = ?r(label)",
            "UPDATE tag SET name = ?t WHERE name = ?t",
            "UPDATE list SET id = id + 10 * ?n WHERE id = ?r(list)",
            "UPDATE list SET id = -1 - id; UPDATE list SET id = -id",
            "UPDATE list SET id = -id; UPDATE list SET id = (SELECT count(*) FROM list l WHERE l.id >= list.id)",
            "UPDATE item SET id = -1 - id; UPDATE item SET id = -id",
            "UPDATE label SET id = id + 10 * ?n WHERE id = ?r(label)", "VACUUM",
        ],
        tables: ["list", "item", "remark", "tag", "tagged", "label", "line"]
    )
}
