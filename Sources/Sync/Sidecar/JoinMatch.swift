/// The way to match the rows of a joining store with the group's rows, beyond their ids.
public enum JoinMatch: String, CaseIterable, Sendable {
    /// By equal present content, even for rows with keys: both rows stay, and one is shown.
    case content
    /// By the number that the row had elsewhere: the store was a copy of another device's.
    case copy
    /// By keys alone: rows without keys are new.
    case key
    /// By equal content, for rows without keys: this device took part before, and has lost its sidecar.
    case again

    /// The ways that a person may choose.
    public static let allCases: [JoinMatch] = [.content, .copy, .key]
}
