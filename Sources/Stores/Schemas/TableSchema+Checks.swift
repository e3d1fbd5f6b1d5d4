extension TableSchema {
    /// The indices of the columns that each CHECK names, of a column and of the table.
    package var checks: [Set<Int>] {
        let read = SQLTokens(sql)
        let tokens = read.all
        var found: [Set<Int>] = []
        for place in tokens.indices where tokens[place].folded == "check" {
            var depth = 0
            var named: Set<Int> = []
            for token in tokens[(place + 1)...] {
                if token.folded == "(" { depth += 1 }
                if token.folded == ")" { depth -= 1 }
                if depth == 0 { break }
                if let column = read.name(token).flatMap(column) { named.insert(column) }
            }
            found.append(named)
        }
        return found
    }
}

extension SQLTokens {
    /// Returns the name that a token may be, without its table and its quotes; `nil` for a literal.
    fileprivate func name(_ token: Token) -> String? {
        let text = text([token])
        guard token.folded.isEmpty else {
            return text.split(separator: ".").last.map(String.init)
        }
        guard let quote = text.first, quote != "'", text.count > 1 else { return nil }
        let name = String(text.dropFirst().dropLast())
        return quote == "[" ? name : name.replacing("\(quote)\(quote)", with: "\(quote)")
    }
}
