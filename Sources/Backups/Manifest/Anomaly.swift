/// A large loss of data since the previous backup.
public struct Anomaly: Codable, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of anomaly; an archive of a newer version may have others.
    public struct Kind: RawRepresentable, Codable, Sendable, Equatable {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A store that had rows is missing, or is no database any more.
        public static let missing = Kind(rawValue: "store_missing")
        /// A store that had rows cannot be read or counted.
        public static let unreadable = Kind(rawValue: "store_unreadable")
        /// A store that had rows has none.
        public static let empty = Kind(rawValue: "store_empty")
        /// A store that had rows is excluded now.
        public static let leftOut = Kind(rawValue: "store_left_out")
        /// A store, or all stores together, lost more than half of the rows.
        public static let fewerRows = Kind(rawValue: "fewer_rows")
    }

    public var kind: Kind
    /// The store's path, printable; `nil` for all stores together.
    public var path: String?
    /// The number of rows before; `nil` if unknown.
    public var before: Int64?
    /// The number of rows now; `nil` if they cannot be counted.
    public var now: Int64?

    package init(kind: Kind, path: String?, before: Int64?, now: Int64?) {
        self.kind = kind
        self.path = path
        self.before = before
        self.now = now
    }

    public var description: String {
        let name = path.map { "'\($0)'" } ?? "all stores together"
        let had = before.map { " (it had \(Self.rows($0)))" } ?? ""
        return switch kind {
        case .missing: "\(name) is gone, or is no database any more\(had)"
        case .unreadable: "\(name) cannot be read any more\(had)"
        case .leftOut: "\(name) is left out now\(had)"
        case .empty, .fewerRows: "\(name) had \(Self.rows(before ?? 0)) and now \(now ?? 0)"
        default: "\(name) has less than before\(had)"
        }
    }

    private static func rows(_ count: Int64) -> String { "\(count) \(count == 1 ? "row" : "rows")" }
}
