internal import Files
internal import Operations
internal import Stores

/// One difference between two states, in JSON an object on its own line.
extension Difference: Answer, JSONConvertible {
    var json: JSONObject {
        switch self {
        case .file(let file):
            [
                "messageType": "file", "path": file.path, "type": file.type, "change": file.change,
                "aspects": file.aspects, "oldSize": file.oldSize, "newSize": file.newSize,
            ]
        case .store(let store):
            [
                "messageType": "store", "path": store.path, "change": store.change,
                "numbers": store.numbers,
            ]
        case .unread(let store):
            [
                "messageType": "unread", "path": store.path, "live": store.isLive,
                "damaged": store.isDamaged, "failure": explain(store.error),
            ]
        case .table(let table): table.json
        case .row(let row):
            [
                "messageType": "row", "store": row.store, "table": row.table,
                "entity": row.entity, "change": row.change.kind,
                "key": row.properties.json(row.change.key),
                "cells": row.properties.json(row.change.cells),
            ]
        case .moreRows(let count): ["messageType": "more", "rows": count]
        case .statement(let sql): ["messageType": "statement", "sql": sql]
        }
    }

    func write(to console: Console) {
        guard case .statement(let sql) = self else { return console.answer(lines: lines) }
        // A file gets the exact statement, to be run; a terminal gets it in a printable form.
        guard console.redraws else { return console.answer(text: sql + "\n") }
        console.answer(lines: sql.split(separator: "\n").map(String.init))
    }
}

/// The last answer about two states: whether there was any difference.
struct DifferenceSummary: Answer, JSONConvertible {
    let old: String
    let new: String
    let differs: Bool

    var json: JSONObject {
        ["messageType": "summary", "old": old, "new": new, "differs": differs]
    }

    func write(to console: Console) { if !differs { console.message("nothing differs") } }
}

extension TableDifference {
    fileprivate var json: JSONObject {
        let columns = (schema?.columns ?? []).map { column -> JSONObject in
            [
                "name": column.name, "property": properties[column.name],
                "change": column.change, "old": column.old, "new": column.new,
            ]
        }
        let parts = (schema?.parts ?? []).map { part -> JSONObject in
            ["kind": part.kind, "name": part.name, "change": part.change]
        }
        return [
            "messageType": "table", "store": store, "table": table, "entity": entity,
            "kind": kind.rawValue, "change": schema?.change, "columns": columns, "parts": parts,
            "rows": rows, "failure": failure,
        ]
    }
}

// The model's names of columns, by the names in the store.
extension [String: String] {
    /// Returns the values of a row's key.
    func json(_ key: [(column: String, value: RowChange.Value)]) -> [JSONObject] {
        key.map { ["column": $0.column, "property": self[$0.column], "value": $0.value.json] }
    }

    /// Returns values before and after a change.
    func json(_ cells: [RowChange.Cell]) -> [JSONObject] {
        cells.map {
            [
                "column": $0.column, "property": self[$0.column], "old": $0.old?.json,
                "new": $0.new?.json,
            ]
        }
    }
}

extension RowChange.Value {
    /// The value with its storage class, since JSON has only one kind of number and no bytes.
    fileprivate var json: JSONObject {
        switch self {
        case .large(let kind, let count): ["type": kind == .text ? "text" : "blob", "bytes": count]
        case .stored(.null): ["type": "null"]
        case .stored(.integer(let number)): ["type": "integer", "integer": number]
        case .stored(.real(let bits)):
            // JSON cannot express an infinite number.
            Double(bitPattern: bits).isFinite
                ? ["type": "real", "real": Double(bitPattern: bits)]
                : ["type": "real", "text": "\(Double(bitPattern: bits))"]
        case .stored(.text(let text)):
            [
                "type": "text", "text": text.string,
                "hex": text.string == nil ? text.array.hex : nil,
            ]
        case .stored(.blob(let bytes)): ["type": "blob", "hex": bytes.array.hex]
        }
    }
}
