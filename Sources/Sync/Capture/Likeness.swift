internal import Changes
internal import Stores

/// The values that two rows of a table have alike: evidence for or against their being the same row.
///
/// A number is not enough, since SQLite gives that of a deleted row to the next one. Blank values are no evidence.
struct Likeness {
    /// The number of columns that count.
    private(set) var filled = 0
    /// The number of those that are alike.
    private(set) var equal = 0
    /// Whether a text is among those that are alike.
    private(set) var hasText = false

    /// Whether a text is among those that differ: two rows often have their units and numbers alike.
    private var hasOtherText = false

    /// Counts a column that is not blank.
    mutating func count(isEqual: Bool, isText: Bool) {
        filled += 1
        guard isEqual else {
            hasOtherText = hasOtherText || isText
            return
        }
        equal += 1
        hasText = hasText || isText
    }

    /// Whether most columns are alike; it is `false` if there is nothing to compare.
    var isOfMost: Bool { equal * 2 > filled }

    /// Whether half of the columns are alike, or more.
    var isHalf: Bool { equal * 2 >= filled }

    /// Whether the rows show that a number means the same row in both stores.
    var provesNumber: Bool { isOfMost && !hasOtherText }

    /// Returns whether the rows at one number of two stores may be the same, one of them edited.
    ///
    /// - Parameter isCommon: whether the stores have a row with a higher number alike. SQLite gives only numbers above
    ///   the highest, so neither has given the number to another row.
    /// - Returns: `false` if they are two rows.
    func mayBeOfSame(isCommon: Bool) -> Bool {
        provesNumber || filled == 0 || isCommon && (equal > 0 || filled == 1)
    }

    /// Whether two rows can only be the same.
    var isOfSame: Bool { hasText && isOfMost || equal == filled && filled > 0 }
}

extension TableMapping {
    /// Compares two rows by the columns that are not blank in both.
    ///
    /// - Parameters:
    ///   - one: the parts of a row's image, by the columns' numbers.
    ///   - other: those of another.
    ///   - numbers: the columns' numbers.
    /// - Returns: the columns that are alike.
    func likeness(
        _ one: [Int64: RowImage.Part],
        _ other: [Int64: RowImage.Part],
        _ numbers: [Int64]
    ) -> Likeness {
        var likeness = Likeness()
        for (column, number) in zip(columns, numbers) {
            let (part, present) = (one[number], other[number])
            if column.isBlank(part), column.isBlank(present) { continue }
            let isText = part?.isText == true || present?.isText == true
            likeness.count(isEqual: part == present, isText: isText)
        }
        return likeness
    }
}

extension RowImage.Part {
    /// Whether it is a text with content.
    var isText: Bool {
        switch self {
        case .value(.text(let bytes)): bytes.count > 0
        case .hash(.text, _): true
        default: false
        }
    }
}
