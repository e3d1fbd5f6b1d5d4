internal import Files
internal import Operations
internal import Stores

/// A printer of a query's rows in one of the formats, as they arrive.
struct QueryPrinter {
    /// The number of a table's rows that determine the widths of its columns before the first is printed.
    private static let tableRows = 200
    /// The maximum width of a column; longer cells stick out.
    private static let widest = 60
    /// The number of bytes that are printed at once.
    private static let block = 64 << 10

    private let form: QueryForm
    private let console: Console
    /// The names of the current columns; `nil` before the first statement with rows.
    private var columns: [String]?
    private var rows = 0
    private var isFirst = true
    /// Whether there are more rows than the limit.
    private var isCut = false
    /// The rows of a table that wait for the column widths, and the widths.
    private var pending: [[StoredValue]] = []
    private var pendingBytes = 0
    private var widths: [Int]?
    private var numbers: Set<Int> = []
    private var bytes: [UInt8] = []

    init(_ form: QueryForm, to console: Console) {
        self.form = form
        self.console = console
    }

    /// Prints a part of the result.
    mutating func take(_ part: QueryStore.Part) {
        switch part {
        case .columns(let names):
            end(isComplete: true)
            begin(names)
        case .row(let values): add(values)
        case .cut(let count):
            isCut = true
            console.message("only the first \(counted(count, "row", "rows")): there are more")
        }
    }

    /// Prints the end of a statement's rows.
    ///
    /// - Parameter isComplete: whether these are all requested rows.
    mutating func end(isComplete: Bool) {
        guard columns != nil else { return }
        if form == .table, widths == nil { printPending() }
        switch form {
        case .json: add("],\"complete\":\(isComplete),\"more\":\(isCut)}\n")
        case .table where !isComplete:
            add("(incomplete: there may be more after \(counted(rows, "row", "rows")))\n")
        case .table, .csv: break
        }
        flush()
        columns = nil
    }

    // MARK: - Rows

    private mutating func begin(_ names: [String]) {
        columns = unique(names)
        (rows, pending, pendingBytes, widths, numbers) = (0, [], 0, nil, [])
        isCut = false
        if !isFirst, form != .json { add("\n") }
        isFirst = false
        switch form {
        case .table: break
        case .csv: addLine(names.map { StoredValue.csvField(Array($0.utf8)) })
        case .json:
            let list = (columns ?? []).map(StoredValue.jsonString).joined(separator: ",")
            add("{\"columns\":[\(list)],\"rows\":[")
        }
    }

    private mutating func add(_ values: [StoredValue]) {
        rows += 1
        switch form {
        case .table:
            if widths == nil {
                pending.append(values)
                pendingBytes += values.reduce(0) { $0 + $1.byteCount }
                if pending.count == Self.tableRows || pendingBytes > Self.block { printPending() }
            } else {
                addTableRow(values.map(\.shown))
            }
        case .csv: addLine(values.map(\.csvField))
        case .json:
            let members = zip(columns ?? [], values).map { name, value in
                "\(StoredValue.jsonString(name)):\(value.jsonValue)"
            }
            add((rows == 1 ? "" : ",") + "{\(members.joined(separator: ","))}")
        }
    }

    private mutating func printPending() {
        let names = (columns ?? []).map { printable(bytes: $0.utf8) }
        let cells = pending.map { $0.map(\.shown) }
        widths = names.indices.map { index in
            cells.reduce(Columns.width(of: names[index])) {
                max($0, min(Columns.width(of: $1[index]), Self.widest))
            }
        }
        numbers = Set(
            names.indices.filter { index in
                !pending.isEmpty && pending.allSatisfy { $0[index].isNumberOrNull }
            }
        )
        addTableRow(names)
        addTableRow((widths ?? []).map { String(repeating: "-", count: $0) })
        for row in cells { addTableRow(row) }
        pending = []
    }

    private mutating func addTableRow(_ cells: [String]) {
        var line = ""
        for (index, cell) in cells.enumerated() {
            let gap = (widths?[index] ?? 0) - Columns.width(of: cell)
            let space = String(repeating: " ", count: max(0, gap))
            line +=
                (index > 0 ? "  " : "") + (numbers.contains(index) ? space + cell : cell + space)
        }
        while line.last == " " { line.removeLast() }
        add(line + "\n")
    }

    private mutating func addLine(_ fields: [[UInt8]]) {
        bytes += fields.joined(separator: [UInt8(ascii: ",")])
        add("\n")
    }

    private mutating func add(_ text: String) {
        bytes += text.utf8
        if bytes.count >= Self.block { flush() }
    }

    private mutating func flush() {
        console.answer(bytes: bytes, isText: form != .csv)
        bytes = []
    }

    /// Returns the names, with a number behind each repeated one, since an object's keys must be unique.
    private func unique(_ names: [String]) -> [String] {
        guard form == .json else { return names }
        var seen: Set<ExactString> = []
        return names.map { name in
            var (unique, number) = (name, 1)
            while !seen.insert(unique.exact).inserted {
                number += 1
                unique = "\(name):\(number)"
            }
            return unique
        }
    }
}

extension StoredValue {
    /// The size in bytes of a text or a blob.
    fileprivate var byteCount: Int {
        switch self {
        case .text(let bytes), .blob(let bytes): bytes.count
        case .null, .integer, .real: 8
        }
    }

    fileprivate var isNumberOrNull: Bool {
        switch storageClass {
        case .null, .integer, .real: true
        case .text, .blob: false
        }
    }
}
