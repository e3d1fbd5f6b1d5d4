internal import Files
internal import Stores

/// The search for the tables whose rows a column names, although no schema declares it: by its values and its name.
struct ReferenceSearch {
    /// A column's parent.
    struct Found {
        /// The table; `nil` if the column only looks like a reference.
        var table: String?
        var evidence: String

        static func none(_ evidence: String) -> Found { Found(evidence: evidence) }
    }

    /// The fewest values that show a reference by themselves.
    private static let fewest = 8
    /// The share of a column's values that have to be keys.
    private static let share = 0.95

    /// The names of columns that mean another row, often one of the same table.
    private static let relations: Set<String> = [
        "ancestor", "belongs_to", "child", "copy_of", "duplicate_of", "fk", "merged_into", "next",
        "parent", "predecessor", "prev", "previous", "ref", "replaced_by", "reply_to", "root",
        "successor", "superseded_by",
    ]

    /// The names of columns that mean a person.
    private static let roles: Set<String> = [
        "assigned_to", "assignee", "author", "created_by", "creator", "deleted_by", "modified_by",
        "father", "manager", "mother", "owner", "paid_by", "recipient", "sender", "updated_by",
        "winner",
    ]

    /// The names of tables of persons.
    private static let persons = ["user", "person", "people", "account", "member", "contact"]

    /// The words in names of columns that hold small numbers which count or order.
    private static let measures: Set<String> = [
        "age", "amount", "balance", "capacity", "color", "colour", "cost", "count", "counter",
        "date", "day", "depth", "duration", "flags", "height", "hour", "idx", "index", "kind",
        "length", "level", "limit", "mask", "minute", "mode", "month", "num", "number", "offset",
        "order", "ordinal", "page", "pages", "percent", "pos", "position", "price", "priority",
        "qty", "quantity", "rank", "rating", "rev", "revision", "score", "second", "seq",
        "sequence", "size", "sort", "state", "status", "step", "time", "timestamp", "total",
        "type", "value", "version", "week", "weight", "width", "x", "y", "year", "z",
    ]

    /// The words in names of columns whose numbers are times.
    private static let times: Set<String> = [
        "date", "day", "epoch", "hour", "minute", "month", "time", "timestamp", "week", "weekday",
        "year",
    ]

    private let parents: [SyncTable]
    private let stated: StatedParents
    private let values: ColumnValues

    /// - Parameters:
    ///   - schema: the store's schema. Only tables with own numbers count: other keys mean the same everywhere.
    ///   - values: the store's values.
    init(in schema: SyncSchema, _ values: ColumnValues) {
        parents = schema.tables.filter(\.hasOwnNumbers)
        stated = StatedParents(among: parents, schema.triggers)
        self.values = values
    }

    /// Returns whether a column's name says that its numbers count or order.
    static func isMeasure(_ name: String) -> Bool {
        !measures.isDisjoint(with: name.split(separator: "_").map(String.init))
    }

    /// Returns whether a column's name says that its numbers are times.
    static func isTime(_ name: String) -> Bool { times.contains(name.foldedIdentifier.text) }

    /// Returns the parent of a column that nobody has declared; `nil` if nothing hints at one.
    func parent(of place: Int, in table: SyncTable) throws -> Found? {
        let column = table.schema.columns[place]
        guard !parents.isEmpty, column.affinity != .real,
            column.affinity != .blob || column.declaredType.isEmpty
        else { return nil }
        let name = column.name.foldedIdentifier.text
        let hint = NamedParent(column.name)
        let isRelation = Self.relations.contains { Self.isNamed($0, name, hint) }
        let isRole = Self.roles.contains { Self.isNamed($0, name, hint) }
        let isSure = hint.isSure || isRelation || isRole
        let sample = try values.sample(of: place, in: table.schema)
        if column.affinity == .text, sample.numbers.isEmpty {
            return try list(of: place, in: table)
        }
        guard sample.isOfNumbers else { return nil }
        // A key that is called as a reference is, and names no rows, is only a key.
        let isOwnKey = table.schema.primaryKey == [place]
        if !isOwnKey, let found = try stated(column.name, sample, in: table) { return found }
        let named = named(hint, name, isRelation: isRelation) ?? (isRole ? persons : nil)
        if isSure, named == nil, let partner = kind(of: hint.stem, in: table) {
            let evidence =
                "with '\(partner)' it may name rows of several tables, whose keys mean other rows elsewhere"
            return .none(evidence)
        }
        let isDoubtful = isSure && !isOwnKey
        guard isSure || named != nil || !isOwnKey && isOfRows(name, hint, sample) else {
            return nil
        }
        if sample.numbers.isEmpty {
            let own = isRelation || isRole ? parents.first { $0.name == table.name } : nil
            // Once it has values, a column that is called as a table is refused without a decision.
            let isNamed = isSure || hint.stem != nil || isNamesake(name)
            let parent = isNamed ? named ?? own : nil
            let found = parent.map {
                Found(table: $0.name, evidence: "by its name; it has no values")
            }
            return found ?? (isDoubtful ? .none("it has no values") : nil)
        }
        return try best(of: sample, hint, named, in: table) {
            try isSure || hint.stem != nil || values.areBefore(place, in: table.schema)
        }
            ?? (isDoubtful ? .none("its values are keys of no table") : nil)
    }

    private static func isNamed(_ word: String, _ name: String, _ hint: NamedParent) -> Bool {
        name == word || name.hasSuffix("_\(word)") || hint.stem == word
    }

    /// The table of persons; `nil` if there is none.
    private var persons: SyncTable? {
        Self.persons.lazy.compactMap { word in
            parents.first { NamedParent.isNamed($0.name.foldedIdentifier, word) }
        }.first
    }

    /// Returns the parent that the store states, unless most values are no keys of it.
    private func stated(
        _ column: String,
        _ sample: ColumnValues.Sample,
        in table: SyncTable
    ) throws -> Found? {
        guard let statement = stated.parent(of: column, in: table) else { return nil }
        let candidate = try Candidate(statement.parent, sample, values)
        guard candidate.count * 2 >= candidate.all else { return nil }
        var found = Found(candidate)
        found.evidence = statement.evidence + (candidate.all > 0 ? ", and \(found.evidence)" : "")
        return found
    }

    /// Returns the table whose keys a column's values are: the named one, its own, or any other.
    private func best(
        of sample: ColumnValues.Sample,
        _ hint: NamedParent,
        _ named: SyncTable?,
        in table: SyncTable,
        mayBeOwn: () throws -> Bool
    ) throws -> Found? {
        let candidates = try parents.map { try Candidate($0, sample, values) }
        if let meant = candidates.first(where: { $0.name == named?.name }),
            hint.stem?.count ?? 0 > 1 && meant.count > 0 || meant.isParent
        {
            return Found(meant)
        }
        let matching = try candidates.filter {
            try $0.isParent && ($0.name != table.name || mayBeOwn())
        }
        let best =
            matching.first { $0.name == table.name } ?? matching.first
            ?? candidates.first { $0.name == named?.name && hint.stem?.count ?? 0 > 1 }
        return best.map { best in Found(best, doubt: matching.filter { $0.name != best.name }) }
    }

    /// A table with the number of a column's values that are keys of it.
    fileprivate struct Candidate {
        let name: String
        let count: Int
        let all: Int

        init(_ table: SyncTable, _ sample: ColumnValues.Sample, _ values: ColumnValues) throws {
            name = table.name
            count = try values.matches(sample, in: table.schema)
            all = sample.numbers.count
        }

        /// Whether nearly all values are keys of it.
        var isParent: Bool { Double(count) >= ReferenceSearch.share * Double(all) }
    }

    /// Returns whether a table has a column's name, in the singular or the plural.
    private func isNamesake(_ column: String) -> Bool {
        parents.contains { NamedParent.isNamed($0.name.foldedIdentifier, column) }
    }

    /// Returns whether values alone may show a reference.
    ///
    /// A name that ends with 'id' makes two values enough, though 'paid' does too.
    private func isOfRows(
        _ name: String,
        _ hint: NamedParent,
        _ sample: ColumnValues.Sample
    ) -> Bool {
        sample.numbers.count >= (hint.stem == nil ? Self.fewest : 2) && !Self.isMeasure(name)
    }

    /// Returns the table that a column's name means: by its whole name, or by its last words.
    private func named(_ hint: NamedParent, _ column: String, isRelation: Bool) -> SyncTable? {
        let words = column.split(separator: "_").map(String.init)
        let isOfWord = isRelation || Self.isMeasure(column)
        let ends = isOfWord ? [words.last] : [words.last, words.first]
        let stems = ([hint.stem, column] + ends).compactMap { $0 }
            .filter { !Self.relations.contains($0) }
        let names = parents.map { ($0, $0.name.foldedIdentifier) }
        let found = stems.lazy.compactMap { stem in
            names.first { NamedParent.isNamed($0.1, stem) }
                ?? names.first { NamedParent.resembles($0.1, stem) }
        }.first?.0
        // In 'nid' one letter abbreviates the notes.
        guard found == nil, let letter = hint.stem, letter.count == 1 else { return found }
        let initial = names.filter { $0.1.text.hasPrefix(letter) }
        return initial.count == 1 ? initial[0].0 : nil
    }

    /// Returns the column that says of which kind the rows are that another column names.
    private func kind(of stem: String?, in table: SyncTable) -> String? {
        guard let stem else { return nil }
        return table.schema.columns.map(\.name).first {
            ["\(stem)_type", "\(stem)type", "\(stem)_kind", "\(stem)_table"]
                .contains($0.foldedIdentifier.text)
        }
    }

    /// Returns a finding about a column of texts that list numbers, such as '[1,2]'.
    private func list(of place: Int, in table: SyncTable) throws -> Found? {
        let sample = try values.listed(in: place, of: table.schema)
        guard sample.numbers.count >= Self.fewest else { return nil }
        let candidates = try parents.map { try Candidate($0, sample, values) }
        guard let parent = candidates.first(where: \.isParent) else { return nil }
        return .none("its lists hold keys of '\(parent.name)', which mean other rows elsewhere")
    }
}

extension ReferenceSearch.Found {
    fileprivate init(
        _ parent: ReferenceSearch.Candidate,
        doubt others: [ReferenceSearch.Candidate] = []
    ) {
        let all = counted(parent.all, "value is a key", "values are keys")
        let names = others.map { "'\($0.name)'" }.joined(separator: ", ")
        table = parent.name
        evidence = "\(parent.count) of \(all)" + (others.isEmpty ? "" : ", and also of \(names)")
    }
}
