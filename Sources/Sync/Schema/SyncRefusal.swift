public import Files

/// A reason why a store does not sync at all until a person decides.
public enum SyncRefusal: ExplainedError, Equatable {
    /// The store's text is UTF-16.
    case encoding(String)
    /// The store belongs to Core Data, but does not list its entities.
    case coreData
    /// An index or a CHECK needs a collation of the application; the column is given if there is one.
    case collation(table: String, column: String?, collation: String)
    /// An index, a CHECK or a computed column needs a function of the application.
    case function(table: String, function: String)
    /// SQLite cannot write to a table for another reason.
    case unwritable(table: String, reason: String)
    /// A trigger writes both data that sync and data that do not.
    case mixedTrigger(String, writes: [String])
    /// A trigger that must run needs a part of the application.
    case strangeTrigger(String, needs: String)
    /// A number looks like a reference, and would be broken if it is one; the table is given if the name suggests
    /// one.
    case undeclaredReference(table: String, column: String, parent: String?)
    /// A reference leads to rows that do not sync: other devices do not know their numbers, or lack such a row.
    case referenceToLeftOut(table: String, column: String, parent: String, isByValue: Bool = false)
    /// The map says that a column refers to a table that does not exist, or that has no single number as key.
    case unknownReference(table: String, column: String, parent: String)
    /// The map identifies rows by a column that does not exist, or that is a number of this file alone.
    case identity(table: String, column: String)
    /// The map identifies rows by columns in which two rows are equal.
    case ambiguousIdentity(table: String, columns: [String])
    /// The map keeps a column on each device without which no row of another device can be inserted.
    case localWithoutDefault(table: String, column: String)
    /// Two tables, or two columns of one table, would have the same wire name.
    case sameName(String, other: String)
    /// With the new schema, a column names rows of another table than before, or of none.
    case otherReference(table: String, column: String, parent: String?, was: String?)
    /// The rows of a table that others refer to had numbers of SQLite's, and have other keys in the new schema.
    case otherKeys(parent: String, table: String, column: String)
    /// With the new schema, a table or a column is gone while another one like it has appeared.
    case renamed(table: String, column: String?, was: String)

    public var outcome: FailureOutcome {
        if case .renamed = self { .needsDecision } else { .failed }
    }

    public var description: String {
        switch self {
        case .encoding(let encoding): "the store's text is \(encoding), which does not sync"
        case .coreData: "the store is one of Core Data, and does not name its entities"
        case .collation(let table, let column, let collation):
            "'\(table)\(column.map { ".\($0)" } ?? "")' sorts by '\(collation)', which only the application has"
        case .function(let table, let function):
            "'\(table)' needs the function '\(function)', which only the application has"
        case .unwritable(let table, let reason): "'\(table)' cannot be written: \(reason)"
        case .mixedTrigger(let trigger, let writes):
            "the trigger '\(trigger)' writes what syncs, and what does not: "
                + writes.map { "'\($0)'" }.joined(separator: ", ")
        case .strangeTrigger(let trigger, let needs):
            "the trigger '\(trigger)' needs \(needs), which only the application has"
        case .undeclaredReference(let table, let column, _):
            "'\(table).\(column)' looks like a reference"
        case .referenceToLeftOut(let table, let column, let parent, _):
            "'\(table).\(column)' refers to '\(parent)', which does not sync"
        case .unknownReference(let table, let column, let parent):
            "the map says that '\(table).\(column)' refers to rows of '\(parent)', but there is no such table"
                + " with a single number as its key"
        case .identity(let table, let column):
            "the map identifies rows of '\(table)' by '\(column)', which is impossible"
        case .ambiguousIdentity(let table, let columns):
            "the map identifies rows of '\(table)' by \(columns.map { "'\($0)'" }.joined(separator: ", ")),"
                + " and two rows have the same values there"
        case .localWithoutDefault(let table, let column):
            "the map keeps '\(table).\(column)' local, which is NOT NULL without a default: rows of other devices lack it"
        case .sameName(let name, let other):
            "'\(name)' and '\(other)' would travel by the same name: the map says that one had the name of the"
                + " other"
        case .otherReference(let table, let column, let parent?, let was):
            "'\(table).\(column)' refers to '\(parent)' in the new schema, but was synced as a \(was.map { "reference to '\($0)'" } ?? "number")"
        case .otherReference(let table, let column, nil, let was):
            "'\(table).\(column)' is no reference in the new schema, but was synced as one to '\(was ?? "")'"
        case .otherKeys(let parent, let table, let column):
            "the rows of '\(parent)', which '\(table).\(column)' names, have keys of another kind in the new schema"
        case .renamed(let table, let column, let was): Self.question(table, column, was)
        }
    }

    private static func question(_ table: String, _ column: String?, _ was: String) -> String {
        let name = column.map { "\(table).\($0)" } ?? table
        return was == column ?? table
            ? "the map says that '\(name)' had another name, but it synced under this one"
            : "is '\(name)' the \(column == nil ? "table" : "column") '\(was)', which is gone?"
    }

    public var hint: String? {
        isSettledByMap
            ? "\(remedy): print it with 'grocerydude sync map > map.json', and publish it with 'grocerydude sync seed --map map.json'"
            : remedy
    }

    /// Returns the advice on several refusals, and how a map is named if one helps.
    public static func hint(on refusals: [SyncRefusal]) -> String? {
        func remedies(_ isOfMap: Bool) -> [String] {
            refusals.filter { $0.isSettledByMap == isOfMap }.map(\.remedy)
                .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        }
        let ofMap = remedies(true).joined(separator: "; ")
        let parts =
            remedies(false)
            + (ofMap.isEmpty ? [] : ["\(ofMap), and name its file with '--map FILE'"])
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    /// Whether a map can say what is missing.
    private var isSettledByMap: Bool {
        switch self {
        case .encoding, .coreData, .otherKeys: false
        case .collation, .function, .unwritable, .mixedTrigger, .strangeTrigger,
            .undeclaredReference, .referenceToLeftOut, .unknownReference, .identity,
            .ambiguousIdentity, .localWithoutDefault, .sameName, .otherReference, .renamed:
            true
        }
    }

    private var remedy: String {
        switch self {
        case .encoding:
            "rewrite it while its application is closed: sqlite3 OLD '.dump --preserve-rowids' | sqlite3 NEW;"
                + " then set 'PRAGMA user_version' as it was"
        case .coreData: "open it with its application once"
        case .collation(let table, _, _), .function(let table, _), .unwritable(let table, _):
            "leave '\(table)' out with 'exclude' in the map"
        case .mixedTrigger(let trigger, _):
            #"say in the map whether changes of others run it: {"triggers": {"\#(trigger)": "run"}}, or "skip""#
        case .strangeTrigger(let trigger, _):
            #"say in the map: {"triggers": {"\#(trigger)": "skip"}}"#
        case .undeclaredReference(let table, let column, let parent):
            #"say in the map: {"tables": {"\#(table)": {"references": {"\#(column)": "\#(parent ?? "TABLE")"}}}}, or "none" if it is no reference"#
        case .referenceToLeftOut(let table, _, let parent, isByValue: false):
            "name the identity of '\(parent)' in the map, or leave '\(table)' out as well"
        case .referenceToLeftOut(let table, let column, let parent, isByValue: true):
            "let '\(parent)' sync, or leave '\(table)' out as well; if rows do not need their '\(parent)', say so in"
                + #" the map: {"tables": {"\#(table)": {"references": {"\#(column)": "none"}}}}"#
        case .unknownReference: "name a table that it has, or say 'none' if it is no reference"
        case .identity: "name columns that it has, and that mean the same everywhere"
        case .ambiguousIdentity: "name columns that differ in all rows, or make one row of the two"
        case .localWithoutDefault(_, let column):
            "take '\(column)' out of 'local' in the map, or give it a default in the schema"
        case .sameName: "take 'was' out of the map, unless the old name is gone from the store"
        case .otherReference(let table, let column, let parent, let was):
            #"say in the map: {"tables": {"\#(table)": {"references": {"\#(column)": "\#(parent ?? was ?? "TABLE")"}}}}"#
        case .otherKeys:
            "leave the group with 'grocerydude sync disable', begin another one with 'grocerydude sync enable --group NAME', and join it on the other devices with copies of this store"
        case .renamed(let table, nil, let was):
            #"say in the map: {"tables": {"\#(table)": {"was": "\#(was)"}}}, or "\#(table)" if it is new"#
        case .renamed(let table, let column?, let was):
            #"say in the map: {"tables": {"\#(table)": {"columns": {"\#(column)": {"was": "\#(was)"}}}}}, or "\#(column)" if it is new"#
        }
    }
}
