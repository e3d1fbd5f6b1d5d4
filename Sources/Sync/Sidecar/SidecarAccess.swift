internal import Changes
internal import Foundation
internal import GRDB
internal import Stores
internal import SystemPackage

/// The id of a sync device; the file system has another type of this name.
typealias DeviceID = Changes.DeviceID

/// The access to a sidecar within one transaction.
final class SidecarAccess {
    let database: Database
    private let path: FilePath
    private lazy var deviceNumbers = ShortNumbers<DeviceID>("device", number: "n", name: "id", self)
    private lazy var tableNumbers = ShortNumbers<TableName>("tab", number: "t", name: "name", self)
    private lazy var columnNumbers = ShortNumbers<ColumnName>(
        "col",
        number: "c",
        name: "name",
        self
    )
    private var statements: [UnsafePointer<UInt8>: Stores.Statement] = [:]

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
    func statement(_ sql: StaticString) throws -> Stores.Statement {
        if let statement = statements[sql.utf8Start] { return statement }
        let statement = try ownStatement(sql)
        statements[sql.utf8Start] = statement
        return statement
    }

    /// Prepares a statement for one use, so that it can continue while others run.
    func ownStatement(_ sql: StaticString) throws -> Stores.Statement {
        guard let handle = database.sqliteConnection else {
            throw damaged("its connection is closed")
        }
        return try Stores.Statement(handle, sql.description) {
            DatabaseError(resultCode: ResultCode(rawValue: $0), message: $1)
        }
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
        device.isZero ? 0 : try deviceNumbers.number(of: device)
    }

    /// Returns the number of a table, and assigns one if it is new.
    func number(of table: TableName) throws -> Int64 { try tableNumbers.number(of: table) }

    /// Returns the number of a column's name, which is the same in all tables; assigns one if it is new.
    func number(of column: ColumnName) throws -> Int64 { try columnNumbers.number(of: column) }

    func device(_ number: Int64) throws -> DeviceID {
        number == 0 ? .zero : try deviceNumbers.name(number)
    }

    func table(_ number: Int64) throws -> TableName { try tableNumbers.name(number) }

    func column(_ number: Int64) throws -> ColumnName { try columnNumbers.name(number) }

    /// Returns the numbers of the columns that sync, in order.
    func numbers(of table: TableMapping) throws -> [Int64] {
        try table.columns.map { try number(of: $0.name) }
    }

    /// Returns the numbers of the columns whose values are the same in a state and in the store, in a row that is
    /// shown as its state has it.
    func sharedNumbers(of table: TableMapping) throws -> Set<Int64> {
        let shared = table.columns.filter {
            $0.parent == nil && $0.entities == nil && $0.files == nil
        }
        return Set(try shared.map { try number(of: $0.name) })
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

/// A name that a short number represents in rows.
private protocol ShortenedName: Hashable {
    init?(bytes: some Collection<UInt8>)
    var bytes: [UInt8] { get }
}

extension DeviceID: ShortenedName {}
extension TableName: ShortenedName {}
extension ColumnName: ShortenedName {}

/// A table of names and their numbers, as far as it was read.
private final class ShortNumbers<Name: ShortenedName> {
    private var names: [Int64: Name] = [:]
    private var numbers: [Name: Int64] = [:]
    private let (table, number, name): (String, String, String)
    private unowned let access: SidecarAccess

    init(_ table: String, number: String, name: String, _ access: SidecarAccess) {
        (self.table, self.number, self.name) = (table, number, name)
        self.access = access
    }

    /// Returns the number of a name, and assigns one if it is new.
    func number(of name: Name) throws -> Int64 {
        if let number = numbers[name] { return number }
        let bytes = Data(name.bytes)
        let query = "SELECT \(number) FROM \(table) WHERE \(self.name) = ?"
        if let row = try access.row(query, [bytes]) { return add(name, row[0]) }
        try access.run("INSERT INTO \(table) (\(self.name)) VALUES (?)", [bytes])
        return add(name, access.database.lastInsertedRowID)
    }

    /// Returns the name with a number.
    func name(_ number: Int64) throws -> Name {
        if let name = names[number] { return name }
        let query = "SELECT \(name) FROM \(table) WHERE \(self.number) = ?"
        guard let name = try access.row(query, [number]).flatMap({ Name(bytes: $0.bytes(0)) })
        else { throw access.damaged("there is no \(table) \(number)") }
        _ = add(name, number)
        return name
    }

    private func add(_ name: Name, _ number: Int64) -> Int64 {
        names[number] = name
        numbers[name] = number
        return number
    }
}

extension Row {
    /// Returns the bytes of a column; empty for NULL.
    func bytes(_ column: Int) -> [UInt8] {
        (try? withUnsafeData(atIndex: column) { $0.map { Array($0) } ?? [] }) ?? []
    }
}
