/// The way in which the rows of a store that joins a group are found among the group's, besides by their
/// ids.
public enum JoinMatch: String, CaseIterable, Sendable {
    /// By equal content as it is now, also where rows have keys: both stay, and one is shown.
    case content
    /// By the number that the row had elsewhere: the store was a copy of another device's.
    case copy
    /// By keys alone: rows without are new ones.
    case key
    /// By equal content where rows have no keys: this device took part before, and what it knew is gone.
    case again

    /// Those that a person may choose.
    public static let allCases: [JoinMatch] = [.content, .copy, .key]
}
