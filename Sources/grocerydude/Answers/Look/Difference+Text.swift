internal import Files
internal import Operations
internal import Stores

extension Difference {
    /// The difference as lines for people.
    var lines: [String] {
        switch self {
        case .file(let file): [file.line]
        case .store(let store):
            ["\(store.change.sign) \(store.path)"]
                + store.numbers.map { "    ~ \($0.name): \($0.old) → \($0.new)" }
        case .unread: []
        case .table(let table): table.lines
        case .row(let row): [row.line]
        case .moreRows(let count): ["        … \(counted(Int(count), "more row", "more rows"))"]
        case .statement(let sql): [sql]
        }
    }
}

extension SchemaDiff.Change {
    var sign: String {
        switch self {
        case .added: "+"
        case .removed: "-"
        case .changed: "~"
        }
    }
}

extension FileDifference {
    fileprivate var line: String {
        guard change == .changed else {
            let size = type == "file" ? (newSize ?? oldSize).map(byteCount) : nil
            return "\(change.sign) \(path)  \(size ?? type)"
        }
        var line = "\(change.sign) \(path)  \(aspects.map(\.rawValue).joined(separator: ", "))"
        if aspects.contains(.content), let oldSize, let newSize, oldSize != newSize {
            line += ", \(byteCount(oldSize)) → \(byteCount(newSize))"
        }
        return line
    }
}

extension TableDifference {
    fileprivate var lines: [String] {
        let change = schema?.change ?? .changed
        let title = entity.map { "\($0) (\(table))" } ?? table
        let facts = [kindText(change), rowText(change)].compactMap(\.self)
        let head = "    \(change.sign) \(title): \(facts.joined(separator: ", "))"
        return [head] + (schema?.columns ?? []).map(line)
            + (schema?.parts ?? []).map {
                "        \($0.change.sign) \($0.kind) \($0.name)"
            }
    }

    private func kindText(_ change: SchemaDiff.Change) -> String? {
        let noun =
            switch kind {
            case .table: "table"
            case .view: "view"
            case .virtual: "virtual table"
            case .shadow: "table of a virtual table"
            }
        switch schema?.change {
        case .added: return "new \(noun)"
        case .removed: return "\(noun) removed"
        case .changed: return "\(noun) changed"
        case nil: return kind == .shadow ? "of a virtual table" : nil
        }
    }

    private func rowText(_ change: SchemaDiff.Change) -> String? {
        if let failure { return "its rows are not compared: \(failure)" }
        guard let rows, !rows.isEmpty else { return nil }
        var parts: [String] = []
        func add(_ count: Int64, _ word: String) {
            guard count > 0 else { return }
            parts.append(
                parts.isEmpty
                    ? "\(counted(Int(count), "row", "rows")) \(word)" : "\(count) \(word)"
            )
        }
        add(rows.added, "added")
        add(rows.removed, "removed")
        add(rows.changed, "changed")
        return parts.joined(separator: ", ")
    }

    private func line(_ column: SchemaDiff.Column) -> String {
        let name = properties[column.name].map { "\($0) (\(column.name))" } ?? column.name
        let text =
            switch column.change {
            case .added: column.new ?? ""
            case .removed: column.old ?? ""
            case .changed: "\(column.old ?? "") → \(column.new ?? "")"
            }
        return "        \(column.change.sign) column \(name)\(text.isEmpty ? "" : ": \(text)")"
    }
}

extension RowDifference {
    fileprivate var line: String {
        let key = change.key.map { "\(name($0.column)) \($0.value.shown)" }
        let cells = change.cells
            // If only one state has the row, the key has these values already.
            .filter { cell in
                change.kind == .changed || !change.key.contains { $0.column == cell.column }
            }
            .map { cell in
                let values = [cell.old, cell.new].compactMap { $0?.shown }
                return "\(name(cell.column)) \(values.joined(separator: " → "))"
            }
        let subject = key.isEmpty ? "" : "\(key.joined(separator: ", ")): "
        return "        \(change.kind.sign) \(subject)\(cells.joined(separator: ", "))"
    }

    private func name(_ column: String) -> String { properties[column] ?? column }
}

extension RowChange.Value {
    /// The maximum number of characters of a value in a line.
    private static let shownLimit = 60

    /// The value for people, shortened if it is long.
    var shown: String {
        switch self {
        case .large(let kind, let count):
            "(\(kind == .text ? "text" : "blob") of \(byteCount(count)))"
        case .stored(.text(let bytes)):
            if let text = bytes.string {
                text.count > Self.shownLimit
                    ? "'\(text.prefix(Self.shownLimit))…' (\(byteCount(Int64(bytes.count))))"
                    : StoredValue.text(text).literal
            } else {
                "text \(Self.shown(bytes))"
            }
        case .stored(.blob(let bytes)): Self.shown(bytes)
        case .stored(let value): value.sqlLiteral
        }
    }

    private static func shown(_ bytes: StoredBytes) -> String {
        guard bytes.count > shownLimit / 2 else { return "X'\(bytes.array.hex)'" }
        return "X'\(bytes.array.prefix(shownLimit / 4).hex)…' (\(byteCount(Int64(bytes.count))))"
    }
}

extension StoredValue {
    /// The value as a literal that keeps NULs.
    fileprivate var literal: String {
        guard case .text(let bytes) = self, let text = bytes.string else { return sqlLiteral }
        return "'\(text.replacing("'", with: "''"))'"
    }
}

extension Collection<UInt8> {
    /// The bytes as two hexadecimal digits each.
    var hex: String {
        let digits = Array("0123456789ABCDEF".utf8)
        let text = flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
