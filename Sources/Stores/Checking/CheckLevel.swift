/// How thoroughly a store is checked.
public enum CheckLevel: String, CaseIterable, Sendable {
    /// Not at all; it has to open all the same.
    case none
    /// `PRAGMA quick_check` (https://www.sqlite.org/pragma.html#pragma_quick_check).
    case quick
    /// `PRAGMA integrity_check` and `PRAGMA foreign_key_check`.
    case full
}
