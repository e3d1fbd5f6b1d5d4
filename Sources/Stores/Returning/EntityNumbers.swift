internal import CSQLite

/// The numbers of entities in rows of Core Data that come back: each model of an application counts them anew.
struct EntityNumbers {
    private let rows: RowReturn
    private let database: OpaquePointer
    private let name: String
    /// The places in `rows.columns` of those that hold such numbers.
    private let places: [Int]
    private let names: [Int64: String]
    private let numbers: [String: Int64]
    /// Whether each entity of the rows has the number that it had.
    private let isSame: Bool

    /// Reads the numbers of both states.
    ///
    /// - Parameters:
    ///   - rows: the rows.
    ///   - database: the connection to the live store.
    ///   - name: the live store's name.
    /// - Throws: `RowReturnError.otherModel` if names of columns have numbers in them that mean something else
    ///   now; `StoreError`.
    init(of rows: RowReturn, in database: OpaquePointer, name: String) throws {
        self.rows = rows
        self.database = database
        self.name = name
        let old = try rows.source.reading {
            try Self.entities(rows.source.database, rows.source.name)
        }
        let new = try Self.entities(database, name)
        names = old
        numbers = Dictionary(new.map { ($1, $0) }) { first, _ in first }
        isSame = old.allSatisfy { new[$0.key] == $0.value }
        let columns = rows.columns.map { rows.into.columns[$0].name.foldedIdentifier }
        places = columns.indices.filter { place in
            columns[place] == "z_ent" || Self.number(in: columns[place], "z") != nil
        }
        guard !isSame else { return }
        let named = rows.from.columns.map(\.name) + [rows.from.name]
        for column in named {
            let folded = column.foldedIdentifier
            let number = ["z", "z_", "z_fok_"].compactMap { Self.number(in: folded, $0) }.first
            guard let number, old[number] != new[number] else { continue }
            throw RowReturnError.otherModel(
                rows.into.name,
                store: name,
                reason:
                    "'\(column)' is named after the entity '\(old[number] ?? "?")', which has another number now"
            )
        }
    }

    /// Returns a row's values with the numbers of now.
    ///
    /// - Throws: `RowReturnError.otherModel` if an entity is gone.
    func mapped(_ values: [StoredValue]) throws -> [StoredValue] {
        guard !isSame else { return values }
        var values = values
        for place in places {
            // 0 and NULL are of no entity.
            guard case .integer(let number) = values[place], number != 0 else { continue }
            guard let entity = names[number], let mapped = numbers[entity] else {
                let what = names[number].map { "'\($0)'" } ?? "number \(number)"
                throw RowReturnError.otherModel(
                    rows.into.name,
                    store: name,
                    reason: "it has no entity \(what)"
                )
            }
            values[place] = .integer(mapped)
        }
        return values
    }

    /// Has Core Data never give out a key again that a row has (`Z_MAX`).
    ///
    /// It counts for the topmost entity, whose table has the rows of those below.
    ///
    /// - Throws: `StoreError`.
    func raiseGreatestKey() throws {
        guard rows.into.rowIDAlias != nil, !numbers.isEmpty else { return }
        let table = rows.into.name.sqlIdentifier
        let entities =
            rows.into.column("Z_ENT") == nil
            ? "SELECT Z_ENT FROM main.Z_PRIMARYKEY WHERE upper('Z' || Z_NAME) = upper(?1)"
            : "SELECT DISTINCT Z_ENT FROM main.\(table) WHERE ?1 IS NOT NULL"
        let statement = try Statement(
            database,
            name: name,
            """
            WITH RECURSIVE present(entity) AS (
                \(entities)
                UNION SELECT p.Z_SUPER FROM present JOIN main.Z_PRIMARYKEY AS p
                ON p.Z_ENT = present.entity WHERE coalesce(p.Z_SUPER, 0) <> 0)
            UPDATE main.Z_PRIMARYKEY
            SET Z_MAX = max(coalesce(Z_MAX, 0), coalesce((SELECT max(rowid) FROM main.\(table)), 0))
            WHERE coalesce(Z_SUPER, 0) = 0 AND Z_ENT IN present
            """
        )
        try statement.bind(rows.into.name, at: 1)
        while try statement.step() {}
    }

    /// Returns the number behind a prefix, and before the rest of a name: `z6_message`.
    private static func number(in name: String, _ prefix: String) -> Int64? {
        guard name.hasPrefix(prefix) else { return nil }
        let rest = name.dropFirst(prefix.count)
        let digits = rest.prefix { ("0"..."9").contains($0) }
        guard digits.count < rest.count, prefix != "z" || rest.dropFirst(digits.count).first == "_"
        else { return nil }
        return Int64(digits)
    }

    private static func entities(
        _ database: OpaquePointer,
        _ name: String
    ) throws -> [Int64: String] {
        let schema = try StoreSchema(of: database, name: name)
        let columns = ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"]
        guard let table = schema.table("Z_PRIMARYKEY"),
            columns.allSatisfy({ table.column($0) != nil })
        else { return [:] }
        let statement = try Statement(
            database,
            name: name,
            "SELECT Z_ENT, Z_NAME FROM main.Z_PRIMARYKEY"
        )
        var names: [Int64: String] = [:]
        while try statement.step() { names[statement.integer(0)] = statement.text(1) ?? "" }
        return names
    }
}
