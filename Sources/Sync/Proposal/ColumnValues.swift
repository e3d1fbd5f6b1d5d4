internal import Files
internal import Stores

/// Looks at values of a store's columns, as evidence for the rules of a map.
struct ColumnValues {
    /// Different values of a column.
    struct Sample {
        /// The numbers above 0: others name no row in most schemas.
        var numbers: Set<Int64> = []
        /// Whether there are values that are no numbers.
        var hasOthers = false

        /// Whether all values that are not NULL are numbers.
        var isOfNumbers: Bool { !hasOthers }
    }

    /// The numbers of rows of a table.
    struct Range {
        var count: Int
        var least: Int64
        var greatest: Int64
    }

    /// The greatest number of rows that are examined for one column, and of their different values.
    private static let (mostRows, mostValues) = (100_000, 1000)

    private let snapshot: StoreSnapshot
    private let check: () throws -> Void

    init(_ snapshot: StoreSnapshot, check: @escaping () throws -> Void) {
        self.snapshot = snapshot
        self.check = check
    }

    /// Returns different values of a column; a text of digits counts as a number.
    func sample(of place: Int, in table: TableSchema) throws -> Sample {
        let column = table.columns[place].name.sqlIdentifier
        let sql = """
            SELECT DISTINCT CASE WHEN typeof(c) = 'integer' THEN c
              WHEN typeof(c) = 'text' AND length(c) BETWEEN 1 AND 18 AND c NOT GLOB '*[^0-9]*'
              THEN CAST(c AS INTEGER) END
            FROM (SELECT \(column) AS c FROM main.\(table.name.sqlIdentifier) LIMIT \(Self.mostRows))
            WHERE c IS NOT NULL LIMIT \(Self.mostValues)
            """
        var sample = Sample()
        try forEachRow(sql) { values in
            if case .integer(let number) = values[0] {
                if number > 0 { sample.numbers.insert(number) }
            } else {
                sample.hasOthers = true
            }
        }
        return sample
    }

    /// Returns the numbers in a column's texts, if nearly all texts are lists of numbers.
    func listed(in place: Int, of table: TableSchema) throws -> Sample {
        let column = table.columns[place].name.sqlIdentifier
        let sql = """
            SELECT c FROM (SELECT \(column) AS c FROM main.\(table.name.sqlIdentifier) LIMIT \(Self.mostRows))
            WHERE typeof(c) = 'text' AND length(c) > 1 LIMIT \(Self.mostValues)
            """
        var sample = Sample()
        var (lists, texts) = (0, 0)
        try forEachRow(sql) { values in
            guard case .text(let bytes) = values[0] else { return }
            texts += 1
            guard let numbers = Self.numbers(in: bytes.array) else { return }
            lists += 1
            sample.numbers.formUnion(numbers)
        }
        return lists * 20 >= texts * 19 ? sample : Sample()
    }

    /// Returns the numbers of a text such as '[1,2]' or '1, 2'; `nil` for other texts.
    private static func numbers(in text: [UInt8]) -> [Int64]? {
        var inner = String(decoding: text, as: UTF8.self)[...]
        let isBracketed = inner.first == "[" && inner.last == "]"
        if isBracketed { inner = inner.dropFirst().dropLast() }
        let parts = inner.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\"" } }
        let numbers = parts.compactMap { Int64($0) }
        guard numbers.count == parts.count, isBracketed || numbers.count > 1 else { return nil }
        return numbers
    }

    /// Returns how many values of a sample are numbers of a table's rows.
    func matches(_ sample: Sample, in table: TableSchema) throws -> Int {
        guard let alias = table.rowIDAlias, !sample.numbers.isEmpty else { return 0 }
        let numbers = sample.numbers.map(String.init).joined(separator: ", ")
        let column = table.columns[alias].name.sqlIdentifier
        let sql =
            "SELECT count(*) FROM main.\(table.name.sqlIdentifier) WHERE \(column) IN (\(numbers))"
        return try integers(sql)?.first.map(Int.init) ?? 0
    }

    /// Returns whether the numbers above 0 in a column are all lower than those of their rows, as in a tree that grew.
    func areBefore(_ place: Int, in table: TableSchema) throws -> Bool {
        guard let alias = table.rowIDAlias else { return false }
        let (column, number) = (
            table.columns[place].name.sqlIdentifier, table.columns[alias].name.sqlIdentifier
        )
        let sql = """
            SELECT count(*) FROM (SELECT \(column) AS c, \(number) AS n FROM main.\(table.name.sqlIdentifier)
            LIMIT \(Self.mostRows)) WHERE c >= n
            """
        return try integers(sql) == [0]
    }

    /// Returns how many rows a table has, with the bounds of an integer column; `nil` if it has none.
    func range(of place: Int, in table: TableSchema) throws -> Range? {
        let column = table.columns[place].name.sqlIdentifier
        let sql =
            "SELECT count(*), min(\(column)), max(\(column)) FROM main.\(table.name.sqlIdentifier)"
        guard let numbers = try integers(sql), numbers.count == 3 else { return nil }
        return Range(count: Int(numbers[0]), least: numbers[1], greatest: numbers[2])
    }

    /// Returns how many rows have values for a reference that name no row.
    func orphans(
        of reference: SyncReference,
        in table: TableSchema,
        _ parent: TableSchema
    ) throws -> Int {
        let columns = reference.columns.map { "c.\(table.columns[$0].name.sqlIdentifier)" }
        let targets = reference.parentColumns.map { "p.\(parent.columns[$0].name.sqlIdentifier)" }
        let isNamed = columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
        let isSame = zip(targets, columns).map { "\($0) = \($1)" }.joined(separator: " AND ")
        let sql = """
            SELECT count(*) FROM main.\(table.name.sqlIdentifier) AS c WHERE \(isNamed)
            AND NOT EXISTS (SELECT 1 FROM main.\(parent.name.sqlIdentifier) AS p WHERE \(isSame))
            """
        return try integers(sql)?.first.map(Int.init) ?? 0
    }

    // MARK: - Queries

    /// Returns the integers of a query's only row; `nil` if one is none.
    private func integers(_ sql: String) throws -> [Int64]? {
        var integers: [Int64]?
        try forEachRow(sql) { values in
            let numbers = values.compactMap { value in
                if case .integer(let number) = value { number } else { nil }
            }
            integers = numbers.count == values.count ? numbers : nil
        }
        return integers
    }

    /// Reads the rows of a query; a column that needs a part of the application gives no evidence.
    private func forEachRow(_ sql: String, _ body: ([StoredValue]) throws -> Void) throws {
        do {
            try snapshot.query(sql, checking: check) { answer in
                if case .row(let values) = answer { try body(values) }
                return true
            }
        } catch is QueryError {}
    }
}
