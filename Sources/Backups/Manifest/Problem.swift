/// Something that a backup could not do as it should; the rest of it is good.
public struct Problem: Sendable, Equatable, Codable, CustomStringConvertible {
    /// The kinds of problem; an archive of a newer version may have others.
    public struct Kind: RawRepresentable, Codable, Sendable, Equatable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// A file that never held still: its entry in the archive may mix two states.
        public static let neverStill = Kind(rawValue: "never_still")
        /// A file that could not be read, and is not in the archive.
        public static let unreadable = Kind(rawValue: "unreadable")
        /// A store that SQLite finds damaged: its bytes are in the archive as they are.
        public static let damagedStore = Kind(rawValue: "damaged_store")
        /// A backup that should have been removed and could not be.
        public static let notRemoved = Kind(rawValue: "not_removed")
        /// A backup that should have been copied or sent and could not be.
        public static let notCopied = Kind(rawValue: "not_copied")
        /// A file of external data that a store refers to and that is not there.
        public static let missingExternalData = Kind(rawValue: "missing_external_data")
        /// The stores have much less than in the backup before.
        public static let anomaly = Kind(rawValue: "anomaly")
        /// Something of a damaged backup that could not be salvaged.
        public static let lost = Kind(rawValue: "lost")
        /// A change that may not be on the disk: a loss of power may undo it.
        public static let notSynced = Kind(rawValue: "not_synced")
    }

    public var kind: Kind
    /// The path below the stores directory, printable.
    public var path: String
    public var reason: String

    public init(kind: Kind, path: String, reason: String) {
        self.kind = kind
        self.path = path
        self.reason = reason
    }

    /// Says that a backup cannot be read, or not wholly.
    package init(unreadable backup: String, _ reason: String) {
        self.init(kind: .unreadable, path: backup, reason: reason)
    }

    /// Whether the backup lacks something for it, or has something that is not as of one moment.
    package var isOfTheBackup: Bool {
        switch kind {
        case .neverStill, .unreadable, .damagedStore, .missingExternalData: true
        default: false
        }
    }

    public var description: String {
        switch kind {
        case .anomaly: reason
        case .notSynced: "the change of '\(path)' may not outlast a loss of power: \(reason)"
        // An error often names it already.
        default: reason.contains("'\(path)'") ? reason : "'\(path)': \(reason)"
        }
    }
}
