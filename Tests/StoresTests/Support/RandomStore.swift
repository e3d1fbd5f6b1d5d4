import CSQLite
import SystemPackage
import TestSupport
import Testing

/// Statements that make and edit stores of random schemas; some of them fail, as edits do.
struct RandomStore {
    private struct Table {
        var name: String
        var columns: [String]
    }

    private var random: Pseudorandom
    private var tables: [Table] = []
    private var count = 0
    /// In it a blob that is cast is hardly a text.
    private var isUTF16 = false

    init(seed: UInt64) { random = Pseudorandom(seed: seed) }

    /// Makes a store.
    ///
    /// - Parameter isUTF16: whether texts are kept in UTF-16.
    /// - Returns: statements, of which each may fail.
    mutating func creation(inUTF16 isUTF16: Bool) -> [String] {
        self.isUTF16 = isUTF16
        var statements: [String] = []
        if isUTF16 { statements.append("PRAGMA encoding = 'UTF-16'") }
        statements += ["CREATE TABLE t0 (x)", "BEGIN"]
        for _ in 0..<(1 + random.below(4)) { statements += table() }
        for _ in 0..<random.below(4) { statements.append(part()) }
        for _ in 0..<(20 + random.below(60)) { statements.append(insertion()) }
        if random.below(4) == 0 { statements.append("PRAGMA user_version = \(random.below(9))") }
        return statements + ["COMMIT"]
    }

    /// Edits it.
    mutating func edits() -> [String] {
        var statements: [String] = ["BEGIN"]
        for _ in 0..<random.below(30) { statements.append(rowEdit()) }
        if random.below(2) == 0 {
            for _ in 0..<random.below(5) { statements += schemaEdit() }
            for _ in 0..<random.below(20) { statements.append(rowEdit()) }
        }
        statements.append("COMMIT")
        if random.below(6) == 0 { statements.append("VACUUM") }
        return statements
    }

    // MARK: - Schema

    private static let odd = [
        "a \"b\"", "Ünï", "x'y", "select", "rowid", "_rowid_", "oid", "a;b", "Case", "--",
    ]

    private mutating func name(_ prefix: String) -> String {
        count += 1
        let odd = random.below(4) == 0 ? random.pick(Self.odd) : ""
        return "\(prefix)\(count)\(odd)"
    }

    private static func quoted(_ name: String) -> String {
        "\"\(name.replacing("\"", with: "\"\""))\""
    }

    private mutating func table() -> [String] {
        let name = name("t")
        if random.below(7) == 0 { return virtual(name) }
        let isStrict = random.below(8) == 0
        let isWithoutRowID = random.below(4) == 0
        var columns: [String] = []
        var definitions: [String] = []
        let key = random.below(isWithoutRowID ? 3 : 6)
        if !isWithoutRowID, key == 0 || key == 1 {
            columns.append("id")
            definitions.append("id INTEGER PRIMARY KEY\(key == 1 ? " AUTOINCREMENT" : "")")
        }
        for index in 0..<(2 + random.below(4)) {
            var column = index < 2 || random.below(3) > 0 ? "c\(index)" : random.pick(Self.odd)
            if columns.contains(column) { column = "c\(index)" }
            columns.append(column)
            definitions.append(definition(of: column, isStrict: isStrict))
        }
        if isWithoutRowID || key == 2 || key == 3 {
            let places = columns.shuffled(using: &random).prefix(1 + random.below(2))
            let list = places.map { "\(Self.quoted($0))\(random.below(4) == 0 ? " DESC" : "")" }
            definitions.append("PRIMARY KEY (\(list.joined(separator: ", ")))")
        }
        if random.below(4) == 0 {
            definitions.append("UNIQUE (\(Self.quoted(random.pick(columns))))")
        }
        if random.below(6) == 0, let parent = tables.first {
            let column = Self.quoted(random.pick(columns))
            definitions.append(
                "FOREIGN KEY (\(column)) REFERENCES \(Self.quoted(parent.name)) ON DELETE CASCADE"
            )
        }
        tables.append(Table(name: name, columns: columns))
        let options = (isWithoutRowID ? ["WITHOUT ROWID"] : []) + (isStrict ? ["STRICT"] : [])
        return [
            """
            CREATE TABLE \(Self.quoted(name)) (\(definitions.joined(separator: ", ")))
            \(options.joined(separator: ", "))
            """
        ]
    }

    private mutating func definition(of column: String, isStrict: Bool) -> String {
        let types =
            isStrict
            ? ["INT", "REAL", "TEXT", "BLOB", "ANY"]
            : ["", "INTEGER", "TEXT", "REAL", "NUMERIC", "BLOB", "VARCHAR(9)"]
        var text = "\(Self.quoted(column)) \(random.pick(types))"
        switch random.below(12) {
        case 0: text += " COLLATE NOCASE"
        case 1: text += " COLLATE RTRIM"
        case 2: text += " NOT NULL DEFAULT ''"
        case 3: text += " DEFAULT \(value())"
        case 4: text += " CHECK (length(\(Self.quoted(column))) < 40)"
        case 5: text += " UNIQUE"
        case 6 where !isStrict && column != "c0":
            text += " AS (c0 || 'x')\(random.below(2) == 0 ? " STORED" : "")"
        default: break
        }
        return text
    }

    private mutating func virtual(_ name: String) -> [String] {
        let table = Self.quoted(name)
        switch random.below(3) {
        case 0:
            tables.append(Table(name: name, columns: ["a", "b"]))
            return ["CREATE VIRTUAL TABLE \(table) USING fts5(a, b)"]
        case 1:
            tables.append(Table(name: name, columns: ["a", "b"]))
            return ["CREATE VIRTUAL TABLE \(table) USING fts4(a, b)"]
        default:
            tables.append(Table(name: name, columns: ["id", "x", "y"]))
            return ["CREATE VIRTUAL TABLE \(table) USING rtree(id, x, y)"]
        }
    }

    /// An index, a trigger or a view.
    private mutating func part() -> String {
        let table = random.pick(tables)
        let column = Self.quoted(random.pick(table.columns))
        let name = Self.quoted(name("p"))
        let on = Self.quoted(table.name)
        switch random.below(6) {
        case 0: return "CREATE INDEX \(name) ON \(on) (\(column))"
        case 1: return "CREATE UNIQUE INDEX \(name) ON \(on) (\(column), c1)"
        case 2: return "CREATE INDEX \(name) ON \(on) (lower(\(column))) WHERE \(column) > 5"
        case 3: return "CREATE VIEW \(name) AS SELECT \(column) FROM \(on) -- all"
        case 4:
            return """
                CREATE TRIGGER \(name) AFTER INSERT ON \(on) BEGIN
                DELETE FROM \(Self.quoted(random.pick(tables).name)) WHERE c0 = 7; END
                """
        default:
            return """
                CREATE TRIGGER \(name) BEFORE UPDATE ON \(on) BEGIN
                UPDATE \(Self.quoted(random.pick(tables).name)) SET c1 = 8 WHERE c0 = 3; END
                """
        }
    }

    private mutating func schemaEdit() -> [String] {
        guard !tables.isEmpty else { return table() }
        let place = random.below(tables.count)
        let name = Self.quoted(tables[place].name)
        switch random.below(8) {
        case 0: return table()
        case 1:
            tables.remove(at: place)
            return ["DROP TABLE \(name)"] + (tables.isEmpty ? table() : [])
        case 2:
            count += 1
            tables[place].columns.append("n\(count)")
            return ["ALTER TABLE \(name) ADD COLUMN n\(count) DEFAULT \(value())"]
        case 3:
            let column = random.below(tables[place].columns.count)
            count += 1
            let old = Self.quoted(tables[place].columns[column])
            return ["ALTER TABLE \(name) RENAME COLUMN \(old) TO \"r\(count)\""]
        case 4: return ["ALTER TABLE \(name) DROP COLUMN c1"]
        case 5: return ["PRAGMA user_version = \(random.below(99))"]
        case 6: return ["DROP INDEX IF EXISTS \"p\(random.below(count + 1))\""]
        default: return [part()]
        }
    }

    // MARK: - Rows

    private mutating func insertion() -> String {
        let table = random.pick(tables)
        let columns = table.columns.filter { _ in random.below(8) > 0 }
        guard !columns.isEmpty else {
            return "INSERT INTO \(Self.quoted(table.name)) DEFAULT VALUES"
        }
        let names = columns.map(Self.quoted).joined(separator: ", ")
        let values = columns.map { $0 == "id" ? number() : value() }.joined(separator: ", ")
        let conflict = random.pick(["OR IGNORE", "OR REPLACE", ""])
        return "INSERT \(conflict) INTO \(Self.quoted(table.name)) (\(names)) VALUES (\(values))"
    }

    private mutating func rowEdit() -> String {
        guard !tables.isEmpty else { return "SELECT 1" }
        let table = random.pick(tables)
        let name = Self.quoted(table.name)
        let column = Self.quoted(random.pick(table.columns))
        let rows = "rowid IN (SELECT rowid FROM \(name) ORDER BY random() LIMIT 3)"
        switch random.below(7) {
        case 0, 1: return insertion()
        case 2: return "DELETE FROM \(name) WHERE rowid % 5 = \(random.below(5))"
        case 3: return "DELETE FROM \(name) WHERE \(column) = \(value())"
        case 4: return "UPDATE OR IGNORE \(name) SET \(column) = \(value()) WHERE \(rows)"
        case 5:
            return "UPDATE OR REPLACE \(name) SET \(column) = \(value()) WHERE c0 > \(value())"
        default: return "UPDATE OR IGNORE \(name) SET rowid = rowid + 50 WHERE rowid = \(number())"
        }
    }

    private mutating func number() -> String {
        random.below(12) == 0
            ? random.pick(["-9223372036854775808", "9223372036854775807", "-1", "0"])
            : "\(random.below(60))"
    }

    private mutating func value() -> String {
        switch random.below(14) {
        case 0: return "NULL"
        case 1, 2, 3: return number()
        case 4:
            // Some are not read back from their shortest text, and some have no text.
            let real = Double(bitPattern: random.next())
            return real.isFinite ? "\(real)" : random.pick(["9e999", "-9e999", "-0.0", "1.5"])
        case 5: return "\(random.below(9)).0"
        case 6: return random.pick(["'milk'", "'MILK'", "'milk '", "'3'", "'1.0'", "''"])
        case 7: return random.pick(["'it''s'", "'né\u{301}'", "'🥛'", "'a' || char(10) || 'b'"])
        case 8: return "'a' || char(0) || 'b'"
        case 9 where !isUTF16: return "CAST(X'\(hex(1 + random.below(6)))' AS TEXT)"
        case 10: return "X'\(hex(random.below(9)))'"
        case 11: return random.below(6) == 0 ? "zeroblob(70000)" : "zeroblob(300)"
        default: return "'w\(random.below(40))'"
        }
    }

    private mutating func hex(_ count: Int) -> String {
        (0..<count).map { _ in
            let digits = String(random.below(256), radix: 16)
            return digits.count == 1 ? "0\(digits)" : digits
        }.joined()
    }
}

/// A database as SQLite's own interface has it: what the tests compare, and no code of ours reads.
enum DatabaseContent {
    /// Opens a database, and lends it.
    static func with<Result>(
        _ path: FilePath,
        _ body: (OpaquePointer) throws -> Result
    ) throws -> Result {
        var handle: OpaquePointer?
        try #require(sqlite3_open(path.string, &handle) == SQLITE_OK)
        defer { sqlite3_close(handle) }
        return try body(try #require(handle))
    }

    /// Runs statements; those that fail do nothing.
    static func run(_ statements: [String], on path: FilePath) throws {
        try with(path) { handle in
            for statement in statements { sqlite3_exec(handle, statement, nil, nil, nil) }
        }
    }

    /// Returns whether SQLite finds nothing wrong.
    static func isSound(_ path: FilePath) throws -> Bool {
        try with(path) { try texts("PRAGMA integrity_check", $0) == ["ok"] }
    }

    /// Reads all: the schema's statements, and each row with its rowid, classes and bytes.
    static func lines(of path: FilePath) throws -> [String] {
        try with(path) { handle in
            var lines = try rows(
                "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
                handle
            )
            lines += try rows("PRAGMA user_version", handle)
            let tables = try texts(
                "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow') AND (name NOT LIKE 'sqlite\\_%' ESCAPE '\\' OR name = 'sqlite_sequence')",
                handle
            )
            for table in tables {
                let quoted = "\"\(table.replacing("\"", with: "\"\""))\""
                let name = table.replacing("'", with: "''")
                let columns = try texts(
                    "SELECT lower(name) FROM pragma_table_xinfo('\(name)')",
                    handle
                )
                let isWithoutRowID =
                    try texts(
                        "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = '\(name)'",
                        handle
                    ) == ["1"]
                let rowID = ["rowid", "_rowid_", "oid"].first { !columns.contains($0) }
                let isNumbered = !isWithoutRowID && rowID != nil && table != "sqlite_sequence"
                let selection = isNumbered ? "\(rowID ?? ""), *" : "*"
                lines += try rows("SELECT \(selection) FROM \(quoted)", handle).map {
                    "\(table): \($0)"
                }
            }
            return lines.sorted()
        }
    }

    private static func texts(_ sql: String, _ handle: OpaquePointer) throws -> [String] {
        try each(sql, handle) { String(cString: sqlite3_column_text($0, 0)) }
    }

    private static func rows(_ sql: String, _ handle: OpaquePointer) throws -> [String] {
        try each(sql, handle) { statement in
            (0..<sqlite3_column_count(statement)).map { column in
                switch sqlite3_column_type(statement, column) {
                case SQLITE_INTEGER: return "i\(sqlite3_column_int64(statement, column))"
                case SQLITE_FLOAT:
                    return "r\(sqlite3_column_double(statement, column).bitPattern)"
                case SQLITE_NULL: return "-"
                case let type:
                    let count = Int(sqlite3_column_bytes(statement, column))
                    let bytes = UnsafeRawBufferPointer(
                        start: sqlite3_column_blob(statement, column),
                        count: count
                    )
                    let hex = bytes.map { String($0, radix: 16) }.joined(separator: " ")
                    return "\(type == SQLITE_TEXT ? "t" : "b")\(hex)"
                }
            }.joined(separator: "|")
        }
    }

    private static func each(
        _ sql: String,
        _ handle: OpaquePointer,
        _ read: (OpaquePointer) -> String
    ) throws -> [String] {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        try #require(code == SQLITE_OK, "\(sql): \(String(cString: sqlite3_errmsg(handle)))")
        defer { sqlite3_finalize(statement) }
        var lines: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW, let statement { lines.append(read(statement)) }
        return lines
    }
}
