/// Says what becomes of an archive whose name another backup of the folder has.
public enum SameName: String, Sendable, CaseIterable {
    /// It gets the next number: nothing is touched.
    case number
    /// The other one moves to the trash first.
    case replace
    /// It is refused.
    case fail
}
