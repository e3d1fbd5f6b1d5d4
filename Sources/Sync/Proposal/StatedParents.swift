internal import Files
internal import Stores

/// The parents of columns that a store states without a declaration: a trigger looks for their rows, or a column has the
/// name of a table's key.
struct StatedParents {
    /// A statement.
    struct Statement {
        var parent: SyncTable
        var evidence: String
    }

    /// The names of keys that do not name their table.
    private static let generic: Set<String> = [
        "_id", "guid", "id", "key", "nid", "nr", "num", "number", "oid", "pid", "pk", "rowid",
        "uid",
    ]
    /// The longest text of a trigger that is read: the search in it takes the square of its length.
    private static let longest = 4_000

    private var looked: [SchemaProbe.Column: Statement] = [:]
    private var keys: [(name: String, table: SyncTable)] = []

    /// - Parameters:
    ///   - parents: the tables with own numbers.
    ///   - triggers: the store's triggers.
    init(among parents: [SyncTable], _ triggers: [SyncTrigger]) {
        for parent in parents {
            guard let key = parent.keyName?.text, !Self.generic.contains(key),
                !ReferenceSearch.isMeasure(key)
            else { continue }
            keys.append((key, parent))
        }
        let names = Dictionary(grouping: keys, by: \.name)
        keys = keys.filter { names[$0.name]?.count == 1 }.sorted { $0.name.count > $1.name.count }
        for trigger in triggers { read(trigger, parents) }
    }

    /// Returns the statement about a column; `nil` if there is none.
    func parent(of column: String, in table: SyncTable) -> Statement? {
        let name = column.foldedIdentifier
        let place = SchemaProbe.Column(table: table.name.foldedIdentifier, name: name)
        if let found = looked[place] { return found }
        // 'toaccountid' ends with 'accountid'.
        let key = keys.first {
            let isOfKey = $0.name.hasPrefix("id") || $0.name.hasSuffix("id")
            return name.text == $0.name
                || isOfKey && $0.name.count > 4 && name.text.hasSuffix($0.name)
        }
        guard let key else { return nil }
        return Statement(
            parent: key.table,
            evidence: "the key of '\(key.table.name)' is called '\(key.name)'"
        )
    }

    /// Reads which rows a trigger looks for: 'FROM parent WHERE id = NEW.column', 'FROM child WHERE column = OLD.id'.
    private mutating func read(_ trigger: SyncTrigger, _ parents: [SyncTable]) {
        guard trigger.sql.utf8.count <= Self.longest else { return }
        // Between the table and its condition there is no other table.
        let pattern =
            #/
            \b(?:from|update)\s+["`\[]?(\w+)["`\]]?\s(?:(?!\b(?:from|join|select)\b)[^;])*?\bwhere\s+
            (?:(\w+)\.)?["`\[]?(\w+)["`\]]?\s*==?\s*(?:new|old)\.["`\[]?(\w+)
            /#.ignoresCase()
        let own = trigger.table.foldedIdentifier
        for match in trigger.sql.matches(of: pattern) {
            let (table, column, other) = (
                String(match.1).foldedIdentifier, String(match.3).foldedIdentifier,
                String(match.4).foldedIdentifier
            )
            if let qualifier = match.2, String(qualifier).foldedIdentifier != table { continue }
            for (parent, key, child) in [
                (table, column, SchemaProbe.Column(table: own, name: other)),
                (own, other, SchemaProbe.Column(table: table, name: column)),
            ] {
                let found = parents.first { $0.name.foldedIdentifier == parent }
                guard let found, found.keyName == key, child.name != key || child.table != parent
                else { continue }
                looked[child] = Statement(
                    parent: found,
                    evidence: "the trigger '\(trigger.name)' looks for it there"
                )
            }
        }
    }
}

extension SyncTable {
    /// The name of the key that SQLite gives out, in ASCII lower case.
    fileprivate var keyName: ExactString? {
        schema.rowIDAlias.map { schema.columns[$0].name.foldedIdentifier }
    }
}
