internal import Changes
internal import Foundation
internal import GRDB

/// This device's identity, its group and its settings.
struct Membership {
    let access: SidecarAccess

    /// The phases of taking part.
    enum Phase: String {
        case enabling, on
    }

    var phase: Phase? { get throws { try access.text("phase").flatMap(Phase.init) } }

    func setPhase(_ phase: Phase) throws { try access.set("phase", phase.rawValue) }

    var own: DeviceID {
        get throws {
            guard let id = try access.bytes("device").flatMap({ DeviceID(bytes: $0) }) else {
                throw access.damaged("it does not say which device this is")
            }
            return id
        }
    }

    /// The ids of the group; this device writes under the first one.
    var groups: [GroupID] {
        get throws {
            guard let bytes = try access.bytes("groups"), bytes.count % 16 == 0 else { return [] }
            return stride(from: 0, to: bytes.count, by: 16).compactMap {
                GroupID(bytes: bytes[$0..<$0 + 16])
            }
        }
    }

    func setGroups(_ groups: [GroupID]) throws {
        try access.set("groups", bytes: groups.flatMap(\.bytes))
    }

    var group: GroupName {
        get throws {
            guard let group = try access.text("group").flatMap({ GroupName($0) }) else {
                throw access.damaged("it does not say which group this is")
            }
            return group
        }
    }

    /// The clock, at the greatest reading that was seen or used.
    var clock: HybridClock {
        get throws { HybridClock(last: UInt64(clamping: try access.integer("clock") ?? 0)) }
    }

    func setClock(_ clock: HybridClock) throws { try access.set("clock", Int64(clock.last)) }

    /// Returns the number of the next file of this device.
    func nextSequence() throws -> UInt64 {
        let next = (try access.integer("sequence") ?? 0) + 1
        try access.set("sequence", next)
        return UInt64(next)
    }

    /// The settings of this device: the group's map, and the tables that only this device leaves out.
    var map: SyncMap {
        get throws {
            var map = try groupMap
            let excluded = try access.text("excluded")?.split(separator: "\0") ?? []
            map.exclude.formUnion(excluded.compactMap { TableName(String($0)) })
            return map
        }
    }

    /// The way to match rows with the group's while the store joins it.
    var match: JoinMatch? { get throws { try access.text("match").flatMap(JoinMatch.init) } }

    func setExcluded(_ tables: Set<TableName>) throws {
        try access.set("excluded", tables.map(\.description).sorted().joined(separator: "\0"))
    }

    /// The group's map.
    var groupMap: SyncMap {
        get throws {
            guard let json = try access.bytes("map") else { return SyncMap() }
            do {
                return try SyncMap(json: json, name: "map")
            } catch {
                throw access.damaged("its map cannot be read")
            }
        }
    }

    /// The ids that this device had before.
    var former: [DeviceID] {
        get throws {
            guard let bytes = try access.bytes("was"), bytes.count % 16 == 0 else { return [] }
            return stride(from: 0, to: bytes.count, by: 16).compactMap {
                DeviceID(bytes: bytes[$0..<$0 + 16])
            }
        }
    }

    /// The ids under which this device writes, or has written.
    var ownIDs: Set<DeviceID> { get throws { try Set(former + [own]) } }

    /// Continues under a new id, because another device may write, or have written, under this one.
    ///
    /// - Parameter now: the current time, in milliseconds since 1970.
    /// - Throws: `SidecarError`.
    func renew(at now: Int64) throws {
        try access.set("renewed", now)
        let was = try former + [own]
        let device = DeviceID(high: .random(in: 1 ... .max), low: .random(in: .min ... .max))
        try access.set("was", bytes: was.flatMap(\.bytes))
        try access.set("device", bytes: device.bytes)
        // No device has received a file under the new id, so its first file reports all received clocks.
        try access.run("UPDATE device SET told = 0")
        try access.set("card", nil as Int64?)
    }
}

extension SidecarAccess {
    var membership: Membership { Membership(access: self) }
}
