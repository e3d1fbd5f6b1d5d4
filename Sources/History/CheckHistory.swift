/// The knowledge of one backup from its checks, the last of each kind.
public struct CheckHistory: Sendable, Equatable {
    private let checks: [RunLog.Check]

    /// Takes the checks of one archive, in the order in which they were recorded.
    public init(_ checks: [RunLog.Check]) { self.checks = checks }

    /// Takes the checks of a file, at an address, among those of its backup, of which there may be copies.
    ///
    /// A file without checks of its own may be renamed or moved: it has those of the file that was
    /// checked last, unless that is another copy.
    /// - Parameters:
    ///   - name: the file's name.
    ///   - address: the folder's.
    ///   - checks: those of the backup.
    ///   - isCopy: says of a name whether a file of the folder has it, with this backup.
    ///   - isElsewhere: says of an address and a name whether such a file of another folder is still there.
    public init(
        of name: String,
        in address: String,
        among checks: [RunLog.Check],
        isCopy: (String) -> Bool,
        isElsewhere: (String, String) -> Bool = { _, _ in false }
    ) {
        let own = checks.filter { $0.address == address && $0.name == name }
        let gone = checks.filter {
            $0.address == address ? !isCopy($0.name) : !isElsewhere($0.address, $0.name)
        }
        let moved = gone.filter { $0.address == gone.last?.address && $0.name == gone.last?.name }
        self.init(own.isEmpty ? moved : own)
    }

    /// The last check, whatever it found.
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

    /// The deepest check that found the backup whole, of several the last one.
    ///
    /// If all parts were read, that is a check of all data, as of the part that was read first: all of
    /// it was whole then or later.
    public var deepest: RunLog.Check? {
        (checks.filter { $0.damage == nil } + rounds).max { left, right in
            (left.depth, left.time) < (right.depth, right.time)
        }
    }

    /// Returns the part whose turn it is: any that was never read, so that all have their turn even if
    /// nothing is remembered, or else the one that was read first.
    public func nextPart(of count: Int) -> Int {
        let read = checks.compactMap { check -> Int? in
            guard case .one(let part, count) = check.part else { return nil }
            return part
        }
        return (1...count).filter { !read.contains($0) }.randomElement() ?? read.first ?? 1
    }

    /// For each count of parts that were all read, one check of all data.
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
