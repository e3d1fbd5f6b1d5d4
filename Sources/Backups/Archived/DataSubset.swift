public import History

/// The part of all data that one check reads, as in restic
/// (https://restic.readthedocs.io/en/stable/045_working_with_repos.html): `10%` at random, or `1/7`, the first of seven
/// parts that make up all data.
public enum DataSubset: Sendable, Equatable, CustomStringConvertible {
    case all
    case share(percent: Double)
    case part(Int, of: Int)

    /// Parses `10%` or `1/7`; returns `nil` for any other text.
    public init?(_ text: String) {
        if text.hasSuffix("%") {
            guard let percent = Double(text.dropLast()), percent > 0, percent <= 100
            else { return nil }
            self = .share(percent: percent)
            return
        }
        var scanner = TextScanner(text)
        guard let part = scanner.number(digits: 1...3), scanner.take("/"),
            let count = scanner.number(digits: 1...3), scanner.isAtEnd,
            (1...256).contains(count), (1...count).contains(part)
        else { return nil }
        self = .part(part, of: count)
    }

    public var description: String {
        switch self {
        case .all: "all"
        case .share(let percent):
            percent == percent.rounded() ? "\(Int(percent))%" : "\(percent)%"
        case .part(let part, let count): "\(part)/\(count)"
        }
    }

    /// Returns a closure that says whether to read a segment.
    ///
    /// It uses bits of the digest, so the parts never change.
    func selection() -> (UInt32) -> Bool {
        switch self {
        case .all: { _ in true }
        case .share(let percent): { _ in Double.random(in: 0..<100) < percent }
        case .part(let part, let count): { $0 % UInt32(count) == UInt32(part - 1) }
        }
    }
}

/// The part to read, as a person names it: a fixed part, or with `next/7` the part whose turn it is.
public enum SubsetChoice: Sendable, Equatable, CustomStringConvertible {
    case subset(DataSubset)
    /// The part that has gone unread for the longest time; the payload is the number of parts.
    case next(of: Int)

    /// Parses `10%`, `1/7` or `next/7`; returns `nil` for any other text.
    public init?(_ text: String) {
        guard text.hasPrefix("next/") else {
            guard let subset = DataSubset(text) else { return nil }
            self = .subset(subset)
            return
        }
        guard case .part(1, let count) = DataSubset("1/" + text.dropFirst(5)) else { return nil }
        self = .next(of: count)
    }

    /// Returns the part of a backup to read, given its past checks.
    public func subset(after history: CheckHistory) -> DataSubset {
        switch self {
        case .subset(let subset): subset
        // The log may name a part that does not exist.
        case .next(let count): .part(min(max(1, history.nextPart(of: count)), count), of: count)
        }
    }

    public var description: String {
        switch self {
        case .subset(let subset): subset.description
        case .next(let count): "next/\(count)"
        }
    }
}
