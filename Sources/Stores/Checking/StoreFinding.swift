internal import Files

/// A finding of a check of a store.
public enum StoreFinding: Sendable, Equatable, CustomStringConvertible {
    /// The store is damaged, in SQLite's words.
    case damage(String)
    /// Rows of a table refer to missing rows of a parent table.
    ///
    /// Such rows are normal if the application does not have SQLite enforce foreign keys.
    case missingParents(table: String, parent: String, rows: Int64)
    /// SQLite cannot check a table's foreign keys, since the schema contradicts itself.
    case uncheckedKeys(table: String, reason: String)
    /// SQLite cannot check the store or one of its tables in full, since it lacks parts of the application.
    case notChecked(table: String? = nil, reason: String)
    /// There are this many more remarks, which are not listed one by one.
    case more(Int)

    /// Returns whether the finding is damage, and not only worth a remark.
    ///
    /// - Parameter isStrict: whether a remark is damage too.
    /// - Returns: `true` for damage.
    public func isDamage(isStrict: Bool) -> Bool {
        switch self {
        case .damage: true
        case .notChecked: false
        default: isStrict
        }
    }

    public var description: String {
        switch self {
        case .damage(let reason): reason
        case .missingParents(let table, let parent, let rows):
            "\(counted(Int(rows), "row", "rows")) of \(Self.quoted(table)) \(rows == 1 ? "refers" : "refer") to rows of \(Self.quoted(parent)) that are not there"
        case .uncheckedKeys(let table, let reason):
            "the foreign keys of \(Self.quoted(table)) cannot be checked: \(printable(bytes: reason.utf8))"
        case .notChecked(nil, let reason): "not checked: \(reason)"
        case .notChecked(let table?, let reason):
            "not checked: parts of \(Self.quoted(table)): \(printable(bytes: reason.utf8))"
        case .more(let count): "and \(count) more of this kind"
        }
    }

    private static func quoted(_ name: String) -> String {
        "'\(printable(bytes: String(name.prefix(100)).utf8))'"
    }
}
