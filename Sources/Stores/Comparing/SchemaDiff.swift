/// The differences between the schemas of two states of a store.
public struct SchemaDiff: Sendable, Equatable {
    /// What became of a table, a column, an index or a trigger.
    public enum Change: String, Sendable, Codable {
        case added, removed, changed
    }

    /// A column that differs.
    public struct Column: Sendable, Equatable {
        public var name: String
        public var change: Change
        /// Its type and its constraints; `nil` if it was not there.
        public var old: String?
        public var new: String?
    }

    /// An index or a trigger that differs.
    public struct Part: Sendable, Equatable {
        /// `index` or `trigger`.
        public var kind: String
        public var name: String
        public var change: Change
    }

    /// A table, a virtual table or a view, as far as its schema differs.
    public struct Table: Sendable, Equatable {
        /// As the new state has it, else the old one.
        public var name: String
        public var kind: TableSchema.Kind
        /// `nil` if only what belongs to it differs.
        public var change: Change?
        public var columns: [Column] = []
        public var parts: [Part] = []
    }

    /// Those that differ, in the order of their names.
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

    /// The state that has it; the new one if both have.
    public var present: TableSchema {
        guard let table = new ?? old else { preconditionFailure("a pair has a table") }
        return table
    }

    public var name: String { present.name }

    /// Whether both states made the table by the same statement.
    public var isSameTable: Bool { old != nil && old?.kind == new?.kind && old?.sql == new?.sql }

    /// Returns the tables of two schemas by their names, whatever the case of these, in their order.
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
        // Of a module that is not here, no columns can be told.
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
                $0.sql == $1.sql
            } + Self.parts("trigger", old.triggers, new.triggers, \.name) { $0.sql == $1.sql }
        guard change != nil || !columns.isEmpty || !parts.isEmpty else { return nil }
    }

    private static func parts<Element>(
        _ kind: String,
        _ old: [Element],
        _ new: [Element],
        _ name: (Element) -> String,
        isSame: (Element, Element) -> Bool
    ) -> [SchemaDiff.Part] {
        let olds = Dictionary(old.map { (name($0), $0) }) { $1 }
        let news = Dictionary(new.map { (name($0), $0) }) { $1 }
        return Set(olds.keys).union(news.keys).sorted().compactMap { key in
            switch (olds[key], news[key]) {
            case (let old?, let new?):
                isSame(old, new) ? nil : .init(kind: kind, name: key, change: .changed)
            case (nil, _): .init(kind: kind, name: key, change: .added)
            case (_, nil): .init(kind: kind, name: key, change: .removed)
            }
        }
    }

    /// The columns that only one has, or that have another definition; the new ones in their order come first.
    private static func differences(
        _ old: [ColumnSchema],
        _ new: [ColumnSchema],
        _ name: (ColumnSchema) -> String
    ) -> [(change: SchemaDiff.Change, old: ColumnSchema?, new: ColumnSchema?)] {
        let olds = Dictionary(old.map { (name($0), $0) }) { first, _ in first }
        let names = Set(new.map(name))
        let kept: [(SchemaDiff.Change, ColumnSchema?, ColumnSchema?)] = new.compactMap { column in
            guard let before = olds[name(column)] else { return (.added, nil, column) }
            return before.definition == column.definition ? nil : (.changed, before, column)
        }
        return kept + old.filter { !names.contains(name($0)) }.map { (.removed, $0, nil) }
    }
}

extension ColumnSchema {
    /// The type and the constraints that can be told, as a statement would have them.
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
