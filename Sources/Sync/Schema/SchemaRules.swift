public import Files

/// The rules of a group's map for a schema; all names are in ASCII lower case.
public struct SchemaRules: Equatable, Sendable {
    /// The treatment of a trigger that writes both data that sync and data that do not.
    public enum TriggerRule: Sendable {
        case run, skip
    }

    /// The target of a column that may be a reference.
    public enum Reference: Equatable, Sendable {
        case table(ExactString)
        /// The column only looks like a reference.
        case none
    }

    /// The rules for a table.
    public struct Table: Equatable, Sendable {
        /// The columns that identify a row on all devices.
        public var identity: [ExactString]?
        /// Whether the number of an INTEGER PRIMARY KEY is the same on all devices.
        public var sharesKey = false
        /// The table's wire name, if it was renamed.
        public var was: String?
        /// The wire names of renamed columns, by their current names.
        public var renamed: [ExactString: String] = [:]
        public var references: [ExactString: Reference] = [:]
        /// The directories, below the stores directory, of the files that columns name.
        public var files: [ExactString: RelativePath] = [:]
        /// The columns that do not sync.
        public var local: Set<ExactString> = []

        public init() {}
    }

    public var tables: [ExactString: Table] = [:]
    /// The tables that do not sync.
    public var exclude: Set<ExactString> = []
    public var triggers: [ExactString: TriggerRule] = [:]

    public init() {}
}
