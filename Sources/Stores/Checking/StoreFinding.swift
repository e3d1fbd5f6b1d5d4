internal import Files

/// Something that a check found in a store.
public enum StoreFinding: Sendable, Equatable, CustomStringConvertible {
    /// The store is damaged, in SQLite's words.
    case damage(String)
    /// Rows of a table refer to rows of a parent table that are not there.
    ///
    /// Such rows are nothing unusual if the application does not have SQLite enforce foreign keys.
    case missingParents(table: String, parent: String, rows: Int64)
    /// SQLite cannot check a table's foreign keys, since the schema does not match itself.
    case uncheckedKeys(table: String, reason: String)
    /// So many more remarks, which are not told one by one.
    case more(Int)

    /// Tells damage from what is only worth a remark.
    ///
    /// - Parameter isStrict: whether a remark is damage too.
    /// - Returns: whether the finding is damage.
    public func isDamage(isStrict: Bool) -> Bool {
        if case .damage = self { true } else { isStrict }
    }

    public var description: String {
        switch self {
        case .damage(let reason): reason
        case .missingParents(let table, let parent, let rows):
            "\(counted(Int(rows), "row", "rows")) of \(Self.quoted(table)) \(rows == 1 ? "refers" : "refer") to rows of \(Self.quoted(parent)) that are not there"
        case .uncheckedKeys(let table, let reason):
            "the foreign keys of \(Self.quoted(table)) cannot be checked: \(printable(bytes: reason.utf8))"
        case .more(let count): "and \(count) more of this kind"
        }
    }

    private static func quoted(_ name: String) -> String {
        "'\(printable(bytes: String(name.prefix(100)).utf8))'"
    }
}
