internal import Files
internal import Operations
internal import Stores

extension RestorePreview {
    /// The maximum number of lines, which must fit on one screen above a question.
    private static let linesLimit = 15

    /// The changes as lines for people.
    var lines: [String] {
        let lines = changes
        if !isComplete {
            return lines + ["not all was compared: more may change"]
        }
        return lines.isEmpty ? ["nothing would change"] : lines
    }

    private var changes: [String] {
        let stores = stores.map { store in
            "\(store.path): \(store.change == .added ? "comes back" : "is lost") as a whole"
        }
        let names = Set(
            (tables.map(\.store) + virtualTables.map(\.store) + self.schemas.map(\.store)
                + self.numbers.map(\.store)).map(\.exact)
        )
        let tables = tables.map { table in
            let name = table.entity ?? table.table
            let title = names.count > 1 ? "\(table.store), \(name)" : name
            let rows = Self.text(
                (table.rows.added, table.rows.removed, table.rows.changed),
                "row",
                "rows"
            )
            return "\(title): \(rows)"
        }
        func title(_ store: String) -> String { names.count > 1 ? "\(store): " : "" }
        let indexes = virtualTables.map { virtual in
            let noun = virtual.table.isSearchIndex ? "search index" : "virtual table"
            return "\(title(virtual.store))the \(noun) '\(virtual.table.name)' differs"
        }
        let schemas = schemas.map { part in
            let verb =
                switch part.change {
                case .added: "comes back"
                case .removed: "is lost"
                case .changed: part.kind == "table" ? "gets its old definition" : "changes"
                }
            return "\(title(part.store))the \(part.kind) '\(part.name)' \(verb)"
        }
        let numbers = numbers.map {
            "\(title($0.store))\($0.name) changes from \($0.old) to \($0.new)"
        }
        let unread = unread.map { store in
            "\(store.path): its rows were not compared, since it \(store.isDamaged ? "is damaged" : "cannot be read") in \(store.place)"
        }
        var lines = unread + stores + tables + indexes + schemas + numbers
        if lines.count > Self.linesLimit {
            let more = lines.count - Self.linesLimit + 1
            lines = lines.prefix(Self.linesLimit - 1) + ["\(more) more parts of stores change"]
        }
        if !externalData.isEmpty {
            lines.append(externalData.text("file of external data", "files of external data"))
        }
        if !files.isEmpty { lines.append(files.text("other file", "other files")) }
        if !directories.isEmpty { lines.append(directories.text("directory", "directories")) }
        if attributes > 0 {
            let subject = attributes == 1 ? "1 name gets" : "\(attributes) names get"
            lines.append("\(subject) another mode, owner or time")
        }
        return lines
    }

    /// Returns the counts of added, lost and changed things as text.
    fileprivate static func text(
        _ counts: (added: Int64, removed: Int64, changed: Int64),
        _ singular: String,
        _ plural: String
    ) -> String {
        var parts: [String] = []
        func add(_ count: Int64, _ one: String, _ many: String) {
            guard count > 0 else { return }
            let noun = parts.isEmpty ? " \(count == 1 ? singular : plural)" : ""
            parts.append("\(count)\(noun) \(count == 1 ? one : many)")
        }
        add(counts.added, "comes back", "come back")
        add(counts.removed, "is lost", "are lost")
        add(counts.changed, "changes", "change")
        return parts.joined(separator: ", ")
    }
}

extension RestorePreview.Files {
    fileprivate func text(_ singular: String, _ plural: String) -> String {
        RestorePreview.text((Int64(added), Int64(removed), Int64(changed)), singular, plural)
    }
}

extension RestorePreview {
    /// The changes that a restore would make, for programs.
    var json: JSONObject {
        func json(_ files: Files) -> JSONObject {
            ["added": files.added, "removed": files.removed, "changed": files.changed]
        }
        let stores = stores.map { ["path": $0.path, "change": $0.change] as JSONObject }
        let tables = tables.map { table -> JSONObject in
            [
                "store": table.store, "table": table.table, "entity": table.entity,
                "rows": table.rows,
            ]
        }
        let schemas = schemas.map { part -> JSONObject in
            ["store": part.store, "kind": part.kind, "name": part.name, "change": part.change]
        }
        let virtual = virtualTables.map {
            ["store": $0.store, "table": $0.table.name] as JSONObject
        }
        let numbers = numbers.map { number -> JSONObject in
            ["store": number.store, "name": number.name, "old": number.old, "new": number.new]
        }
        let unread = unread.map { store -> JSONObject in
            ["path": store.path, "live": store.isLive, "failure": explain(store.error)]
        }
        return [
            "complete": isComplete, "stores": stores, "tables": tables, "schemas": schemas,
            "virtualTables": virtual, "numbers": numbers, "unread": unread,
            "externalData": json(externalData), "files": json(files),
            "directories": json(directories), "attributes": attributes,
        ]
    }
}
