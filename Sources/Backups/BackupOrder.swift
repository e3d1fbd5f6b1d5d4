internal import Foundation
internal import Remotes

/// The order of some backups in time.
///
/// A manifest has the second, a name only the minute and the backup's number within that minute. Which of two backups
/// is newer may thus depend on a third. If the name is the only source for one backup of a minute, the numbers order
/// all backups of that minute. Seconds for some and numbers for others could give a cyclic order.
///
/// A backup that was made after another one of its origin is newer, whatever the clock said: see `time(of:)`.
package struct BackupOrder {
    /// The minutes with a backup whose seconds are unknown.
    private let coarse: Set<Int64>

    /// Determines the order of the given backups; other backups must not be compared with it.
    package init(of backups: some Sequence<Backup>) {
        coarse = Set(
            backups.filter { $0.timeSource == .name }.compactMap(\.time).map(Self.minute)
        )
    }

    /// Returns whether a backup comes before another in a list that is newest first.
    ///
    /// Backups of unknown time come last. Backups of the same moment are ordered by number, then by their files' times,
    /// then by name.
    package func isNewer(_ left: Backup, _ right: Backup) -> Bool {
        switch (Self.time(of: left), Self.time(of: right)) {
        case (_?, nil): return true
        case (nil, _?): return false
        case (nil, nil): break
        case (let first?, let second?):
            let minutes = (Self.minute(first), Self.minute(second))
            guard minutes.0 == minutes.1 else { return minutes.0 > minutes.1 }
            if !coarse.contains(minutes.0), first != second { return first > second }
            let numbers = (BackupName.number(of: left.name), BackupName.number(of: right.name))
            guard numbers.0 == numbers.1 else { return numbers.0 > numbers.1 }
            // Names of different time zones do not share their numbers.
            let written = (left.written, right.written)
            guard written.0 == written.1 else { return written.0 > written.1 }
            guard first == second else { return first > second }
        }
        return left.name.count == right.name.count
            ? left.name > right.name : left.name.count > right.name.count
    }

    /// Returns the time that orders a backup: its own, or a moment after one that it follows although that is later.
    ///
    /// A clock that was ahead once, and is right again, would make older data the latest.
    static func time(of backup: Backup) -> Date? {
        guard let time = backup.time, let follows = backup.summary.follows,
            follows >= time.milliseconds
        else { return backup.time }
        return Date(milliseconds: follows + 1)
    }

    /// Returns the minute of a moment, counted from 1970.
    static func minute(_ date: Date) -> Int64 {
        Int64((date.timeIntervalSince1970 / 60).rounded(.down))
    }
}

extension Backup {
    /// The modification time of its file in the folder.
    fileprivate var written: Date { file.modified ?? .distantPast }
}
