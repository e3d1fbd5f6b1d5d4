internal import Files

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
        /// A table lost all of many rows.
        public static let fewerTableRows = Kind(rawValue: "fewer_table_rows")
        /// More than half of the files that belong to no store are missing.
        public static let fewerFiles = Kind(rawValue: "fewer_files")
        /// A database that SQLite does not read, or the files that belong to no store, lost more than half of the bytes.
        public static let fewerBytes = Kind(rawValue: "fewer_bytes")
    }

    public var kind: Kind
    /// The store's path, printable; `nil` for all stores together.
    public var path: String?
    /// The name of the table; `nil` if the whole store is meant.
    public var table: String?
    /// The number of rows, files or bytes before; `nil` if unknown.
    public var before: Int64?
    /// The number of rows, files or bytes now; `nil` if they cannot be counted.
    public var now: Int64?

    package init(kind: Kind, path: String?, table: String? = nil, before: Int64?, now: Int64?) {
        self.kind = kind
        self.path = path
        self.table = table
        self.before = before
        self.now = now
    }

    /// The lost data's name for people: a store, a table, or all stores together.
    public var subject: String {
        let store = path.map { "'\($0)'" } ?? "all stores together"
        return table.map { "the table '\(printable(bytes: $0.utf8))' of \(store)" } ?? store
    }

    public var description: String {
        let name = subject
        let had = before.map { " (it had \(Self.rows($0)))" } ?? ""
        return switch kind {
        case .missing: "\(name) is gone, or is no database any more\(had)"
        case .unreadable: "\(name) cannot be read any more\(had)"
        case .leftOut: "\(name) is left out now\(had)"
        case .empty, .fewerRows, .fewerTableRows:
            "\(name) had \(Self.rows(before ?? 0)) and now \(now ?? 0)"
        case .fewerFiles: "there were \(before ?? 0) files beside the stores and now \(now ?? 0)"
        case .fewerBytes:
            "\(path == nil ? "the files beside the stores" : name) had \(byteCount(before ?? 0)) and now \(byteCount(now ?? 0))"
        default: "\(name) has less than before\(had)"
        }
    }

    private static func rows(_ count: Int64) -> String { "\(count) \(count == 1 ? "row" : "rows")" }
}
