internal import Files
internal import Stores

/// The parent table that a column's name suggests, although no schema declares it.
struct NamedParent {
    /// The part of the name that may name a table; `nil` if the name has no ending that means a key.
    let stem: String?
    /// Whether the name can mean nothing but a key of some table.
    let isSure: Bool

    /// Reads a column's name.
    ///
    /// In 'list_id', 'listId' and 'nid' the ending means a key; in 'listid' it may, as in 'paid'.
    init(_ column: String) {
        let folded = column.foldedIdentifier.text
        if folded.hasSuffix("_id"), folded.count > 3 {
            (stem, isSure) = (String(folded.dropLast(3)), true)
            return
        }
        guard folded.hasSuffix("id"), folded.count > 2 else {
            (stem, isSure) = (nil, false)
            return
        }
        let stem = String(folded.dropLast(2))
        let before = column.dropLast(2).last
        let isCamel = column.hasSuffix("Id") || column.hasSuffix("ID")
        self.stem = stem
        isSure = stem.count == 1 || isCamel && before?.isLowercase == true
    }

    /// Returns whether a table's name means a stem, in the singular or the plural.
    static func isNamed(_ table: ExactString, _ stem: String) -> Bool {
        forms(of: stem).contains(table.text.replacing("_", with: ""))
    }

    /// Returns whether a table's name begins or ends with a stem, as 'payee_v1' and 'moz_places' do.
    static func resembles(_ table: ExactString, _ stem: String) -> Bool {
        guard stem.count > 2 else { return false }
        let name = table.text.replacing("_", with: "")
        return name.hasPrefix(stem.replacing("_", with: ""))
            || forms(of: stem).contains { name.hasSuffix($0) }
    }

    private static func forms(of stem: String) -> [String] {
        let stem = stem.replacing("_", with: "")
        var forms = [stem, stem + "s", stem + "es"]
        if stem.hasSuffix("y") { forms.append(stem.dropLast() + "ies") }
        if stem.hasSuffix("s") { forms.append(String(stem.dropLast())) }
        return forms
    }
}
