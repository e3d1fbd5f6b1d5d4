internal import CSQLite
internal import Files
internal import Stores

// Core Data's data beside its rows, by which an application notices other programs' writes.
extension TableMapping {
    /// The column that counts an object's writes, for SQL; `nil` for tables without one.
    var version: String? {
        coreData?.version.map { schema.columns[$0].name.sqlIdentifier }
    }

    /// Returns the values of an inserted row with its count of writes increased.
    func withNextVersion(_ values: [StoredValue?]) -> [StoredValue?] {
        guard let place = coreData?.version, let index = schema.storedColumns.firstIndex(of: place)
        else { return values }
        var values = values
        if case .integer(let count)? = values[index], count < .max {
            values[index] = .integer(count + 1)
        } else {
            values[index] = .integer(1)
        }
        return values
    }
}

extension StoreWrite {
    /// Raises the counters of keys to the keys of the inserted rows.
    func raiseCounters(_ written: Written, _ handle: OpaquePointer) throws {
        let tables = Dictionary(
            written.rows.map { ($0.step.table.name, $0.step.table) },
            uniquingKeysWith: { first, _ in first }
        )
        for table in tables.values {
            guard let counter = table.coreData?.counter, let key = table.schema.rowIDAlias else {
                continue
            }
            let column = table.schema.columns[key].name.sqlIdentifier
            let statement = try Statement(
                handle,
                name: name,
                """
                UPDATE main.Z_PRIMARYKEY SET Z_MAX = max(ifnull(Z_MAX, 0), ifnull(
                    (SELECT max(\(column)) FROM main.\(table.schema.name.sqlIdentifier)), 0))
                WHERE Z_ENT = ?
                """
            )
            try statement.bind(counter.entity, at: 1)
            _ = try statement.step()
        }
    }

    /// Writes the entity numbers of the references of written rows, into the columns beside these.
    func writeEntities(_ written: Written, _ handle: OpaquePointer) throws {
        for (step, _) in written.rows where step.new != nil {
            guard let table = step.table.coreData, case .rowID(let key) = step.key else { continue }
            let schema = step.table.schema
            for (place, reference) in table.entities.sorted(by: { $0.key < $1.key }) {
                guard let parent = table.columns[reference]?.reference?.parent else { continue }
                let column = schema.columns[reference].name.sqlIdentifier
                let statement = try Statement(
                    handle,
                    name: name,
                    """
                    UPDATE main.\(schema.name.sqlIdentifier) AS c
                    SET \(schema.columns[place].name.sqlIdentifier) =
                        (SELECT Z_ENT FROM main.\(parent.sqlIdentifier) p WHERE p.Z_PK = c.\(column))
                    WHERE Z_PK = ?
                    """
                )
                try statement.bind(key, at: 1)
                _ = try statement.step()
            }
        }
    }
}
