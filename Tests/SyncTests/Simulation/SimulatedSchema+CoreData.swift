import Foundation
import TestSupport

extension SimulatedSchema {
    /// Those that histories are of: all, or the one that `GROCERYDUDE_SIMULATION_SCHEMA` names.
    static let chosen: [SimulatedSchema] = {
        let name = ProcessInfo.processInfo.environment["GROCERYDUDE_SIMULATION_SCHEMA"]
        return (all + [named, loose, keys]).filter { $0.name == name }
    }()
}

// An application with Core Data.
extension SimulatedSchema {
    /// Inserts an object as Core Data does, which never gives a key out twice.
    private static func insert(
        _ entity: String,
        root: String,
        _ columns: String,
        _ values: String
    ) -> String {
        """
        INSERT INTO Z\(root.uppercased()) (Z_PK, Z_ENT, Z_OPT, \(columns)) SELECT r.Z_MAX + 1, e.Z_ENT, 1, \(values)
        FROM Z_PRIMARYKEY e, Z_PRIMARYKEY r WHERE e.Z_NAME = '\(entity)' AND r.Z_NAME = '\(root)';
        UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_NAME = '\(root)'
        """
    }

    /// What goes along with an item, by the name of the table that joins it to tags.
    private static func withoutJoins(_ table: String, item: Int) -> String {
        """
        DELETE FROM \(table) WHERE Z_\(item)ITEMS NOT IN (SELECT Z_PK FROM ZITEM)
        OR Z_\(item + 1)TAGS NOT IN (SELECT Z_PK FROM ZTAG)
        """
    }

    /// Edits by the numbers of one version of the model; those of another fail.
    private static func edits(item: Int) -> [String] {
        let joins = "Z_\(item)TAGS"
        let shop = "Z\(item + 2)_SHOP"
        let gone = withoutJoins(joins, item: item)
        return [
            "INSERT OR IGNORE INTO \(joins) SELECT i.Z_PK, t.Z_PK, ?n FROM ZITEM i, ZTAG t WHERE i.Z_PK = ?r(ZITEM) AND t.Z_PK = ?r(ZTAG)",
            "UPDATE \(joins) SET Z_FOK_\(item)ITEMS = ?n WHERE rowid = ?r(\(joins))",
            "DELETE FROM \(joins) WHERE rowid = ?r(\(joins))",
            """
            UPDATE ZITEM SET (ZSHOP, \(shop)) = (SELECT Z_PK, Z_ENT FROM ZPLACE WHERE Z_PK = ?r(ZPLACE)), Z_OPT = Z_OPT + 1
            WHERE Z_PK = ?r(ZITEM)
            """,
            "DELETE FROM ZITEM WHERE Z_PK = ?r(ZITEM); \(gone)",
            "DELETE FROM ZTAG WHERE Z_PK = ?r(ZTAG); \(gone)",
            "DELETE FROM ZLIST WHERE Z_PK = ?r(ZLIST); DELETE FROM ZITEM WHERE ZLIST IS NOT NULL AND ZLIST NOT IN (SELECT Z_PK FROM ZLIST); \(gone)",
            """
            DELETE FROM ZPLACE WHERE Z_PK = ?r(ZPLACE);
            UPDATE ZITEM SET ZSHOP = NULL, \(shop) = NULL WHERE ZSHOP NOT IN (SELECT Z_PK FROM ZPLACE)
            """,
        ]
    }

    private static func isNever(_ query: String) -> String {
        """
        CREATE TEMP TABLE wrong (count CHECK (count = 0)); INSERT INTO wrong SELECT count(*) FROM \(query);
        DROP TABLE wrong
        """
    }

    /// Entities and subentities, a cascade, a join with an order, and a model whose numbers change.
    static let noteBook = SimulatedSchema(
        name: "note book",
        sql: NoteBook.first.schema,
        edits: edits(item: 2) + [
            insert("List", root: "List", "ZNAME", "?t"), insert("Tag", root: "Tag", "ZNAME", "?t"),
            insert("Item", root: "Item", "ZNAME, ZLIST", "?t, ?r(ZLIST)"),
            insert("Item", root: "Item", "ZNAME, ZAMOUNT", "?t, ?n"),
            insert("Shop", root: "Place", "ZTITLE, ZNOTE", "?t, ?t"),
            insert("Market", root: "Place", "ZTITLE, ZNOTE1", "?t, ?t"),
            "UPDATE ZITEM SET ZNAME = ?t, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?r(ZITEM)",
            "UPDATE ZITEM SET ZLIST = ?r(ZLIST), Z_OPT = Z_OPT + 1 WHERE Z_PK = ?r(ZITEM)",
            "UPDATE ZITEM SET ZPHOTO = zeroblob(30 + ?n), Z_OPT = Z_OPT + 1 WHERE Z_PK = ?r(ZITEM)",
            "UPDATE ZITEM SET ZPHOTO = ?f, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?r(ZITEM)",
            "UPDATE ZPLACE SET ZTITLE = ?t, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?r(ZPLACE)",
            "UPDATE ZPLACE SET ZNOTE = ?t WHERE Z_PK = ?r(ZPLACE) AND ZNOTE IS NOT NULL",
        ],
        tables: ["ZLIST", "ZITEM", "ZTAG", "ZPLACE"],
        checks: [
            isNever("ZITEM WHERE ZLIST IS NOT NULL AND ZLIST NOT IN (SELECT Z_PK FROM ZLIST)"),
            isNever("ZITEM i JOIN ZPLACE p ON p.Z_PK = i.ZSHOP WHERE p.Z_ENT IS NOT i.Z5_SHOP"),
            isNever("ZITEM WHERE ZSHOP IS NULL AND Z5_SHOP IS NOT NULL"),
            isNever(
                "Z_3TAGS WHERE Z_3ITEMS NOT IN (SELECT Z_PK FROM ZITEM) OR Z_4TAGS NOT IN (SELECT Z_PK FROM ZTAG)"
            ),
            isNever(
                "Z_PRIMARYKEY WHERE Z_NAME = 'Item' AND Z_MAX < (SELECT max(Z_PK) FROM ZITEM)"
            ),
        ],
        upgrade: [NoteBook.migration],
        laterEdits: edits(item: 3) + [
            "UPDATE ZITEM SET ZAISLE = ?t, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?r(ZITEM)"
        ]
    )
}
