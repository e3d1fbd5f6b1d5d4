internal import Files

/// The terms of an index, and the condition of a partial index, as SQL that finds a row by the index.
package struct IndexTerms {
    /// The columns or expressions, each with the index's collation.
    package let terms: [String]
    /// The condition; `nil` if all rows are in the index.
    package let condition: String?

    /// Reads the terms of an index; `nil` if the index's statement cannot be parsed.
    package init?(_ index: IndexSchema, of table: TableSchema) {
        let needsText = index.isPartial || index.keys.contains(where: \.isExpression)
        guard needsText else {
            guard index.keys.allSatisfy({ $0.column != nil }) else { return nil }
            terms = index.keys.map { key in
                let name = key.column.map { table.columns[$0].name.sqlIdentifier } ?? ""
                return "\(name) COLLATE \(key.collation.sqlIdentifier)"
            }
            condition = nil
            return
        }
        guard let sql = index.sql, let parts = Self.parts(of: sql),
            parts.terms.count == index.keys.count
        else { return nil }
        terms = zip(parts.terms, index.keys).map { term, key in
            "(\(term)) COLLATE \(key.collation.sqlIdentifier)"
        }
        condition = parts.condition
        if index.isPartial, condition == nil { return nil }
    }

    /// Splits `CREATE UNIQUE INDEX … ON … (term, …) WHERE condition`.
    private static func parts(of sql: String) -> (terms: [String], condition: String?)? {
        let read = SQLTokens(sql)
        let tokens = read.all
        guard let on = tokens.firstIndex(where: { $0.folded == "on" }),
            let open = tokens[on...].firstIndex(where: { $0.folded == "(" })
        else { return nil }
        var terms: [[SQLTokens.Token]] = [[]]
        var depth = 1
        var place = open + 1
        while place < tokens.count {
            let token = tokens[place]
            place += 1
            if token.folded == "(" { depth += 1 }
            if token.folded == ")" { depth -= 1 }
            if depth == 0 { break }
            if depth == 1, token.folded == "," {
                terms.append([])
            } else {
                terms[terms.count - 1].append(token)
            }
        }
        guard depth == 0 else { return nil }
        var condition: String?
        if place < tokens.count {
            guard tokens[place].folded == "where" else { return nil }
            condition = read.text(tokens[(place + 1)...])
        }
        let texts = terms.map { term in
            let isOrdered = ["asc", "desc"].contains(term.last?.folded)
            return read.text(isOrdered ? term.dropLast() : term[...])
        }
        return texts.contains("") ? nil : (texts, condition)
    }
}
