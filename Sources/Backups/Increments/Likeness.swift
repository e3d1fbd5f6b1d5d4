internal import Foundation

/// How much an archive is like one that is needed; the likeliest is the least.
enum Likeness: Int {
    /// It has its place in the lineage, and needs no other.
    case whole
    /// It has its name and size, and nothing speaks against it.
    case named
    /// It has its place in the lineage.
    case placed
    /// It has its name but for the end or the size, and nothing more is known of it.
    case namesake
    /// Nothing is known of it, nor that it is another one.
    case unknown

    /// Whether it need not be looked into.
    var isKnown: Bool { self == .whole || self == .named || self == .placed }
}

extension Backup {
    /// The difference of a name's time and a moment at most, in seconds: names have minutes of local time, in
    /// zones from 12 hours behind to 14 before.
    static let nameTolerance: TimeInterval = 26 * 3600

    /// Whether nothing is known of its content.
    var isUnknown: Bool { timeSource != .manifest && !isForeign }

    /// Returns how it is like one that an increment is built on.
    ///
    /// - Parameters:
    ///   - need: what the increment says of it.
    ///   - lineage: the increment's.
    /// - Returns: `nil` if it is another one.
    func likeness(to need: Need, of lineage: String?) -> Likeness? {
        guard isUnknown else {
            guard lineage != nil, self.lineage == lineage, number == need.number,
                time == Timestamp.date(rfc3339: need.created)
            else { return nil }
            return !isIncrement ? .whole : name == need.name && size == need.size ? .named : .placed
        }
        if name == need.name, size == need.size { return .named }
        if BackupName.display(name) == BackupName.display(need.name) { return .namesake }
        guard !isUnreadable, !isSealed else { return nil }
        guard let time = ownTime, let moment = Timestamp.date(rfc3339: need.created) else {
            return .unknown
        }
        return abs(time.timeIntervalSince(moment)) <= Self.nameTolerance ? .unknown : nil
    }
}
