internal import Changes
internal import Stores

/// A value for a parameter of a statement of a sidecar.
enum SidecarValue {
    case null
    case integer(Int64)
    case id(RowID)
    case bytes([UInt8])
    case text(String)

    static func optional(_ bytes: [UInt8]?) -> SidecarValue { bytes.map { .bytes($0) } ?? .null }
    static func optional(_ number: Int64?) -> SidecarValue { number.map { .integer($0) } ?? .null }
    static func optional(_ id: RowID?) -> SidecarValue { id.map { .id($0) } ?? .null }
}

// A sidecar's statements work on each row; GRDB creates an object for every value, which takes longer than SQLite's
// own work.
extension Stores.Statement {
    /// Begins the statement again, with values for its parameters in order.
    func begin(_ values: [SidecarValue]) throws {
        reset()
        for index in values.indices {
            let place = CInt(index + 1)
            switch values[index] {
            case .null: try bindNull(at: place)
            case .integer(let number): try bind(number, at: place)
            case .id(let id): try id.withUnsafeBytes { try bind($0, at: place) }
            case .text(let text): try bind(text, at: place)
            case .bytes(let bytes): try bytes.withUnsafeBytes { try bind($0, at: place) }
            }
        }
    }

    /// Runs the statement to its end.
    func run(_ values: [SidecarValue]) throws {
        try begin(values)
        defer { reset() }
        while try step() {}
    }

    func optionalInteger(_ column: CInt) -> Int64? {
        storageClass(column) == .null ? nil : integer(column)
    }

    /// Returns an id; `nil` if the column contains none.
    func id(_ column: CInt) -> RowID? { RowID(bytes: unsafeBytes(column)) }

    /// Returns a copy of the bytes of a column; empty for NULL.
    func bytes(_ column: CInt) -> [UInt8] { Array(unsafeBytes(column)) }
}

extension SidecarAccess {
    /// Runs a statement to its end.
    func perform(_ sql: StaticString, _ values: SidecarValue...) throws {
        try statement(sql).run(values)
    }

    /// Reads the first row of a query; returns `nil` if there is none.
    func first<Result>(
        _ sql: StaticString,
        _ values: SidecarValue...,
        read: (Stores.Statement) throws -> Result?
    ) throws -> Result? {
        let statement = try statement(sql)
        try statement.begin(values)
        defer { statement.reset() }
        return try statement.step() ? read(statement) : nil
    }

    /// Returns whether a query has a row.
    func has(_ sql: StaticString, _ values: SidecarValue...) throws -> Bool {
        let statement = try statement(sql)
        try statement.begin(values)
        defer { statement.reset() }
        return try statement.step()
    }

    /// Reads each row of a query, and returns the results without `nil`.
    func all<Result>(
        _ sql: StaticString,
        _ values: SidecarValue...,
        read: (Stores.Statement) throws -> Result?
    ) throws -> [Result] {
        let statement = try statement(sql)
        try statement.begin(values)
        defer { statement.reset() }
        var results: [Result] = []
        while try statement.step() {
            if let result = try read(statement) { results.append(result) }
        }
        return results
    }
}
