public import Changes
internal import Files
public import Foundation
internal import Remotes

/// The first step of a store that is to take part: it begins a group, or joins one.
///
/// It only records what the device is. The next exchange does the rest, and can be killed at any moment.
public struct Enrolment: Sendable {
    /// The findings in the container.
    public struct Look: Sendable {
        /// The marks of the group; none if the store begins it.
        public var groups: [GroupID]
        /// The names of the devices that take part, as far as they are known.
        public var devices: [String]

        /// The group's map, and its clock; `nil` if it has none.
        public var map: (content: SyncMap, clock: UInt64)?

        /// Whether the group does not exist yet.
        public var begins: Bool { groups.isEmpty }
    }

    private let container: Container

    public init(in container: Container) {
        self.container = container
    }

    /// Reads the marks, the cards and the map in the container.
    ///
    /// - Throws: `RemoteError`.
    public func look() async throws -> Look {
        let listing = try await container.look()
        var groups: [GroupID] = []
        for file in listing.marks {
            if let mark = try await container.mark(file) {
                groups.append(mark.content.id)
            } else if case .group(container.group, let id)? = ContainerName(
                file: file.name,
                in: nil
            ) {
                // The mark is damaged, and its device will repair it. Another group must not begin meanwhile.
                groups.append(id)
            }
        }
        try await container.prefetch((listing.files[.info] ?? []).map { ("info", $0) })
        var names: [DeviceID: String] = [:]
        for file in listing.files[.info] ?? [] {
            guard let card = try await container.readCard(file), groups.contains(card.header.group),
                card.content.gone == nil
            else { continue }
            names[card.header.device] = card.content.name
        }
        let map = try await container.map(in: listing, of: groups)
        return Look(
            groups: Array(Set(groups)).sorted(),
            devices: names.values.sorted(),
            map: map.map { ($0.content, $0.header.clock) }
        )
    }

    /// Records in a new sidecar what this device is.
    ///
    /// - Parameters:
    ///   - sidecar: the sidecar, empty.
    ///   - name: the device's name, for people.
    ///   - look: the findings in the container.
    ///   - map: the group's map, which is published if the store begins the group.
    ///   - excluded: the tables that only this device leaves out.
    ///   - match: the way to match rows with the group's beyond their ids; `nil` for none.
    ///   - date: the current time.
    ///   - program: the program and its version, as files name it.
    ///   - random: a closure that makes the ids of the device, and of the group if it begins.
    /// - Throws: `SidecarError`, `FileError`, `ChangeError`.
    public func enrol(
        _ sidecar: Sidecar,
        as name: String,
        _ look: Look,
        map: SyncMap,
        excluded: Set<TableName> = [],
        match: JoinMatch? = nil,
        at date: Date,
        program: String,
        random: () -> UInt64 = { .random(in: 1 ... .max) }
    ) throws {
        let now = date.milliseconds
        let map = look.map?.content ?? map
        try sidecar.write { access in
            guard try access.membership.phase == nil else { return }
            let device = DeviceID(high: random(), low: random())
            try access.set("device", bytes: device.bytes)
            try access.set("name", name)
            try access.set("group", container.group.description)
            try access.set("container", container.address)
            try access.set("began", now)
            try access.set("now", now)
            try access.set("map", bytes: [UInt8](JSONEncoder().encode(map)))
            var clock = HybridClock()
            let reading = clock.tick(now: now, modified: now)
            try access.membership.setClock(clock)
            var groups = look.groups
            if groups.isEmpty {
                let group = GroupID(high: random(), low: random())
                groups = [group]
                try access.membership.setGroups(groups)
                try mark(group, map, sidecar, access, reading, now, program)
            }
            try access.membership.setGroups(groups)
            try access.membership.setExcluded(excluded)
            try access.set("match", match?.rawValue)
            if let clock = look.map?.clock { try access.set("map_clock", Int64(clamping: clock)) }
            try access.membership.setPhase(.enabling)
        }
    }

    private func mark(
        _ group: GroupID,
        _ map: SyncMap,
        _ sidecar: Sidecar,
        _ access: SidecarAccess,
        _ clock: UInt64,
        _ now: Int64,
        _ program: String
    ) throws {
        let header = DocumentHeader(group: group, device: try access.membership.own, clock: clock)
        let made = Date(timeIntervalSince1970: Double(now) / 1000)
        let mark = GroupMark(group: container.group, id: group, made: made)
        let outgoing = Outgoing(
            access,
            outbox: sidecar.outbox,
            clock: clock,
            wall: now,
            program: program
        )
        try outgoing.keep(
            DocumentFile<GroupMark>.write(header, mark),
            as: .group(container.group, group)
        )
        guard map != SyncMap() else { return }
        try GroupMap(access: access).publish(map, through: outgoing, now: now)
    }
}
