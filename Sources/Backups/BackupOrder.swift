internal import Foundation

/// The order of some backups in time.
///
/// A manifest tells the second, a name only the minute, and the number in it which one of that minute it was. Which of two
/// backups is newer may thus depend on a third: in a minute in which a name is all that is known of one of them, the
/// numbers count for all. Seconds for some and numbers for others would go round in circles.
package struct BackupOrder {
    /// The minutes in which the seconds of one are not known.
    private let coarse: Set<Int64>

    /// Finds the order of backups; it says nothing of others.
    package init(of backups: some Sequence<Backup>) {
        coarse = Set(
            backups.filter { $0.timeSource == .name }.compactMap(\.time).map(Self.minute)
        )
    }

    /// Returns whether a backup comes before another in a list that is newest first.
    ///
    /// Backups of unknown time come last, those of one moment by name, "(10)" before "(9)".
    package func isNewer(_ left: Backup, _ right: Backup) -> Bool {
        switch (left.time, right.time) {
        case (_?, nil): return true
        case (nil, _?): return false
        case (nil, nil): break
        case (let first?, let second?):
            let minutes = (Self.minute(first), Self.minute(second))
            guard minutes.0 == minutes.1 else { return minutes.0 > minutes.1 }
            if coarse.contains(minutes.0) {
                let numbers = (BackupName.number(of: left.name), BackupName.number(of: right.name))
                guard numbers.0 == numbers.1 else { return numbers.0 > numbers.1 }
            }
            guard first == second else { return first > second }
        }
        return left.name.count == right.name.count
            ? left.name > right.name : left.name.count > right.name.count
    }

    /// Returns the minute of a moment, counted from 1970 on.
    static func minute(_ date: Date) -> Int64 {
        Int64((date.timeIntervalSince1970 / 60).rounded(.down))
    }
}
