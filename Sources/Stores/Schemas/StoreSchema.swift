public import Files

/// The tables of a store, as one transaction sees them.
public struct StoreSchema: Equatable, Sendable {
    /// In the order of their names' bytes; SQLite's own (`sqlite_…`) are not among them.
    public let tables: [TableSchema]
    /// Counts changes of the schema (https://www.sqlite.org/pragma.html#pragma_schema_version).
    public let version: Int64
    /// The encoding of text: `UTF-8`, `UTF-16le` or `UTF-16be`.
    public let encoding: String

    /// The SHA-256 of all tables' canonical texts.
    public var digest: Digest {
        let text = tables.map(\.canonicalText).joined()
        return Array(text.utf8).withUnsafeBytes { Digest(of: $0) }
    }

    /// Whether the store is one of Core Data, which keeps its numbers and its model in tables of its own.
    public var isCoreData: Bool { table("Z_METADATA") != nil && table("Z_PRIMARYKEY") != nil }

    /// Returns the table with a name, whatever the case of its ASCII letters.
    public func table(_ name: String) -> TableSchema? {
        let name = name.foldedIdentifier
        return tables.first { $0.name.foldedIdentifier == name }
    }

    /// Returns the virtual table that keeps its data in a table; `nil` if it cannot be told.
    public func virtualTable(ofShadow name: String) -> TableSchema? {
        let name = name.foldedIdentifier
        return tables.filter {
            $0.kind == .virtual && name.hasPrefix("\($0.name.foldedIdentifier)_")
        }.max { $0.name.utf8.count < $1.name.utf8.count }
    }
}

/// A table, a virtual table or a view.
public struct TableSchema: Equatable, Sendable {
    /// The kinds of what can be selected from.
    public enum Kind: String, Sendable {
        case table, view, virtual
        /// One in which a virtual table keeps its data.
        case shadow
    }

    public let name: String
    public let kind: Kind
    /// Whether its columns take only values of their types (https://www.sqlite.org/stricttables.html).
    public let isStrict: Bool
    public let isWithoutRowID: Bool
    /// Whether it never gives out a number again (https://www.sqlite.org/autoinc.html).
    public let isAutoincrement: Bool
    /// The page on which its b-tree begins; 0 if it has none.
    public let rootPage: Int64
    /// The statement that made it.
    public let sql: String
    /// In the table's order, hidden and generated ones as well; none of a virtual table whose module is
    /// not here, nor of a view that is broken.
    public let columns: [ColumnSchema]
    /// The places of the primary key's columns in `columns`, in the key's order; none if there is no key.
    public let primaryKey: [Int]
    /// The place of the column that is another name of the rowid (INTEGER PRIMARY KEY).
    public let rowIDAlias: Int?
    public internal(set) var indexes: [IndexSchema]
    public let references: [ReferenceSchema]
    /// In the order of their names' bytes.
    public let triggers: [TriggerSchema]

    /// Returns the place of the column with a name, whatever the case of its ASCII letters.
    public func column(_ name: String) -> Int? {
        let name = name.foldedIdentifier
        return columns.firstIndex { $0.name.foldedIdentifier == name }
    }

    /// Returns the table as if it had a UNIQUE constraint on columns, compared byte for byte.
    ///
    /// SQLite knows nothing of that constraint; a name with this beginning cannot be an index's of the store
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

    /// The places of the columns whose values are stored because someone gave them.
    public var storedColumns: [Int] {
        columns.indices.filter { columns[$0].kind == .stored }
    }
}

/// A column of a table.
public struct ColumnSchema: Equatable, Sendable {
    /// Where a column's values come from.
    public enum Kind: Int, Sendable {
        case stored = 0
        /// Of a virtual table, and not in `SELECT *`.
        case hidden = 1
        /// Computed when it is read.
        case generated = 2
        /// Computed when the row is written.
        case generatedStored = 3
    }

    /// The conversion of what is stored in a column (https://www.sqlite.org/datatype3.html, 3).
    public enum Affinity: String, Sendable {
        case integer, real, numeric, text, blob
    }

    /// What a column has where a row does not give it a value.
    public enum Default: Equatable, Sendable {
        /// The same value each time; NULL if nothing is declared.
        case constant(StoredValue)
        /// An expression that may give another value each time: its text. It is not evaluated.
        case expression(String)
    }

    public let name: String
    /// The type as it is declared; empty if there is none.
    public let declaredType: String
    public let affinity: Affinity
    /// How its texts are compared: `BINARY`, `NOCASE`, `RTRIM`, or one of the application's.
    public let collation: String
    public let isNotNull: Bool
    public let defaultValue: Default
    public let kind: Kind

    public var isGenerated: Bool { kind == .generated || kind == .generatedStored }
}

/// An index of a table.
public struct IndexSchema: Equatable, Sendable {
    /// How an index came to be.
    public enum Origin: String, Sendable {
        case statement = "c"
        case unique = "u"
        case primaryKey = "pk"
    }

    /// A column, or an expression, by which an index sorts.
    public struct Key: Equatable, Sendable {
        /// The place of the column in the table's; `nil` for an expression and for the rowid.
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
    /// The statement that made it; `nil` if a constraint of the table did.
    public let sql: String?

    fileprivate static let assumedName = "sqlite_assumed"

    /// Whether the store has no such index: searches by it read the whole table.
    package var isAssumed: Bool { name == Self.assumedName }
}

/// A foreign key (https://www.sqlite.org/foreignkeys.html).
public struct ReferenceSchema: Equatable, Sendable {
    /// What becomes of the row when its parent goes, or its parent's key changes.
    public enum Action: String, Sendable {
        case none = "NO ACTION"
        case restrict = "RESTRICT"
        case setNull = "SET NULL"
        case setDefault = "SET DEFAULT"
        case cascade = "CASCADE"
    }

    /// The places of its columns in the table's.
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
    /// The statement that made it.
    public let sql: String
}

extension String {
    /// With small ASCII letters: the form in which SQLite compares names.
    public var foldedIdentifier: String {
        String(
            decoding: utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 },
            as: UTF8.self
        )
    }
}
