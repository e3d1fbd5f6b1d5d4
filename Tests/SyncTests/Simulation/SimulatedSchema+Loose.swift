// References that nobody enforces.
extension SimulatedSchema {
    /// References of another type and by another collation than the key, composite ones, roots that point at 0, and
    /// values that name no row.
    static let loose = SimulatedSchema(
        name: "loose",
        sql: """
            CREATE TABLE folder (id INTEGER PRIMARY KEY, name TEXT NOT NULL,
                parent_id INTEGER NOT NULL DEFAULT 0 REFERENCES folder(id));
            CREATE TABLE unit (name TEXT PRIMARY KEY COLLATE NOCASE, factor INTEGER);
            CREATE TABLE month (y INTEGER, m INTEGER, title TEXT, PRIMARY KEY (y, m));
            CREATE TABLE entry (id INTEGER PRIMARY KEY, title TEXT, folder_id TEXT REFERENCES folder(id),
                unit REFERENCES unit(name), y INTEGER, m REAL,
                FOREIGN KEY (y, m) REFERENCES month ON DELETE CASCADE);
            """,
        edits: [
            "INSERT INTO folder (name) VALUES (?t)",
            "INSERT INTO folder (name, parent_id) VALUES (?t, ?n)",
            "INSERT INTO folder (name, parent_id) VALUES (?t, coalesce(?r(folder), -1))",
            "INSERT OR IGNORE INTO unit VALUES (?t, ?n)",
            "INSERT OR IGNORE INTO month VALUES (?n, ?n, ?t)",
            "INSERT INTO entry (title, folder_id, unit) VALUES (?t, ?r(folder), upper(?t))",
            "INSERT INTO entry (title, folder_id, y, m) VALUES (?t, 'none', ?n, ?n)",
            "UPDATE folder SET parent_id = 0 WHERE id = ?r(folder)",
            "UPDATE folder SET name = ?t WHERE id = ?r(folder)",
            "UPDATE entry SET folder_id = ?n WHERE id = ?r(entry)",
            "UPDATE entry SET folder_id = ?r(folder), unit = ?t WHERE id = ?r(entry)",
            "UPDATE entry SET y = ?n, m = ?n WHERE id = ?r(entry)",
            "UPDATE unit SET factor = ?n WHERE name = ?t",
            "DELETE FROM folder WHERE id = ?r(folder)",
            "DELETE FROM unit WHERE name = ?t", "DELETE FROM month WHERE y = ?n AND m = ?n",
            "DELETE FROM entry WHERE id = ?r(entry)",
        ],
        tables: ["folder", "unit", "month", "entry"],
        enforcesReferences: false
    )
}
