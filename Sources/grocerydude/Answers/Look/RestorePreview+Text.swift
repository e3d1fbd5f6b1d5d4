internal import Files
internal import Operations
internal import Stores

extension RestorePreview {
    /// The most lines: they stand above a question, in one screen.
    private static let linesLimit = 15

    /// What would change, as people read it.
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
        let names = Set(tables.map(\.store))
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
        var lines = stores + tables
        if lines.count > Self.linesLimit {
            let more = lines.count - Self.linesLimit + 1
            lines = lines.prefix(Self.linesLimit - 1) + ["\(more) more tables change"]
        }
        if !externalData.isEmpty {
            lines.append(externalData.text("file of external data", "files of external data"))
        }
        if !files.isEmpty { lines.append(files.text("other file", "other files")) }
        return lines
    }

    /// Says how many come back, are lost and change.
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

/// What a restore would change, for programs.
struct PreviewObject: Encodable {
    struct Table: Encodable {
        var store: String
        var table: String
        var entity: String?
        var rows: RowCounts
    }

    struct Store: Encodable {
        var path: String
        var change: SchemaDiff.Change
    }

    struct Files: Encodable {
        var added: Int
        var removed: Int
        var changed: Int

        init(_ files: RestorePreview.Files) {
            (added, removed, changed) = (files.added, files.removed, files.changed)
        }
    }

    var complete: Bool
    var stores: [Store]
    var tables: [Table]
    var externalData: Files
    var files: Files

    init(_ preview: RestorePreview) {
        complete = preview.isComplete
        stores = preview.stores.map { Store(path: $0.path, change: $0.change) }
        tables = preview.tables.map {
            Table(store: $0.store, table: $0.table, entity: $0.entity, rows: $0.rows)
        }
        externalData = Files(preview.externalData)
        files = Files(preview.files)
    }
}
