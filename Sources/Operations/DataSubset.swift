/// The part of all data that one check reads, as in restic
/// (https://restic.readthedocs.io/en/stable/045_working_with_repos.html): `10%`, at random, or `1/7`,
/// the first of seven parts that make up all.
public enum DataSubset: Sendable, Equatable, CustomStringConvertible {
    case all
    case share(percent: Double)
    case part(Int, of: Int)

    /// Reads `10%` or `1/7`; `nil` where it is neither.
    public init?(_ text: String) {
        if text.hasSuffix("%") {
            guard let percent = Double(text.dropLast()), percent > 0, percent <= 100 else {
                return nil
            }
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
        case .share(let percent): "\(percent)%"
        case .part(let part, let count): "\(part)/\(count)"
        }
    }

    /// Which pieces to read, by bits of their digests, so that the parts are the same every time.
    func selection() -> (UInt32) -> Bool {
        switch self {
        case .all: { _ in true }
        case .share(let percent): { _ in Double.random(in: 0..<100) < percent }
        case .part(let part, let count): { $0 % UInt32(count) == UInt32(part - 1) }
        }
    }
}
