internal import Changes
internal import Foundation

// This device's identity and settings.
extension SidecarAccess {
    /// The phases of taking part.
    enum Phase: String {
        case enabling, on
    }

    var phase: Phase? {
        get throws { try text("phase").flatMap(Phase.init) }
    }

    var own: DeviceID {
        get throws {
            guard let id = try bytes("device").flatMap({ DeviceID(bytes: $0) }) else {
                throw damaged("it does not say which device this is")
            }
            return id
        }
    }

    /// The ids of the group; this device writes under the first one.
    var groups: [GroupID] {
        get throws {
            guard let bytes = try bytes("groups"), bytes.count % 16 == 0 else { return [] }
            return stride(from: 0, to: bytes.count, by: 16).compactMap {
                GroupID(bytes: bytes[$0..<$0 + 16])
            }
        }
    }

    func setGroups(_ groups: [GroupID]) throws {
        try set("groups", bytes: groups.flatMap(\.bytes))
    }

    var group: GroupName {
        get throws {
            guard let group = try text("group").flatMap({ GroupName($0) }) else {
                throw damaged("it does not say which group this is")
            }
            return group
        }
    }

    /// The clock, at the greatest reading that was seen or used.
    var clock: HybridClock {
        get throws { HybridClock(last: UInt64(clamping: try integer("clock") ?? 0)) }
    }

    func setClock(_ clock: HybridClock) throws { try set("clock", Int64(clock.last)) }

    /// Returns the number of the next file of this device.
    func nextSequence() throws -> UInt64 {
        let next = (try integer("sequence") ?? 0) + 1
        try set("sequence", next)
        return UInt64(next)
    }

    /// The settings of this device: the group's map, and the tables that only this device leaves out.
    var map: SyncMap {
        get throws {
            var map = try groupMap
            let excluded = try text("excluded")?.split(separator: "\0") ?? []
            map.exclude.formUnion(excluded.compactMap { TableName(String($0)) })
            return map
        }
    }

    /// The way to match rows with the group's while the store joins it.
    var match: JoinMatch? {
        get throws { try text("match").flatMap(JoinMatch.init) }
    }

    func setExcluded(_ tables: Set<TableName>) throws {
        try set("excluded", tables.map(\.description).sorted().joined(separator: "\0"))
    }

    /// The group's map.
    var groupMap: SyncMap {
        get throws {
            guard let json = try bytes("map") else { return SyncMap() }
            do {
                return try SyncMap(json: json, name: "map")
            } catch {
                throw damaged("its map cannot be read")
            }
        }
    }
}
