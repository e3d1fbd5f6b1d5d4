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

/// The changes that a restore would make, for programs.
struct PreviewObject: Encodable {
    struct Table: Encodable {
        var store: String
        var table: String
        var entity: String?
        var rows: RowCounts
    }

    struct SchemaPart: Encodable {
        var store: String
        var kind: String
        var name: String
        var change: SchemaDiff.Change
    }

    struct VirtualTable: Encodable {
        var store: String
        var table: String
    }

    struct Number: Encodable {
        var store: String
        var name: String
        var old: Int64
        var new: Int64
    }

    struct Unread: Encodable {
        var path: String
        /// Whether the store in the stores directory could not be read; if not, it was the backup's.
        var live: Bool
        var failure: String
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
    var schemas: [SchemaPart]
    var virtualTables: [VirtualTable]
    var numbers: [Number]
    var unread: [Unread]
    var externalData: Files
    var files: Files
    var directories: Files
    /// The number of names whose mode, owner or time would change.
    var attributes: Int

    init(_ preview: RestorePreview) {
        complete = preview.isComplete
        stores = preview.stores.map { Store(path: $0.path, change: $0.change) }
        tables = preview.tables.map {
            Table(store: $0.store, table: $0.table, entity: $0.entity, rows: $0.rows)
        }
        externalData = Files(preview.externalData)
        files = Files(preview.files)
        directories = Files(preview.directories)
        attributes = preview.attributes
        schemas = preview.schemas.map {
            SchemaPart(store: $0.store, kind: $0.kind, name: $0.name, change: $0.change)
        }
        virtualTables = preview.virtualTables.map {
            VirtualTable(store: $0.store, table: $0.table.name)
        }
        numbers = preview.numbers.map {
            Number(store: $0.store, name: $0.name, old: $0.old, new: $0.new)
        }
        unread = preview.unread.map {
            Unread(path: $0.path, live: $0.isLive, failure: explain($0.error))
        }
    }
}
