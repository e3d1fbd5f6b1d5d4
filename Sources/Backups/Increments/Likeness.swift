internal import Files
internal import Foundation

/// The likeness of an archive to a needed one; a smaller raw value is more likely.
enum Likeness: Int {
    /// The archive has the same place in the lineage, and needs no other.
    case whole
    /// The archive has the same name and size, and nothing contradicts it.
    case named
    /// The archive has the same place in the lineage.
    case placed
    /// The archive has the same display name, but another end or size, and its content is unknown.
    case namesake
    /// The archive's content is unknown, and it may be the needed one.
    case unknown

    /// Whether the archive need not be inspected.
    var isKnown: Bool { self == .whole || self == .named || self == .placed }
}

extension Backup {
    /// The maximum difference in seconds between the time in a name and the moment itself.
    ///
    /// Names are in local time, in zones from 12 hours behind UTC to 14 hours ahead.
    static let nameTolerance: TimeInterval = 26 * 3600

    /// Whether its content is unknown.
    var isUnknown: Bool { timeSource != .manifest && !isForeign }

    /// Returns the likeness to a backup that an increment is built on.
    ///
    /// - Parameters:
    ///   - need: the increment's description of that backup.
    ///   - lineage: the increment's lineage.
    /// - Returns: `nil` if this is a different backup.
    func likeness(to need: Need, of lineage: String?) -> Likeness? {
        guard isUnknown else {
            guard lineage != nil, self.lineage == lineage, number == need.number,
                time == Timestamp.date(rfc3339: need.created)
            else { return nil }
            return !isIncrement
                ? .whole : name.exact == need.name.exact && size == need.size ? .named : .placed
        }
        if name.exact == need.name.exact, size == need.size { return .named }
        if BackupName.display(name).exact == BackupName.display(need.name).exact {
            return .namesake
        }
        guard !isUnreadable, !isSealed else { return nil }
        guard let time = ownTime, let moment = Timestamp.date(rfc3339: need.created) else {
            return .unknown
        }
        return abs(time.timeIntervalSince(moment)) <= Self.nameTolerance ? .unknown : nil
    }
}
