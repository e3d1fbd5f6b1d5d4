internal import Changes
internal import Foundation
internal import Stores

/// The comparison by which SQLite finds the row that a reference names: by the affinity and the collation of that
/// row's column (https://www.sqlite.org/foreignkeys.html, 3).
enum KeyComparison {
    /// Returns a function that gives values that are equal if the comparison finds them equal.
    static func folding(_ columns: [ColumnSchema]) -> @Sendable ([Value]) -> [Value] {
        let forms = columns.map { ($0.affinity, $0.collation) }
        return { values in
            zip(values, forms).map { value, form in
                value.stored.map { folded($0, form.0).folded(form.1).wire } ?? value
            }
        }
    }

    /// Returns the value that an affinity makes of another; numbers that are equal become one.
    static func folded(_ value: StoredValue, _ affinity: ColumnSchema.Affinity) -> StoredValue {
        switch (affinity, value) {
        case (.text, .integer(let number)): .text(StoredBytes(Array(String(number).utf8)))
        case (.text, .real(let bits)): .text(text(of: Double(bitPattern: bits)))
        case (.integer, .text(let bytes)), (.real, .text(let bytes)), (.numeric, .text(let bytes)):
            number(in: bytes.array) ?? value
        case (_, .real(let bits)): whole(Double(bitPattern: bits))
        default: value
        }
    }

    /// Returns a value as SQLite stores it in a column with an affinity (https://www.sqlite.org/datatype3.html, 3).
    static func converted(
        _ value: StoredValue,
        to affinity: ColumnSchema.Affinity
    ) -> StoredValue {
        if affinity == .blob { return value }
        let folded = folded(value, affinity)
        guard affinity == .real, case .integer(let number) = folded else { return folded }
        return .real(bits: Double(number).bitPattern)
    }

    /// Returns a column that refers to another one, as SQL that compares as the other one does.
    static func term(_ column: ColumnSchema, like parent: ColumnSchema) -> String {
        let isNumber = parent.affinity != .text && parent.affinity != .blob
        let isOther = column.affinity == .text || column.affinity == .blob
        let name = column.name.sqlIdentifier
        // A text that is no number stays a text, which CAST would take for 0.
        let number = "CAST(\(name) AS NUMERIC)"
        let term =
            isNumber && isOther
            ? "CASE WHEN \(name) = \(number) THEN \(number) ELSE \(name) END" : name
        // SQLite would not use an index of the column's own collation.
        let isLike = column.collation.foldedIdentifier == parent.collation.foldedIdentifier
        return isLike ? term : "\(term) COLLATE \(parent.collation.sqlIdentifier)"
    }

    private static func text(of number: Double) -> StoredBytes {
        let text = String(format: "%.15g", number)
        // SQLite writes 1e+20 as 1.0e+20.
        let digits = text.prefix { $0.isNumber || $0 == "-" }
        let isWhole = digits.count == text.count || text.dropFirst(digits.count).first == "e"
        let whole = isWhole ? digits + ".0" + text.dropFirst(digits.count) : text[...]
        return StoredBytes(Array(whole.utf8))
    }

    /// Returns the number that a text is, all of it but for spaces; `nil` if it is none.
    private static func number(in bytes: [UInt8]) -> StoredValue? {
        let text = String(decoding: bytes, as: UTF8.self)
            .trimmingCharacters(in: CharacterSet(charactersIn: " \t\n\r\u{0B}\u{0C}"))
        guard text.wholeMatch(of: /[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?/) != nil
        else { return nil }
        return Int64(text).map { .integer($0) } ?? Double(text).map(whole)
    }

    private static func whole(_ number: Double) -> StoredValue {
        Int64(exactly: number).map { .integer($0) } ?? .real(bits: number.bitPattern)
    }
}

extension StoredValue {
    /// The number that it is or contains; another value is returned as it is.
    var asNumber: StoredValue { KeyComparison.folded(self, .numeric) }
}

extension TableMapping {
    /// Returns the columns of a reference as SQL that compares with the values of the other table's columns.
    func terms(of reference: ViewSchema.Reference, to parent: TableMapping) -> [String] {
        zip(reference.columns, reference.targets).compactMap { name, target in
            guard let own = columns.first(where: { $0.name == name }),
                let other = parent.columns.first(where: { $0.name == target })
            else { return nil }
            return KeyComparison.term(
                schema.columns[own.place],
                like: parent.schema.columns[other.place]
            )
        }
    }
}
