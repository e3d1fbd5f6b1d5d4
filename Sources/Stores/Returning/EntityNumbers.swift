internal import CSQLite
internal import Files

/// The entity numbers in returning rows of Core Data; each model of an application numbers its entities again.
struct EntityNumbers {
    private let rows: RowReturn
    private let database: OpaquePointer
    private let name: String
    /// The indices in `rows.columns` of the columns with such numbers.
    private let places: [Int]
    private let names: [Int64: String]
    private let numbers: [ExactString: Int64]
    /// Whether each entity of the rows still has its number.
    private let isSame: Bool

    /// Reads the numbers of both states.
    ///
    /// - Parameters:
    ///   - rows: the rows.
    ///   - database: the connection to the live store.
    ///   - name: the live store's name.
    /// - Throws: `RowReturnError.otherModel` if column names contain numbers that now have another meaning;
    ///   `StoreError`.
    init(of rows: RowReturn, in database: OpaquePointer, name: String) throws {
        self.rows = rows
        self.database = database
        self.name = name
        let old = try rows.source.reading {
            try Self.entities(rows.source.database, rows.source.name)
        }
        let new = try Self.entities(database, name)
        names = old
        numbers = Dictionary(new.map { ($1.exact, $0) }) { first, _ in first }
        isSame = old.allSatisfy { new[$0.key]?.exact == $0.value.exact }
        let columns = rows.columns.map { rows.into.columns[$0].name.foldedIdentifier }
        places = columns.indices.filter { place in
            columns[place] == "z_ent" || Self.number(in: columns[place], "z") != nil
        }
        guard !isSame else { return }
        let named = rows.from.columns.map(\.name) + [rows.from.name]
        for column in named {
            let folded = column.foldedIdentifier
            let number = ["z", "z_", "z_fok_"].compactMap { Self.number(in: folded, $0) }.first
            guard let number, old[number]?.exact != new[number]?.exact else { continue }
            throw RowReturnError.otherModel(
                rows.into.name,
                store: name,
                reason:
                    "'\(column)' is named after the entity '\(old[number] ?? "?")', which has another number now"
            )
        }
    }

    /// Returns a row's values with the current numbers.
    ///
    /// - Throws: `RowReturnError.otherModel` if an entity does not exist any more.
    func mapped(_ values: [StoredValue]) throws -> [StoredValue] {
        guard !isSame else { return values }
        var values = values
        for place in places {
            // 0 and NULL name no entity.
            guard case .integer(let number) = values[place], number != 0 else { continue }
            guard let entity = names[number], let mapped = numbers[entity.exact] else {
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

    /// Raises `Z_MAX`, so that Core Data never assigns the key of a row again.
    ///
    /// `Z_MAX` counts for the topmost entity, whose table also holds the rows of the entities below it.
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

    /// Returns the number between a prefix and the rest of a name, as in `z6_message`.
    private static func number(in folded: ExactString, _ prefix: String) -> Int64? {
        let name = folded.text
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
