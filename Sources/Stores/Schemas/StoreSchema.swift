public import Files

/// The tables of a store in one transaction.
public struct StoreSchema: Equatable, Sendable {
    /// The tables in the order of their names' bytes, without SQLite's own (`sqlite_…`).
    public let tables: [TableSchema]
    /// The counter of schema changes (https://www.sqlite.org/pragma.html#pragma_schema_version).
    public let version: Int64
    /// The encoding of text: `UTF-8`, `UTF-16le` or `UTF-16be`.
    public let encoding: String

    /// The SHA-256 of all tables' canonical texts.
    public var digest: Digest {
        let text = tables.map(\.canonicalText).joined()
        return Array(text.utf8).withUnsafeBytes { Digest(of: $0) }
    }

    /// Whether the store belongs to Core Data, which keeps its numbers and its model in tables of its own.
    public var isCoreData: Bool { table("Z_METADATA") != nil && table("Z_PRIMARYKEY") != nil }

    /// Returns the table with a name, regardless of the case of ASCII letters.
    public func table(_ name: String) -> TableSchema? { table(name.foldedIdentifier) }

    /// Returns the table with a name in ASCII lower case.
    public func table(_ folded: ExactString) -> TableSchema? {
        tables.first { $0.name.foldedIdentifier == folded }
    }

    /// Returns the virtual table that keeps its data in a table; `nil` if it is unknown.
    public func virtualTable(ofShadow name: String) -> TableSchema? {
        let name = name.foldedIdentifier
        return tables.filter {
            $0.kind == .virtual && name.hasPrefix("\($0.name)_".foldedIdentifier)
        }.max { $0.name.utf8.count < $1.name.utf8.count }
    }
}

/// A table, a virtual table or a view.
public struct TableSchema: Equatable, Sendable {
    /// The kinds of tables and views.
    public enum Kind: String, Sendable {
        case table, view, virtual
        /// A table in which a virtual table keeps its data.
        case shadow
    }

    public let name: String
    public let kind: Kind
    /// Whether its columns accept only values of their types (https://www.sqlite.org/stricttables.html).
    public let isStrict: Bool
    public let isWithoutRowID: Bool
    /// Whether it never assigns a number again (https://www.sqlite.org/autoinc.html).
    public let isAutoincrement: Bool
    /// The first page of its b-tree; 0 if it has none.
    public let rootPage: Int64
    /// The statement that created it.
    public let sql: String
    /// The columns in the table's order, including hidden and generated ones.
    ///
    /// It is empty for a virtual table whose module is missing, and for a broken view.
    public let columns: [ColumnSchema]
    /// The indices in `columns` of the primary key's columns, in the key's order; empty if there is no key.
    public let primaryKey: [Int]
    /// The index of the column that is another name of the rowid (INTEGER PRIMARY KEY).
    public let rowIDAlias: Int?
    public internal(set) var indexes: [IndexSchema]
    public let references: [ReferenceSchema]
    /// The triggers, in the order of their names' bytes.
    public let triggers: [TriggerSchema]

    /// Returns the index of the column with a name, regardless of the case of ASCII letters.
    public func column(_ name: String) -> Int? { column(name.foldedIdentifier) }

    /// Returns the index of the column with a name in ASCII lower case.
    public func column(_ folded: ExactString) -> Int? {
        columns.firstIndex { $0.name.foldedIdentifier == folded }
    }

    /// Returns the table as if it had a UNIQUE constraint on columns, compared byte for byte.
    ///
    /// SQLite does not know that constraint. No index of a store can have a name with this prefix
    /// (https://www.sqlite.org/fileformat2.html, 2.6).
    package func unique(by places: [Int]) -> TableSchema {
        let keys = places.map {
            IndexSchema.Key(
                column: $0,
                isExpression: false,
                collation: "BINARY",
                isDescending: false
            )
        }
        var table = self
        table.indexes.append(
            IndexSchema(
                name: IndexSchema.assumedName,
                isUnique: true,
                isPartial: false,
                origin: .unique,
                keys: keys,
                sql: nil
            )
        )
        return table
    }

    /// The indices of the columns with stored values that are not computed.
    public var storedColumns: [Int] {
        columns.indices.filter { columns[$0].kind == .stored }
    }
}

/// A column of a table.
public struct ColumnSchema: Equatable, Sendable {
    /// The source of a column's values.
    public enum Kind: Int, Sendable {
        case stored = 0
        /// The column belongs to a virtual table, and is not in `SELECT *`.
        case hidden = 1
        /// The value is computed when it is read.
        case generated = 2
        /// The value is computed when the row is written.
        case generatedStored = 3
    }

    /// The conversion of values in a column (https://www.sqlite.org/datatype3.html, 3).
    public enum Affinity: String, Sendable {
        case integer, real, numeric, text, blob
    }

    /// The value of a column in a row that gives none.
    public enum Default: Equatable, Sendable {
        /// The same value each time; NULL if no default is declared.
        case constant(StoredValue)
        /// The text of an expression, whose value may differ each time. It is not evaluated.
        case expression(String)
    }

    public let name: String
    /// The declared type; empty if there is none.
    public let declaredType: String
    public let affinity: Affinity
    /// The collation of its texts: `BINARY`, `NOCASE`, `RTRIM`, or one of the application's.
    public let collation: String
    public let isNotNull: Bool
    public let defaultValue: Default
    public let kind: Kind

    public var isGenerated: Bool { kind == .generated || kind == .generatedStored }
}

/// An index of a table.
public struct IndexSchema: Equatable, Sendable {
    /// The origin of an index.
    public enum Origin: String, Sendable {
        case statement = "c"
        case unique = "u"
        case primaryKey = "pk"
    }

    /// A column, or an expression, by which an index sorts.
    public struct Key: Equatable, Sendable {
        /// The index of the column in the table; `nil` for an expression and for the rowid.
        public let column: Int?
        public let isExpression: Bool
        public let collation: String
        public let isDescending: Bool
    }

    public let name: String
    public let isUnique: Bool
    public let isPartial: Bool
    public let origin: Origin
    public let keys: [Key]
    /// The statement that created it; `nil` if a constraint of the table did.
    public let sql: String?

    fileprivate static let assumedName = "sqlite_assumed"

    /// Whether the store has no such index, so that searches by it read the whole table.
    package var isAssumed: Bool { name == Self.assumedName }
}

/// A foreign key (https://www.sqlite.org/foreignkeys.html).
public struct ReferenceSchema: Equatable, Sendable {
    /// The effect on the row when its parent is deleted, or its parent's key changes.
    public enum Action: String, Sendable {
        case none = "NO ACTION"
        case restrict = "RESTRICT"
        case setNull = "SET NULL"
        case setDefault = "SET DEFAULT"
        case cascade = "CASCADE"
    }

    /// The indices of its columns in the table.
    public let columns: [Int]
    /// The table that it refers to, which need not exist.
    public let parent: String
    /// The columns that it refers to; `nil` for the parent's primary key.
    public let parentColumns: [String]?
    public let onUpdate: Action
    public let onDelete: Action
}

/// A trigger (https://www.sqlite.org/lang_createtrigger.html).
public struct TriggerSchema: Equatable, Sendable {
    public let name: String
    /// The statement that created it.
    public let sql: String

    public static func == (left: TriggerSchema, right: TriggerSchema) -> Bool {
        left.name.exact == right.name.exact && left.sql.exact == right.sql.exact
    }
}

extension ExactString {
    /// The text as an identifier in SQL.
    package var sqlIdentifier: String { text.sqlIdentifier }
}

extension String {
    /// The string with ASCII letters in lower case, compared by bytes: the form in which SQLite compares names.
    public var foldedIdentifier: ExactString {
        ExactString(
            String(
                decoding: utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 },
                as: UTF8.self
            )
        )
    }
}
