internal import Files

/// The history of one backup's checks, the last of each kind.
public struct CheckHistory: Sendable, Equatable {
    private let checks: [RunLog.Check]

    /// Creates a history from the checks of one archive, in the order of recording.
    public init(_ checks: [RunLog.Check]) { self.checks = checks }

    /// Selects the checks of a file at an address from those of its backup, which may have copies.
    ///
    /// A file without checks of its own may have been renamed or moved. It gets the checks of the last checked file
    /// that no longer exists, if it had the same size.
    /// - Parameters:
    ///   - name: the file's name.
    ///   - size: the file's size in bytes.
    ///   - address: the folder's address.
    ///   - checks: the checks of the backup.
    ///   - isCopy: returns whether a file of the folder has this name, and holds this backup.
    ///   - isElsewhere: returns whether the file at this address and name still exists in another folder.
    public init(
        of name: String,
        _ size: Int64,
        in address: String,
        among checks: [RunLog.Check],
        isCopy: (String) -> Bool,
        isElsewhere: (String, String) -> Bool = { _, _ in false }
    ) {
        let own = checks.filter { $0.address.exact == address.exact && $0.name.exact == name.exact }
        let gone = checks.filter { check in
            guard check.size ?? size == size else { return false }
            return check.address.exact == address.exact
                ? !isCopy(check.name) : !isElsewhere(check.address, check.name)
        }
        let last = gone.last
        let moved = gone.filter {
            $0.address.exact == last?.address.exact && $0.name.exact == last?.name.exact
        }
        self.init(own.isEmpty ? moved : own)
    }

    /// The last check, whatever its result.
    public var last: RunLog.Check? { checks.last }

    /// The last check that found damage, unless a later and deeper one found none.
    public var damaged: RunLog.Check? {
        checks.indices.last { index in
            let check = checks[index]
            let isRefuted = checks[index...].contains { $0.damage == nil && $0.depth > check.depth }
            return check.damage != nil && !isRefuted
        }
        .map { checks[$0] }
    }

    /// Returns the history with one more check, as the log has it.
    public func adding(_ check: RunLog.Check) -> CheckHistory {
        let isSame = checks.contains { $0.isOfSameData(as: check) && $0.damage != nil }
        if isSame, check.isOfUnknownData, check.damage == nil { return self }
        return CheckHistory(checks.filter { !$0.isOfSameData(as: check) } + [check])
    }

    /// The deepest check that found no damage; of several, the last one.
    ///
    /// If all parts were read, they count as a check of all data at the time of the oldest one, since no part was found
    /// damaged after that.
    public var deepest: RunLog.Check? {
        (checks.filter { $0.damage == nil } + rounds).max { left, right in
            (left.depth, left.time) < (right.depth, right.time)
        }
    }

    /// Returns the part whose turn it is: a random part that was never read, or else the one that was read first.
    ///
    /// So all parts have their turn even if no checks are remembered.
    public func nextPart(of count: Int) -> Int {
        let read = checks.compactMap { check -> Int? in
            guard case .one(let part, count) = check.part else { return nil }
            return part
        }
        return (1...count).filter { !read.contains($0) }.randomElement() ?? read.first ?? 1
    }

    /// One check of all data for each count of parts that were all read.
    private var rounds: [RunLog.Check] {
        var parts: [Int: [RunLog.Check]] = [:]
        for check in checks where check.damage == nil {
            if case .one(_, let count) = check.part { parts[count, default: []].append(check) }
        }
        return parts.compactMap { count, checks in
            guard checks.count == count, var round = checks.min(by: { $0.time < $1.time }) else {
                return nil
            }
            round.depth = .data
            round.part = nil
            return round
        }
    }
}
