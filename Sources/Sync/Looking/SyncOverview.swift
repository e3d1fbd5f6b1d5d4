public import Changes
public import Foundation
internal import GRDB

/// What is known of a store's part in its group, without a look at the store or into the container.
public struct SyncOverview: Sendable {
    /// Another device of the group.
    public struct Device: Sendable {
        /// 32 hexadecimal digits.
        public var id: String
        /// As its card says; `nil` if none has come.
        public var name: String?
        /// A name for people, which no other device has.
        public var title: String
        /// When it wrote the last of its files that was read, by its own clock; `nil` if none was.
        public var heard: Date?
        /// Whether it said that it has all that this device has sent.
        public var hasAll: Bool
        public var isForgotten: Bool
        /// The greatest reading of its clock that was heard, as a time.
        public var clock: Date
    }

    /// A table of the group.
    public struct Table: Sendable {
        public var name: String
        /// Rows that are alive in the group's state.
        public var rows: Int64
        /// Those of them that the store does not show.
        public var held: Int64
    }

    /// A file of the container that cannot be read yet.
    public struct Waiting: Sendable {
        public var file: String
        /// When it was first tried.
        public var since: Date
        public var reason: String
        /// Whether only a newer version of the program can read it.
        public var isNewer: Bool
    }

    /// How a store is.
    public enum State: String, Sendable {
        case inStep = "in_step"
        /// The container was not there; changes wait on this machine.
        case localOnly = "local_only"
        /// Something was not sent, not read or not written yet.
        case behind
        case needsDecision = "needs_decision"
    }

    /// The group's name; `nil` if the store does not take part.
    public var group: String?
    /// The container's address.
    public var container: String?
    /// This device's name and id.
    public var device: String?
    public var ownID: String?
    /// Whether the first exchange is not done yet.
    public var isEnabling = false
    /// What only a person can decide: a word for programs, and a text.
    public var decision: String?
    public var decisionText: String?
    /// Whether the container was not there at the last run.
    public var isAway = false
    /// When the container was there last.
    public var lastExchange: Date?
    /// Changes of rows, files and bytes that are not sent yet.
    public var unsentChanges: Int64 = 0
    public var unsentFiles = 0
    public var unsentBytes: Int64 = 0
    /// Rows about which something has arrived that the store does not have yet.
    public var unwritten: Int64 = 0
    /// Rows that are alive and not shown, for a reason.
    public var held: Int64 = 0
    public var conflicts: Int64 = 0
    public var tombstones: Int64 = 0
    /// Files of the container that are known here, and their bytes.
    public var knownFiles = 0
    public var knownBytes: Int64 = 0
    /// What the group's map says.
    public var map = SyncMap()
    public var waiting: [Waiting] = []
    public var devices: [Device] = []
    /// The names of devices under ids that they had before, too.
    var names: [String: String] = [:]
    public var tables: [Table] = []

    /// The overview of a store that does not take part.
    public init() {}

    /// Reads what a sidecar says.
    ///
    /// - Throws: `SidecarError`.
    public init(of sidecar: Sidecar) throws {
        try sidecar.read { access in
            guard try access.phase != nil else { return }
            group = try access.group.description
            container = try access.text("container")
            device = try access.text("name")
            ownID = try access.own.description
            isEnabling = try access.phase == .enabling
            decision = try access.text("decision")
            decisionText = try access.text("decision_text")
            isAway = try access.integer("away") == 1
            lastExchange = try access.integer("exchanged").map(Date.init(milliseconds:))
            let unsent = try access.unpublished()
            unsentFiles = unsent.count
            unsentBytes = unsent.reduce(0) { $0 + $1.size }
            unsentChanges = unsent.reduce(0) { $0 + $1.changes }
            unwritten = try access.dirtyCount
            held = try access.count("SELECT count(*) FROM held")
            conflicts = try access.conflictCount
            tombstones = try access.count("SELECT sum(dead) FROM tab")
            let files = try access.rows(
                """
                SELECT count(*), coalesce(sum(size), 0) FROM (
                    SELECT size FROM seen UNION ALL SELECT size FROM mine WHERE published IS NOT NULL
                )
                """
            )
            if let row = files.first { (knownFiles, knownBytes) = (row[0], row[1]) }
            map = try access.map
            waiting = try access.waitingFiles().map {
                Waiting(
                    file: $0.name,
                    since: Date(milliseconds: $0.since),
                    reason: $0.reason,
                    isNewer: $0.kind == .newer
                )
            }
            devices = try access.overviewDevices()
            names = try access.deviceNames()
            tables = try access.overviewTables()
        }
    }

    /// How the store is, as far as is known here.
    public var state: State {
        if decision != nil { return .needsDecision }
        if isAway || lastExchange == nil { return .localOnly }
        return unwritten + Int64(unsentFiles + waiting.count) > 0 ? .behind : .inStep
    }

    /// The name of a device for people.
    public func title(of id: String) -> String {
        devices.first { $0.id == id }?.title ?? names[id] ?? String(id.prefix(8))
    }
}

extension SidecarAccess {
    fileprivate func overviewTables() throws -> [SyncOverview.Table] {
        try rows(
            """
            SELECT tab.t, tab.alive,
                (SELECT count(*) FROM held WHERE held.t = tab.t)
            FROM tab ORDER BY tab.name
            """
        ).map { SyncOverview.Table(name: try table($0[0]).description, rows: $0[1], held: $0[2]) }
    }
}

extension Date {
    /// Makes a moment of milliseconds since 1970.
    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
