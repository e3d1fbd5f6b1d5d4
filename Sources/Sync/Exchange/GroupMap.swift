public import Changes
public import Foundation
internal import Files
internal import Remotes

/// The group's map: settings that the schema does not contain, the same for all devices.
///
/// The map with the greatest clock counts. A map that newly excludes synced data, identifies rows by other columns, or
/// names a directory of files, waits for a person's consent. Otherwise anybody who can write into the container could
/// stop tables from syncing, or write files into any directory beside the store.
struct GroupMap {
    let access: SidecarAccess

    /// Records a map that has arrived, if it is newer than all known ones.
    func take(_ map: DocumentFile<SyncMap>) throws {
        var clock = try access.membership.clock
        clock.observe(map.header.clock)
        try access.membership.setClock(clock)
        let known = max(try access.integer("map_clock") ?? 0, try access.integer("next_clock") ?? 0)
        guard Int64(map.header.clock) > known else { return }
        try access.set("next_map", bytes: map.content.json())
        try access.set("next_clock", Int64(map.header.clock))
    }

    /// Adopts the group's newest map; a person has seen it if the device is just beginning to take part.
    ///
    /// - Throws: `SyncDecision.newMap`, `SidecarError`.
    static func adopt(in sidecar: Sidecar, accepts: Bool) throws {
        try sidecar.write { access in
            let accepts = try accepts || access.membership.phase == .enabling
            try GroupMap(access: access).adopt(accepts: accepts)
        }
    }

    /// Adopts the newest map, if there is a newer one.
    ///
    /// - Parameter accepts: whether the map may exclude, identify and name directories without consent.
    /// - Throws: `SyncDecision.newMap`.
    private func adopt(accepts: Bool) throws {
        guard let json = try access.bytes("next_map"), let clock = try access.integer("next_clock")
        else { return }
        let next = try SyncMap(json: json, name: "map")
        let present = try access.membership.groupMap
        let (lost, identified) = (next.leavesOut(since: present), next.identifies(since: present))
        let directories = next.namesFiles(since: present)
        guard accepts || lost.isEmpty && identified.isEmpty && directories.isEmpty else {
            throw SyncDecision.newMap(
                leavesOut: lost,
                identifies: identified,
                writesFilesIn: directories
            )
        }
        try set(next, clock: UInt64(clamping: clock))
    }

    /// Adopts a map.
    func set(_ map: SyncMap, clock: UInt64) throws {
        if try access.membership.groupMap != map {
            try access.set("map", bytes: map.json())
            // The map affects how the store is read, and what is shown.
            try access.set("look", nil)
            try access.shadow.forgetLooks()
            try access.held.wake()
        }
        try access.set("map_clock", Int64(clamping: clock))
        try access.forget("next_map")
        try access.forget("next_clock")
    }

    /// Puts a map into the outbox, and adopts it.
    func publish(_ map: SyncMap, through outgoing: Outgoing, now: Int64) throws {
        var clock = try access.membership.clock
        let reading = clock.tick(now: now, modified: now)
        try access.membership.setClock(clock)
        let header = DocumentHeader(
            group: try access.membership.groups.first ?? .zero,
            device: try access.membership.own,
            clock: reading
        )
        let file = try DocumentFile<SyncMap>.write(header, map)
        try outgoing.keep(file, as: .map(header, file.id))
        try set(map, clock: reading)
    }
}

extension Sidecar {
    /// Makes a map the group's; the next exchange sends it.
    ///
    /// - Throws: `SidecarError`, `FileError`, `ChangeError`.
    public func publish(_ map: SyncMap, at date: Date, program: String) throws {
        let now = date.milliseconds
        try write { access in
            let outgoing = Outgoing(
                access,
                outbox: outbox,
                clock: try access.membership.clock.last,
                wall: now,
                program: program
            )
            try GroupMap(access: access).publish(map, through: outgoing, now: now)
        }
    }
}

extension SyncMap {
    /// Returns the tables and columns that no longer sync.
    fileprivate func leavesOut(since old: SyncMap) -> [String] {
        let tables = exclude.subtracting(old.exclude).map(\.description)
        let columns = self.tables.flatMap { name, table in
            table.local.subtracting(old.tables[name]?.local ?? []).map { "\(name).\($0)" }
        }
        return (tables + columns).sorted()
    }

    /// Returns the tables whose rows are identified by other columns.
    fileprivate func identifies(since old: SyncMap) -> [String] {
        Set(tables.keys).union(old.tables.keys).filter { name in
            let (new, old) = (tables[name] ?? Table(), old.tables[name] ?? Table())
            return new.identity != old.identity || new.sharesKey != old.sharesKey
        }.map(\.description).sorted()
    }
}

extension SyncMap {
    /// Returns the directories of files that the map newly names.
    fileprivate func namesFiles(since old: SyncMap) -> [String] {
        let known = Set(old.files.values.flatMap(\.values))
        return Set(files.values.flatMap(\.values)).subtracting(known).map(\.description).sorted()
    }
}

extension Container {
    /// Reads the group's map; `nil` if it has none.
    ///
    /// A map with a clock that is too far ahead could never be replaced, and does not count.
    func map(in listing: Listing, of groups: [GroupID]) async throws -> DocumentFile<SyncMap>? {
        var newest: DocumentFile<SyncMap>?
        for file in listing.files[.info] ?? [] where file.name.contains(".map") {
            guard let map = try await map(file), groups.contains(map.header.group) else { continue }
            if (newest?.header.clock ?? 0)..<HybridClock.horizon(at: 0) ~= map.header.clock {
                newest = map
            }
        }
        return newest
    }
}
