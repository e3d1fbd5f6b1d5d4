internal import Files

/// A problem of a backup; the rest of the backup is good.
public struct Problem: Sendable, Equatable, Codable, CustomStringConvertible {
    /// The kinds of problem; an archive of a newer version may have others.
    public struct Kind: RawRepresentable, Codable, Sendable, Equatable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// A file that changed while it was read each time: its entry may mix two states.
        public static let neverStill = Kind(rawValue: "never_still")
        /// A file that could not be read, and is not in the archive.
        public static let unreadable = Kind(rawValue: "unreadable")
        /// A store that SQLite finds damaged: its bytes are in the archive as they are.
        public static let damagedStore = Kind(rawValue: "damaged_store")
        /// A link out of the stores directory to a store, which is not in the archive.
        public static let linkedStore = Kind(rawValue: "linked_store")
        /// A link out of the stores directory to a directory with stores, which are not in the archive.
        public static let linkedDirectory = Kind(rawValue: "linked_directory")
        /// A link with a database's name that leads to nothing: the database may be on a disk that is not mounted.
        public static let linkToNothing = Kind(rawValue: "link_to_nothing")
        /// The stores directory has no store, nor a file that may be an encrypted one.
        public static let noStore = Kind(rawValue: "no_store")
        /// A backup that could not be removed.
        public static let notRemoved = Kind(rawValue: "not_removed")
        /// A backup that could not be copied or sent.
        public static let notCopied = Kind(rawValue: "not_copied")
        /// A missing file of external data that a store refers to.
        public static let missingExternalData = Kind(rawValue: "missing_external_data")
        /// The stores have much less data than in the backup before.
        public static let anomaly = Kind(rawValue: "anomaly")
        /// Data of a damaged backup that could not be salvaged.
        public static let lost = Kind(rawValue: "lost")
        /// A change that a loss of power may undo, since it may not be synced to the disk.
        public static let notSynced = Kind(rawValue: "not_synced")
        /// A backup without a signature, since there is no key: beside signed ones it counts for nothing.
        public static let notSigned = Kind(rawValue: "not_signed")
        /// Backups of an earlier system or key of the same origin, which are neither compared with nor pruned.
        public static let notContinued = Kind(rawValue: "not_continued")
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

    /// Creates the problem that a backup cannot be read, or not completely.
    package init(unreadable backup: String, _ reason: String) {
        self.init(kind: .unreadable, path: backup, reason: reason)
    }

    /// Whether the backup lacks data because of it, or has data that is not as of one moment.
    package var isOfTheBackup: Bool {
        switch kind {
        case .neverStill, .unreadable, .damagedStore, .missingExternalData, .linkedStore,
            .linkedDirectory, .linkToNothing, .noStore:
            true
        default: false
        }
    }

    /// Returns the words behind a missing file about the others.
    package static func others(_ count: Int) -> String {
        count == 0 ? "" : "; \(counted(count, "more file is", "more files are")) missing"
    }

    /// Advice on what to do; `nil` if there is no good advice.
    public var hint: String? {
        switch kind {
        case .anomaly: "if that is right, run 'grocerydude backup --accept-changes'"
        case .notContinued:
            "if every run says so, keep the state directory from run to run; to begin a new series, run 'grocerydude backup --accept-changes'"
        case .linkedStore:
            "\(exclusion); to save the store in its place: grocerydude backup --set follow_links=true"
        case .linkedDirectory:
            "\(exclusion); to save the stores, give that directory its own profile"
        case .linkToNothing: "mount its disk and run the backup again; \(exclusion)"
        default: nil
        }
    }

    private var exclusion: String {
        "to leave it out: \(Advice.command("backup --exclude", path))"
    }

    public var description: String {
        switch kind {
        case .anomaly, .noStore, .notSigned, .notContinued: reason
        case .notSynced: "the change of '\(path)' may be lost in a power failure: \(reason)"
        // An error often includes the path.
        default: reason.contains("'\(path)'") ? reason : "'\(path)': \(reason)"
        }
    }
}

extension [Problem] {
    /// The problems for people: of several missing files, only the first and the number of the others.
    public var summarized: [Problem] {
        let missing = count(where: { $0.kind == .missingExternalData })
        guard missing > 1, let first = firstIndex(where: { $0.kind == .missingExternalData }) else {
            return self
        }
        var summary = self
        summary[first].reason += Problem.others(missing - 1)
        return summary.enumerated().filter { index, problem in
            index == first || problem.kind != .missingExternalData
        }.map(\.element)
    }
}
