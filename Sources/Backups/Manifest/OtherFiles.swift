internal import Files

/// The files of a backup that belong to no store that SQLite reads, as far as the next backup is compared with them.
public struct OtherFiles: Codable, Sendable, Equatable {
    /// A database that SQLite does not read, such as an encrypted one, by its name and size or the log beside it.
    public struct Database: Codable, Sendable, Equatable {
        /// The file's path, printable.
        public var path: String
        public var bytes: Int64

        package init(path: String, bytes: Int64) {
            self.path = path
            self.bytes = bytes
        }
    }

    /// The maximum number of recorded databases.
    private static let databasesLimit = 1000

    /// The number of files, without `databases`.
    public var files: Int64
    /// The size of these files in bytes.
    public var bytes: Int64
    /// The databases that SQLite does not read, the largest ones if there are very many.
    public var databases: [Database]
    /// The rules that excluded other files, see `Excluded.key`; `nil` if there were none.
    public var exclusions: String?

    package init(
        files: Int64,
        bytes: Int64,
        databases: [Database] = [],
        exclusions: String? = nil
    ) {
        self.files = files
        self.bytes = bytes
        self.databases = databases
        self.exclusions = exclusions
    }

    /// Returns the same without all but the largest databases.
    package func limited() -> OtherFiles {
        var other = self
        other.databases =
            databases.sorted { ($1.bytes, $0.path.exact) < ($0.bytes, $1.path.exact) }
            .prefix(Self.databasesLimit).map(\.self)
        return other
    }
}

/// The data that the anomaly guard compares a backup with.
package struct ExpectedData: Sendable, Equatable {
    package var stores: [StoreRows]
    /// The files beside the stores; `nil` if an earlier version did not record them.
    package var otherFiles: OtherFiles?

    package init(stores: [StoreRows], otherFiles: OtherFiles? = nil) {
        self.stores = stores
        self.otherFiles = otherFiles
    }
}
