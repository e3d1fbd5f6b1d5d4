internal import Changes
internal import Foundation
internal import GRDB
internal import SystemPackage

/// The id of a sync device; the file system has another type of this name.
typealias DeviceID = Changes.DeviceID

/// The access to a sidecar within one transaction.
final class SidecarAccess {
    let database: Database
    private let path: FilePath
    private var deviceNumbers = Numbers<DeviceID>()
    private var tableNumbers = Numbers<TableName>()
    private var columnNumbers = Numbers<ColumnName>()
    private var statements: [UnsafePointer<UInt8>: SidecarStatement] = [:]

    /// Names, with the numbers that represent them in rows.
    private struct Numbers<Name: Hashable> {
        var names: [Int64: Name] = [:]
        var numbers: [Name: Int64] = [:]

        mutating func add(_ name: Name, _ number: Int64) {
            names[number] = name
            numbers[name] = number
        }
    }

    init(_ database: Database, of path: FilePath) {
        self.database = database
        self.path = path
    }

    /// Returns an error that describes a missing or impossible part of the sidecar.
    func damaged(_ reason: String) -> SidecarError { .damaged(path, reason: reason) }

    // The owners of tables that remember what they have read; extensions have the others.
    private(set) lazy var held = HeldRows(self)
    private(set) lazy var shadow = Shadow(self)
    private(set) lazy var states = RowStates(self)

    // MARK: - SQL

    /// Returns a statement that is prepared once, and found by the address of its text in the program.
    func statement(_ sql: StaticString) throws -> SidecarStatement {
        if let statement = statements[sql.utf8Start] { return statement }
        let statement = try ownStatement(sql)
        statements[sql.utf8Start] = statement
        return statement
    }

    /// Prepares a statement for one use, so that it can continue while others run.
    func ownStatement(_ sql: StaticString) throws -> SidecarStatement {
        guard let handle = database.sqliteConnection else {
            throw damaged("its connection is closed")
        }
        return try SidecarStatement(sql, in: handle)
    }

    /// Runs a statement; its text is cached, and so must be one of few.
    func run(_ sql: String, _ arguments: StatementArguments = []) throws {
        try database.cachedStatement(sql: sql).execute(arguments: arguments)
    }

    func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [Row] {
        try Row.fetchAll(database.cachedStatement(sql: sql), arguments: arguments)
    }

    func row(_ sql: String, _ arguments: StatementArguments = []) throws -> Row? {
        try Row.fetchOne(database.cachedStatement(sql: sql), arguments: arguments)
    }

    func count(_ sql: String, _ arguments: StatementArguments = []) throws -> Int64 {
        try Int64.fetchOne(database.cachedStatement(sql: sql), arguments: arguments) ?? 0
    }

    // MARK: - Numbers

    /// Returns the number of a device, and assigns one if it is new; the zero stamp's device has 0.
    func number(of device: DeviceID) throws -> Int64 {
        if device.isZero { return 0 }
        if let number = deviceNumbers.numbers[device] { return number }
        let number = try number(of: device.bytes, in: "device", column: "n", name: "id")
        deviceNumbers.add(device, number)
        return number
    }

    func device(_ number: Int64) throws -> DeviceID {
        if number == 0 { return .zero }
        if let device = deviceNumbers.names[number] { return device }
        guard let bytes = try bytes("SELECT id FROM device WHERE n = ?", number),
            let device = DeviceID(bytes: bytes)
        else { throw damaged("there is no device \(number)") }
        deviceNumbers.add(device, number)
        return device
    }

    /// Returns the number of a table, and assigns one if it is new.
    func number(of table: TableName) throws -> Int64 {
        if let number = tableNumbers.numbers[table] { return number }
        let number = try number(of: table.bytes, in: "tab", column: "t", name: "name")
        tableNumbers.add(table, number)
        return number
    }

    func table(_ number: Int64) throws -> TableName {
        if let table = tableNumbers.names[number] { return table }
        guard let bytes = try bytes("SELECT name FROM tab WHERE t = ?", number),
            let table = TableName(bytes: bytes)
        else { throw damaged("there is no table \(number)") }
        tableNumbers.add(table, number)
        return table
    }

    /// Returns the number of a column's name, which is the same in all tables.
    func number(of column: ColumnName) throws -> Int64 {
        if let number = columnNumbers.numbers[column] { return number }
        let number = try number(of: column.bytes, in: "col", column: "c", name: "name")
        columnNumbers.add(column, number)
        return number
    }

    func column(_ number: Int64) throws -> ColumnName {
        if let column = columnNumbers.names[number] { return column }
        guard let bytes = try bytes("SELECT name FROM col WHERE c = ?", number),
            let column = ColumnName(bytes: bytes)
        else { throw damaged("there is no column \(number)") }
        columnNumbers.add(column, number)
        return column
    }

    /// Returns the numbers of the columns that sync, in order.
    func numbers(of table: TableMapping) throws -> [Int64] {
        try table.columns.map { try number(of: $0.name) }
    }

    private func number(
        of name: [UInt8],
        in table: String,
        column: String,
        name nameColumn: String
    ) throws -> Int64 {
        let name = Data(name)
        let query = "SELECT \(column) FROM \(table) WHERE \(nameColumn) = ?"
        if let number = try row(query, [name]) { return number[0] }
        try run("INSERT INTO \(table) (\(nameColumn)) VALUES (?)", [name])
        return database.lastInsertedRowID
    }

    private func bytes(_ sql: String, _ number: Int64) throws -> [UInt8]? {
        try row(sql, [number]).map { $0.bytes(0) }
    }

    // MARK: - Single values

    func integer(_ key: String) throws -> Int64? {
        try row("SELECT v FROM meta WHERE k = ?", [key]).flatMap { $0[0] }
    }

    func text(_ key: String) throws -> String? {
        try row("SELECT v FROM meta WHERE k = ?", [key]).flatMap { $0[0] }
    }

    func bytes(_ key: String) throws -> [UInt8]? {
        try row("SELECT v FROM meta WHERE k = ?", [key]).flatMap { (row: Row) -> [UInt8]? in
            row.hasNull(atIndex: 0) ? nil : row.bytes(0)
        }
    }

    func set(_ key: String, _ value: (any DatabaseValueConvertible)?) throws {
        try run("INSERT OR REPLACE INTO meta (k, v) VALUES (?, ?)", [key, value])
    }

    func set(_ key: String, bytes: [UInt8]) throws { try set(key, Data(bytes)) }

    func forget(_ key: String) throws { try run("DELETE FROM meta WHERE k = ?", [key]) }
}

extension Row {
    /// Returns the bytes of a column; empty for NULL.
    func bytes(_ column: Int) -> [UInt8] {
        (try? withUnsafeData(atIndex: column) { $0.map { Array($0) } ?? [] }) ?? []
    }
}
