internal import Files

/// The differences between the schemas of two states of a store.
public struct SchemaDiff: Sendable, Equatable {
    /// The change of a table, a column, an index or a trigger.
    public enum Change: String, Sendable, Codable {
        case added, removed, changed
    }

    /// A column that differs.
    public struct Column: Sendable, Equatable {
        public var name: String
        public var change: Change
        /// The type and the constraints in the old state; `nil` if the column did not exist.
        public var old: String?
        public var new: String?
    }

    /// An index or a trigger that differs.
    public struct Part: Sendable, Equatable {
        /// The kind: `index` or `trigger`.
        public var kind: String
        public var name: String
        public var change: Change
    }

    /// The differences in the schema of a table, a virtual table or a view.
    public struct Table: Sendable, Equatable {
        /// The name in the new state, else in the old one.
        public var name: String
        public var kind: TableSchema.Kind
        /// The change of the statement; `nil` if only columns, indexes or triggers differ.
        public var change: Change?
        public var columns: [Column] = []
        public var parts: [Part] = []
    }

    /// The tables that differ, in the order of their names.
    public let tables: [Table]

    /// Compares two schemas, statement by statement.
    ///
    /// - Parameters:
    ///   - old: the state before.
    ///   - new: the state after.
    public init(from old: StoreSchema, to new: StoreSchema) {
        tables = TablePair.pairs(from: old, to: new).compactMap { Table($0) }
    }
}

/// A table in two states of a store; one of them may lack it.
public struct TablePair: Sendable, Equatable {
    public let old: TableSchema?
    public let new: TableSchema?

    /// The table in the state that has it; in the new one if both have it.
    public var present: TableSchema {
        guard let table = new ?? old else { preconditionFailure("a pair has a table") }
        return table
    }

    public var name: String { present.name }

    /// Whether the table has the same statement in both states.
    public var isSameTable: Bool {
        old != nil && old?.kind == new?.kind && old?.sql.exact == new?.sql.exact
    }

    /// Returns the tables of two schemas, paired by their names in any case, in the order of these.
    public static func pairs(from old: StoreSchema, to new: StoreSchema) -> [TablePair] {
        let olds = Dictionary(old.tables.map { ($0.name.foldedIdentifier, $0) }) { $1 }
        let news = Dictionary(new.tables.map { ($0.name.foldedIdentifier, $0) }) { $1 }
        return Set(olds.keys).union(news.keys).sorted()
            .map { TablePair(old: olds[$0], new: news[$0]) }
    }
}

extension SchemaDiff.Table {
    /// Compares a table; `nil` if nothing differs.
    fileprivate init?(_ pair: TablePair) {
        name = pair.name
        kind = pair.present.kind
        guard let old = pair.old, let new = pair.new else {
            change = pair.old == nil ? .added : .removed
            return
        }
        change = pair.isSameTable ? nil : .changed
        // The columns of a virtual table are unknown if its module is missing.
        if !old.columns.isEmpty, !new.columns.isEmpty {
            columns = Self.differences(old.columns, new.columns, \.name.foldedIdentifier).map {
                .init(
                    name: ($0.new ?? $0.old)?.name ?? "",
                    change: $0.change,
                    old: $0.old?.definition,
                    new: $0.new?.definition
                )
            }
        }
        parts =
            Self.parts(
                "index",
                old.indexes.filter { $0.sql != nil },
                new.indexes.filter { $0.sql != nil },
                \.name
            ) {
                $0.sql?.exact == $1.sql?.exact
            } + Self.parts("trigger", old.triggers, new.triggers, \.name, isSame: ==)
        guard change != nil || !columns.isEmpty || !parts.isEmpty else { return nil }
    }

    private static func parts<Element>(
        _ kind: String,
        _ old: [Element],
        _ new: [Element],
        _ name: (Element) -> String,
        isSame: (Element, Element) -> Bool
    ) -> [SchemaDiff.Part] {
        let olds = Dictionary(old.map { (name($0).exact, $0) }) { $1 }
        let news = Dictionary(new.map { (name($0).exact, $0) }) { $1 }
        return Set(olds.keys).union(news.keys).sorted().compactMap { key in
            switch (olds[key], news[key]) {
            case (let old?, let new?):
                isSame(old, new) ? nil : .init(kind: kind, name: key.text, change: .changed)
            case (nil, _): .init(kind: kind, name: key.text, change: .added)
            case (_, nil): .init(kind: kind, name: key.text, change: .removed)
            }
        }
    }

    /// Returns the columns that only one state has, or that have different definitions.
    ///
    /// The columns of the new state come first, in their order.
    private static func differences(
        _ old: [ColumnSchema],
        _ new: [ColumnSchema],
        _ name: (ColumnSchema) -> ExactString
    ) -> [(change: SchemaDiff.Change, old: ColumnSchema?, new: ColumnSchema?)] {
        let olds = Dictionary(old.map { (name($0), $0) }) { first, _ in first }
        let names = Set(new.map(name))
        let kept: [(SchemaDiff.Change, ColumnSchema?, ColumnSchema?)] = new.compactMap { column in
            guard let before = olds[name(column)] else { return (.added, nil, column) }
            return before.definition.exact == column.definition.exact
                ? nil : (.changed, before, column)
        }
        return kept + old.filter { !names.contains(name($0)) }.map { (.removed, $0, nil) }
    }
}

extension ColumnSchema {
    /// The type and the known constraints, as in a statement.
    var definition: String {
        var words = declaredType.isEmpty ? [] : [declaredType]
        if isNotNull { words.append("NOT NULL") }
        switch defaultValue {
        case .constant(.null): break
        case .constant(let value): words.append("DEFAULT \(value.sqlLiteral)")
        case .expression(let text): words.append("DEFAULT (\(text))")
        }
        if collation.foldedIdentifier != "binary" { words.append("COLLATE \(collation)") }
        switch kind {
        case .generated: words.append("GENERATED")
        case .generatedStored: words.append("GENERATED STORED")
        case .hidden: words.append("HIDDEN")
        case .stored: break
        }
        return words.joined(separator: " ")
    }
}

/// A number that an application keeps in its store's header, if it differs between two states.
public struct HeaderNumber: Sendable, Equatable, Codable {
    /// The pragma's name: `user_version` or `application_id`
    /// (https://www.sqlite.org/pragma.html#pragma_user_version).
    public var name: String
    public var old: Int64
    public var new: Int64
}

extension StoreDiff {
    private static let numberNames = ["user_version", "application_id"]

    /// Returns the numbers in the stores' headers that differ.
    ///
    /// - Throws: `StoreError`.
    public func numbers() throws -> [HeaderNumber] {
        try reading {
            try Self.numberNames.compactMap { name in
                let values = try [old, new].map { try $0.number("PRAGMA main.\(name)") }
                guard values[0] != values[1] else { return nil }
                return HeaderNumber(name: name, old: values[0], new: values[1])
            }
        }
    }
}
