public import Changes
public import Foundation
internal import GRDB
internal import Remotes

/// The known state of a store's sync; the store is not read for it, and the container only by `compare`.
public struct SyncOverview: Sendable {
    /// Another device of the group.
    public struct Device: Sendable {
        /// The device's id, 32 hexadecimal digits.
        public var id: String
        /// The name on its card; `nil` if no card has arrived.
        public var name: String?
        /// A name for people that is unique in the group.
        public var title: String
        /// The time of its last file that was read, by its own clock; `nil` if none was read.
        public var heard: Date?
        /// Whether it has reported that it has all that this device has sent.
        public var hasAll: Bool
        public var isForgotten: Bool
        /// The greatest reading of its clock that was received, as a time.
        public var clock: Date
    }

    /// A table of the group.
    public struct Table: Sendable {
        public var name: String
        /// The number of rows that are alive in the group's state.
        public var rows: Int64
        /// The number of rows among them that the store does not show.
        public var held: Int64
        /// The number of rows of the store that do not sync, since their key is NULL.
        public var nameless: Int64
    }

    /// A file of the container that cannot be read yet.
    public struct Waiting: Sendable {
        public var file: String
        /// The time of the first attempt.
        public var since: Date
        public var reason: String
        /// Whether only a newer version of the program can read it.
        public var isNewer: Bool
    }

    /// The state of a store.
    public enum State: String, Sendable {
        case inStep = "in_step"
        /// The container was not there; changes wait on this machine.
        case localOnly = "local_only"
        /// Some changes are not yet sent, read or written.
        case behind
        case needsDecision = "needs_decision"
        /// The settings switch sync off.
        case off
    }

    /// The group's name; `nil` if the store does not take part.
    public var group: String?
    /// The container's address.
    public var container: String?
    /// This device's name and id.
    public var device: String?
    public var ownID: String?
    /// Whether the first exchange is not finished yet.
    public var isEnabling = false
    /// Whether the settings switch sync off.
    public var isOff = false
    /// The decision that a person has to make: a word for programs, and a text.
    public var decision: String?
    public var decisionText: String?
    /// Whether the container was not there at the last run.
    public var isAway = false
    /// Whether the store has changed since the last exchange, and may have edits that were not sent.
    public var hasChanged = false
    /// The time at which the container was last there.
    public var lastExchange: Date?
    /// The numbers of changes of rows, of files and of bytes that are not sent yet.
    public var unsentChanges: Int64 = 0
    public var unsentFiles = 0
    public var unsentBytes: Int64 = 0
    /// The number of rows with arrived changes that the store does not have yet.
    public var unwritten: Int64 = 0
    /// The number of rows that are alive and not shown.
    public var held: Int64 = 0
    /// The rows that are shown, and of which a change cannot be written yet.
    public var waitingRows: [UnshownRow] = []
    /// The number of rows that yield to others with the same key.
    public var yielding: Int64 = 0
    public var conflicts: Int64 = 0
    public var tombstones: Int64 = 0
    /// The number of the container's files that are known here, and their bytes.
    public var knownFiles = 0
    public var knownBytes: Int64 = 0
    /// The group's map.
    public var map = SyncMap()
    public var waiting: [Waiting] = []
    /// The reasons for which files that rows name do not travel.
    public var fileTroubles: [String] = []
    /// The number of files in the container that no run has looked at.
    public private(set) var untaken = 0
    /// The number of this device's files that the container has lost, or has with another size.
    public private(set) var damaged = 0
    public var devices: [Device] = []
    /// The names of devices, also under their former ids.
    var names: [String: String] = [:]
    public var tables: [Table] = []

    /// Creates the overview of a store that does not take part.
    public init() {}

    /// Reads the overview from a sidecar.
    ///
    /// - Throws: `SidecarError`.
    public init(of sidecar: Sidecar) throws {
        waitingRows = try sidecar.unshownRows(waiting: true)
        try sidecar.read { access in
            guard try access.membership.phase != nil else { return }
            group = try access.membership.group.description
            container = try access.text("container")
            device = try access.text("name")
            ownID = try access.membership.own.description
            isEnabling = try access.membership.phase == .enabling
            (decision, decisionText) = try (access.text("decision"), access.text("decision_text"))
            isAway = try access.integer("away") == 1
            lastExchange = try access.integer("exchanged").map(Date.init(milliseconds:))
            let unsent = try access.files.unpublished()
            unsentFiles = unsent.count
            unsentBytes = unsent.reduce(0) { $0 + $1.size }
            unsentChanges = unsent.reduce(0) { $0 + $1.changes }
            unwritten = try access.dirty.count
            held = try access.count("SELECT count(*) FROM unshown WHERE why <> 'waits'")
            yielding = try access.held.yieldingCount
            (conflicts, tombstones) = try (access.removed.conflictCount, access.tombstoneCount)
            let files = try access.rows(
                """
                SELECT count(*), coalesce(sum(size), 0) FROM (
                    SELECT size FROM seen UNION ALL SELECT size FROM mine WHERE published IS NOT NULL
                )
                """
            )
            if let row = files.first { (knownFiles, knownBytes) = (row[0], row[1]) }
            map = try access.membership.map
            waiting = try access.files.waiting().map {
                Waiting(
                    file: $0.name,
                    since: Date(milliseconds: $0.since),
                    reason: $0.reason,
                    isNewer: $0.kind == .newer
                )
            }
            devices = try access.devices.overview()
            names = try access.devices.names()
            tables = try access.captured.overview()
        }
    }

    /// The state of the store, as far as it is known here.
    public var state: State {
        if isOff { return .off }
        if decision != nil { return .needsDecision }
        if isAway || lastExchange == nil { return .localOnly }
        let waits = unwritten + Int64(unsentFiles + waiting.count + untaken + damaged) > 0
        return waits || isEnabling ? .behind : .inStep
    }

    /// Compares what is known with the container, if that is a folder of this machine; another one is not asked.
    ///
    /// - Throws: `SidecarError`; `RemoteError` and `FileError` of the container.
    public mutating func compare(
        with container: Container,
        _ sidecar: Sidecar,
        at date: Date
    ) async throws {
        guard container.root.directory != nil else { return }
        let listing: Container.Listing
        do {
            listing = try await container.look()
        } catch RemoteError.missing {
            isAway = true
            return
        }
        let now = date.milliseconds
        let rules = UpkeepRules().fitting(container)
        try sidecar.read { access in
            damaged = try OwnDamage(in: listing, access, rules, now: now).missing.count
            untaken = try listing.all.count { _, file in
                try ContainerName.isMeant(by: file.name) && access.files.waiting(file.name) == nil
                    && !access.files.hasSeen(name: file.name, size: file.size)
                    && access.files.file(named: file.name)?.isOwn != true
            }
        }
    }

    /// Returns the name of a device for people.
    public func title(of id: String) -> String {
        devices.first { $0.id == id }?.title ?? names[id] ?? String(id.prefix(8))
    }
}

extension SidecarAccess {
    fileprivate var tombstoneCount: Int64 {
        get throws { try count("SELECT sum(dead) FROM tab") }
    }
}

extension CapturedTables {
    fileprivate func overview() throws -> [SyncOverview.Table] {
        try access.rows(
            """
            SELECT tab.t, tab.alive,
                (SELECT count(*) FROM unshown u WHERE u.t = tab.t AND why <> 'waits'), nameless
            FROM tab ORDER BY tab.name
            """
        ).map {
            let name = try access.table($0[0]).description
            return SyncOverview.Table(name: name, rows: $0[1], held: $0[2], nameless: $0[3])
        }
    }
}
