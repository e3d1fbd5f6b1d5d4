internal import Files
internal import Operations
internal import Stores

/// One difference between two states, or at the end whether there was any.
///
/// In JSON each is an object on its own line.
struct DifferenceAnswer: Answer {
    /// The names of the compared states.
    struct Names {
        var old: String
        var new: String
    }

    private enum Content {
        case difference(Difference)
        case summary(Bool, Names)
    }

    private let content: Content

    init(_ difference: Difference) { content = .difference(difference) }

    init(_ differs: Bool, between names: Names) { content = .summary(differs, names) }

    func encode(to encoder: any Encoder) throws {
        switch content {
        case .difference(.file(let file)): try FileObject(file).encode(to: encoder)
        case .difference(.store(let store)):
            try StoreObject(store).encode(to: encoder)
        case .difference(.unread(let store)): try UnreadObject(store).encode(to: encoder)
        case .difference(.table(let table)): try TableObject(table).encode(to: encoder)
        case .difference(.row(let row)): try RowObject(row).encode(to: encoder)
        case .difference(.moreRows(let count)): try MoreObject(rows: count).encode(to: encoder)
        case .difference(.statement(let sql)): try StatementObject(sql: sql).encode(to: encoder)
        case .summary(let differs, let names):
            try Summary(old: names.old, new: names.new, differs: differs).encode(to: encoder)
        }
    }

    func write(to console: Console) {
        switch content {
        case .difference(.statement(let sql)):
            // A file gets the exact statement, to be run; a terminal gets it in a printable form.
            guard console.redraws else { return console.answer(text: sql + "\n") }
            console.answer(lines: sql.split(separator: "\n").map(String.init))
        case .difference(let difference): console.answer(lines: difference.lines)
        case .summary(let differs, _): if !differs { console.message("nothing differs") }
        }
    }
}

private struct FileObject: Encodable {
    var messageType = "file"
    var path: String
    var type: String
    var change: SchemaDiff.Change
    var aspects: [FileDifference.Aspect]
    var oldSize: Int64?
    var newSize: Int64?

    init(_ file: FileDifference) {
        path = file.path
        type = file.type
        change = file.change
        aspects = file.aspects
        oldSize = file.oldSize
        newSize = file.newSize
    }
}

private struct StoreObject: Encodable {
    var messageType = "store"
    var path: String
    var change: SchemaDiff.Change
    var numbers: [HeaderNumber]

    init(_ store: StoreDifference) {
        (path, change, numbers) = (store.path, store.change, store.numbers)
    }
}

/// A store that could not be read.
private struct UnreadObject: Encodable {
    var messageType = "unread"
    var path: String
    /// Whether the store is in the stores directory; if not, it is in a backup.
    var live: Bool
    var damaged: Bool
    var failure: String

    init(_ store: UnreadStore) {
        (path, live, damaged) = (store.path, store.isLive, store.isDamaged)
        failure = explain(store.error)
    }
}

private struct TableObject: Encodable {
    struct Column: Encodable {
        var name: String
        var property: String?
        var change: SchemaDiff.Change
        var old: String?
        var new: String?
    }

    struct Part: Encodable {
        var kind: String
        var name: String
        var change: SchemaDiff.Change
    }

    var messageType = "table"
    var store: String
    var table: String
    var entity: String?
    var kind: String
    /// The change of the table itself; missing if only its rows differ.
    var change: SchemaDiff.Change?
    var columns: [Column]
    var parts: [Part]
    var rows: RowCounts?
    var failure: String?

    init(_ difference: TableDifference) {
        store = difference.store
        table = difference.table
        entity = difference.entity
        kind = difference.kind.rawValue
        change = difference.schema?.change
        columns = (difference.schema?.columns ?? []).map {
            Column(
                name: $0.name,
                property: difference.properties[$0.name],
                change: $0.change,
                old: $0.old,
                new: $0.new
            )
        }
        parts = (difference.schema?.parts ?? []).map {
            Part(kind: $0.kind, name: $0.name, change: $0.change)
        }
        rows = difference.rows
        failure = difference.failure
    }
}

private struct RowObject: Encodable {
    var messageType = "row"
    var store: String
    var table: String
    var entity: String?
    var change: SchemaDiff.Change
    /// The values that identify the row.
    var key: [KeyObject]
    var cells: [CellObject]

    init(_ row: RowDifference) {
        store = row.store
        table = row.table
        entity = row.entity
        change = row.change.kind
        key = row.change.key.map { KeyObject($0.column, $0.value, row.properties) }
        cells = row.change.cells.map { CellObject($0, row.properties) }
    }
}

private struct MoreObject: Encodable {
    var messageType = "more"
    var rows: Int64
}

private struct StatementObject: Encodable {
    var messageType = "statement"
    var sql: String
}

private struct Summary: Encodable {
    var messageType = "summary"
    var old: String
    var new: String
    var differs: Bool
}

/// A value of a row's key, by its column and the model's name of that.
struct KeyObject: Encodable {
    var column: String
    var property: String?
    var value: ValueObject

    init(_ column: String, _ value: RowChange.Value, _ properties: [String: String]) {
        self.column = column
        property = properties[column]
        self.value = ValueObject(value)
    }
}

/// A value of a row before and after a change.
struct CellObject: Encodable {
    var column: String
    var property: String?
    var old: ValueObject?
    var new: ValueObject?

    init(_ cell: RowChange.Cell, _ properties: [String: String]) {
        column = cell.column
        property = properties[column]
        old = cell.old.map(ValueObject.init)
        new = cell.new.map(ValueObject.init)
    }
}

/// A value of a store with its storage class, since JSON has only one kind of number and no bytes.
struct ValueObject: Encodable {
    /// The storage class: `null`, `integer`, `real`, `text` or `blob`.
    var type: String
    var integer: Int64?
    var real: Double?
    /// A text, or a number that JSON cannot express: `inf`, `-inf`.
    var text: String?
    /// The bytes of a blob, or of text that is no UTF-8.
    var hex: String?
    /// The size in bytes of a value that is too large to show.
    var bytes: Int64?

    init(_ value: RowChange.Value) {
        switch value {
        case .large(let kind, let count):
            type = kind == .text ? "text" : "blob"
            bytes = count
        case .stored(.null): type = "null"
        case .stored(.integer(let number)):
            type = "integer"
            integer = number
        case .stored(.real(let bits)):
            type = "real"
            let number = Double(bitPattern: bits)
            if number.isFinite { real = number } else { text = "\(number)" }
        case .stored(.text(let content)):
            type = "text"
            text = content.string
            if text == nil { hex = content.array.hex }
        case .stored(.blob(let content)):
            type = "blob"
            hex = content.array.hex
        }
    }
}
