/// What a group's map says of a schema; all names are in ASCII lower case.
public struct SchemaRules: Equatable, Sendable {
    /// What it says of a trigger that writes what syncs, and what does not.
    public enum TriggerRule: Sendable {
        case run, skip
    }

    /// What it says of a column that may be a reference.
    public enum Reference: Equatable, Sendable {
        case table(String)
        /// It only looks like one.
        case none
    }

    /// What it says of a table.
    public struct Table: Equatable, Sendable {
        /// The columns that make a row the same one on all devices.
        public var identity: [String]?
        /// Whether the number of an INTEGER PRIMARY KEY is the same on all devices.
        public var sharesKey = false
        /// The name by which the table travels, if it was renamed.
        public var was: String?
        /// The names by which columns travel that were renamed, by their names now.
        public var renamed: [String: String] = [:]
        public var references: [String: Reference] = [:]
        /// Columns that do not sync.
        public var local: Set<String> = []

        public init() {}
    }

    public var tables: [String: Table] = [:]
    /// Tables that do not sync.
    public var exclude: Set<String> = []
    public var triggers: [String: TriggerRule] = [:]

    public init() {}
}
