internal import Changes
internal import Foundation
internal import GRDB

/// The tables of a sidecar.
///
/// `row` has the state: all that is known of each row. A row that the store shows has the shadow beside it: the store's
/// content at the last look, with its local key. They differ by changes that have arrived and are not written yet.
enum SidecarSchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            try database.execute(sql: tables)
        }
        migrator.registerMigration("2") { database in
            try database.execute(sql: bulk)
        }
        migrator.registerMigration("3") { database in
            try database.execute(sql: companions)
        }
        return migrator
    }

    /// Ranges of new rows, by the rowids of `row`; see `BulkRows`.
    private static let bulk = """
        CREATE TABLE bulk (lo INTEGER PRIMARY KEY, hi INTEGER NOT NULL, t INTEGER NOT NULL,
            written INTEGER NOT NULL DEFAULT 0);
        """

    /// The data of this device alone that went with rows which are not in the store; see `Companion`.
    private static let companions = """
        CREATE TABLE companion (n INTEGER PRIMARY KEY, id BLOB NOT NULL, name TEXT NOT NULL, links BLOB NOT NULL,
            h BLOB NOT NULL, cells BLOB NOT NULL, emptied INTEGER NOT NULL);
        CREATE INDEX companion_id ON companion (id);
        """

    /// The table that exists as long as a connection: the rows of a long look, in the order of their computation.
    static let passing = "CREATE TEMP TABLE look (n INTEGER PRIMARY KEY, id BLOB NOT NULL)"

    /// The SQL function that returns a row's hint if it is an integer, and otherwise NULL.
    static let hintNumber = DatabaseFunction("hint_number", argumentCount: 1, pure: true) {
        guard let bytes = Data.fromDatabaseValue($0[0]) else { return nil }
        return bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard case .integer(let number)? = try? reader.value() else { return nil }
            return number
        }
    }

    private static let tables = """
        CREATE TABLE meta (k TEXT PRIMARY KEY, v) WITHOUT ROWID;
        -- Short numbers for what is in every row.
        CREATE TABLE device (n INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, name TEXT,
            sequence INTEGER NOT NULL DEFAULT 0, clock INTEGER NOT NULL DEFAULT 0,
            wall INTEGER NOT NULL DEFAULT 0, told INTEGER NOT NULL DEFAULT 0,
            was BLOB, gone INTEGER NOT NULL DEFAULT 0);
        -- alive, dead: how many of its rows are known; nobody counts them at each run. nameless: how many rows of the
        -- store do not sync, since their key is NULL.
        CREATE TABLE tab (t INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, seeded INTEGER NOT NULL DEFAULT 0,
            alive INTEGER NOT NULL DEFAULT 0, dead INTEGER NOT NULL DEFAULT 0,
            nameless INTEGER NOT NULL DEFAULT 0);
        CREATE TABLE col (c INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE);
        -- stamp: the birth of a row that is alive, the delete of one that is not; NULL for no birth yet.
        -- Ids are in no order. With rowids, only pages of a small index are written at random.
        -- cl: 0 if nothing is known of a row that the store shows. h: the local key of a row that the store shows,
        -- with the causal length of what is shown.
        CREATE TABLE row (id BLOB NOT NULL UNIQUE, t INTEGER NOT NULL, cl INTEGER NOT NULL,
            clock INTEGER, device INTEGER, hint BLOB, body BLOB NOT NULL, h BLOB, length INTEGER, image BLOB);
        CREATE UNIQUE INDEX row_key ON row (t, h) WHERE h IS NOT NULL;
        CREATE VIEW shown AS SELECT id, t, cl, clock, device, hint, body, h, length, image FROM row
            WHERE h IS NOT NULL;
        -- The local keys of deleted rows: one that comes back finds its id again. content: a hash of what was there.
        CREATE TABLE key (t INTEGER, h BLOB, id BLOB NOT NULL UNIQUE, content BLOB, PRIMARY KEY (t, h))
            WITHOUT ROWID;
        CREATE TABLE leaf (t INTEGER, lo INTEGER, hi INTEGER NOT NULL, hash INTEGER NOT NULL,
            PRIMARY KEY (t, lo)) WITHOUT ROWID;
        -- words: SQLite's, if it refuses the row.
        CREATE TABLE held (id BLOB PRIMARY KEY, t INTEGER NOT NULL, why TEXT NOT NULL, key BLOB, words TEXT)
            WITHOUT ROWID;
        CREATE TABLE refusal (id BLOB PRIMARY KEY, words TEXT NOT NULL) WITHOUT ROWID;
        CREATE INDEX held_key ON held (key);
        -- A row that is one with a row that the store shows is shown.
        CREATE VIEW unshown AS SELECT id, t, why, key, words FROM held
            WHERE why <> 'same' OR key NOT IN (SELECT id FROM shown);
        -- waits: it was looked at in this run, and what it needs is not here.
        CREATE TABLE dirty (id BLOB PRIMARY KEY, waits INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
        -- Rows whose state, or whose shadow, is another since the view was computed.
        CREATE TABLE altered (id BLOB PRIMARY KEY) WITHOUT ROWID;
        -- What rows depend on, unless the store or their being held shows it; see RowTie.
        CREATE TABLE tie (other BLOB, id BLOB, kind INTEGER, PRIMARY KEY (other, id, kind)) WITHOUT ROWID;
        CREATE INDEX tie_id ON tie (id);
        -- What tables showed that the map leaves out, should they be taken in again.
        CREATE TABLE parked (t INTEGER, h BLOB, id BLOB NOT NULL, cl INTEGER NOT NULL, image BLOB NOT NULL,
            PRIMARY KEY (t, h)) WITHOUT ROWID;
        CREATE TABLE intent (n INTEGER PRIMARY KEY, t INTEGER, h BLOB, id BLOB NOT NULL, cl INTEGER NOT NULL,
            old BLOB, new BLOB);
        CREATE TABLE seen (id BLOB PRIMARY KEY, name TEXT NOT NULL, size INTEGER NOT NULL, kind INTEGER NOT NULL,
            device INTEGER, sequence INTEGER, clock INTEGER NOT NULL DEFAULT 0, heard INTEGER NOT NULL DEFAULT 0,
            at INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX seen_name ON seen (name, size);
        CREATE INDEX seen_device ON seen (device, sequence);
        CREATE TABLE copy (name TEXT, size INTEGER, PRIMARY KEY (name, size)) WITHOUT ROWID;
        CREATE TABLE waiting (name TEXT PRIMARY KEY, size INTEGER NOT NULL, since INTEGER NOT NULL,
            tried INTEGER NOT NULL, reason TEXT NOT NULL, kind INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
        -- idle: since when no row is known to refer to a long value.
        CREATE TABLE mine (id BLOB PRIMARY KEY, name TEXT NOT NULL, folder TEXT NOT NULL, size INTEGER NOT NULL,
            published INTEGER, changes INTEGER NOT NULL DEFAULT 0, idle INTEGER, removed INTEGER)
            WITHOUT ROWID;
        -- What sync took out of the store, and edits that lost. A cell has c, won and lost; a row has its cells.
        -- settled: 0 as long as it is unknown whether the write that takes it out has happened.
        CREATE TABLE removed (n INTEGER PRIMARY KEY, at INTEGER NOT NULL, t INTEGER NOT NULL, id BLOB NOT NULL,
            c INTEGER, kind TEXT NOT NULL, won BLOB, lost BLOB, won_by INTEGER, lost_by INTEGER, cells BLOB,
            conflict INTEGER NOT NULL DEFAULT 0, settled INTEGER NOT NULL DEFAULT 1);
        CREATE INDEX removed_id ON removed (id);
        CREATE INDEX removed_pending ON removed (id) WHERE settled = 0;
        CREATE VIEW conflict AS SELECT n, at, t, id, c, kind, won, lost, won_by, lost_by FROM removed
            WHERE conflict = 1;
        -- Files that values named before they were there, by their paths below the stores directory.
        CREATE TABLE awaited (directory BLOB, path BLOB, PRIMARY KEY (directory, path)) WITHOUT ROWID;
        -- References that are shown empty, since the row that they name is not shown.
        CREATE TABLE emptied (id BLOB, c INTEGER, PRIMARY KEY (id, c)) WITHOUT ROWID;
        -- The values of rows that were deleted elsewhere while they were edited here.
        CREATE TABLE lost (id BLOB, c INTEGER, value BLOB NOT NULL, PRIMARY KEY (id, c)) WITHOUT ROWID;
        -- How far a device had heard this one, under any of its ids, when its clock was so far.
        CREATE TABLE word (device INTEGER, clock INTEGER, own INTEGER, heard INTEGER NOT NULL,
            PRIMARY KEY (device, own, clock)) WITHOUT ROWID;
        -- Files that replace others; at: when all parts were first known to be there.
        CREATE TABLE baseline (id BLOB PRIMARY KEY, name TEXT NOT NULL, parts BLOB NOT NULL, covers BLOB NOT NULL,
            at INTEGER) WITHOUT ROWID;
        """
}
