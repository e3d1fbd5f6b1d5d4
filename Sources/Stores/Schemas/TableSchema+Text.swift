extension TableSchema {
    /// A text that is equal for two tables with the same data structure, however their statements are written.
    ///
    /// The order of columns does not count, since rows are exchanged by the names of columns.
    public var canonicalText: String {
        var lines = ["table \(name.foldedIdentifier.sqlIdentifier) \(kind.rawValue)"]
        if isStrict { lines[0] += " strict" }
        if isWithoutRowID { lines[0] += " without rowid" }
        if isAutoincrement { lines[0] += " autoincrement" }
        lines += columns.map(\.canonicalText).sorted()
        if !primaryKey.isEmpty { lines.append("key \(names(primaryKey))") }
        lines += indexes.map(canonicalText).sorted()
        lines += references.map(canonicalText).sorted()
        lines += triggers.map { "trigger \($0.name.foldedIdentifier.sqlIdentifier) \($0.sql)" }
        return lines.joined(separator: "\n") + "\n"
    }

    private func names(_ places: [Int]) -> String {
        places.map { columns[$0].name.foldedIdentifier.sqlIdentifier }.joined(separator: " ")
    }

    private func canonicalText(of index: IndexSchema) -> String {
        let keys = index.keys.map { key in
            let subject = key.column.map { names([$0]) } ?? (key.isExpression ? "()" : "rowid")
            return "\(subject) \(key.collation.foldedIdentifier)\(key.isDescending ? " desc" : "")"
        }
        let unique = index.isUnique ? "unique " : ""
        // Only its text contains an expression, or the condition of a partial index.
        let needsText = index.isPartial || index.keys.contains(where: \.isExpression)
        return "\(unique)index \(keys.joined(separator: ", "))"
            + (needsText ? " \(index.sql ?? "")" : "")
    }

    private func canonicalText(of reference: ReferenceSchema) -> String {
        let parent = reference.parent.foldedIdentifier.sqlIdentifier
        let columns = reference.parentColumns?.map(\.foldedIdentifier.sqlIdentifier) ?? []
        return
            "reference \(names(reference.columns)) to \(parent) \(columns.joined(separator: " "))"
            + " update \(reference.onUpdate.rawValue) delete \(reference.onDelete.rawValue)"
    }
}

extension ColumnSchema {
    fileprivate var canonicalText: String {
        var text = "column \(name.foldedIdentifier.sqlIdentifier) \(affinity.rawValue)"
        text += " \(collation.foldedIdentifier) \(kind.rawValue)"
        if isNotNull { text += " not null" }
        switch defaultValue {
        case .constant(.null): break
        case .constant(let value): text += " default \(value.sqlLiteral)"
        case .expression(let expression): text += " default (\(expression))"
        }
        return text
    }
}
