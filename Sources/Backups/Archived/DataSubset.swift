public import History

/// The part of all data that one check reads, as in restic
/// (https://restic.readthedocs.io/en/stable/045_working_with_repos.html): `10%`, at random, or `1/7`,
/// the first of seven parts that make up all.
public enum DataSubset: Sendable, Equatable, CustomStringConvertible {
    case all
    case share(percent: Double)
    case part(Int, of: Int)

    /// Reads `10%` or `1/7`; `nil` if it is neither.
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

    /// Returns whether to read a segment, by bits of its digest: so the parts are the same every time.
    func selection() -> (UInt32) -> Bool {
        switch self {
        case .all: { _ in true }
        case .share(let percent): { _ in Double.random(in: 0..<100) < percent }
        case .part(let part, let count): { $0 % UInt32(count) == UInt32(part - 1) }
        }
    }
}

/// The part to read, as a person says it: a part, or the one whose turn it is: `next/7`.
public enum SubsetChoice: Sendable, Equatable, CustomStringConvertible {
    case subset(DataSubset)
    /// The part that was not read for longest, of this many.
    case next(of: Int)

    /// Reads `10%`, `1/7` or `next/7`; `nil` if it is none of them.
    public init?(_ text: String) {
        guard text.hasPrefix("next/") else {
            guard let subset = DataSubset(text) else { return nil }
            self = .subset(subset)
            return
        }
        guard case .part(1, let count) = DataSubset("1/" + text.dropFirst(5)) else { return nil }
        self = .next(of: count)
    }

    /// Returns the part to read of a backup, after the checks that it had.
    public func subset(after history: CheckHistory) -> DataSubset {
        switch self {
        case .subset(let subset): subset
        // The log may tell of a part that is none.
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
