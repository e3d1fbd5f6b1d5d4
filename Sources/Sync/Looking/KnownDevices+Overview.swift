internal import Changes
internal import Foundation
internal import GRDB

extension KnownDevices {
    /// Returns the other devices of the group, by their names; a device with a new id is listed once.
    func overview() throws -> [SyncOverview.Device] {
        let (own, former) = (try access.membership.own, try formerIDs())
        let said = try access.integer("said") ?? 0
        var devices = try access.rows(
            """
            SELECT d.id, d.name, d.gone, d.clock,
                max(d.wall, coalesce((SELECT max(wall) FROM device AS f WHERE instr(d.was, f.id)), 0)) AS wall,
                (SELECT max(heard) FROM seen WHERE seen.device = d.n) AS heard
            FROM device AS d ORDER BY d.name, d.id
            """
        ).compactMap { row -> SyncOverview.Device? in
            guard let id = DeviceID(bytes: row.bytes(0)), id != own, !former.contains(id) else {
                return nil
            }
            let wall: Int64 = row["wall"]
            let name: String? = row["name"]
            return SyncOverview.Device(
                id: id.description,
                name: name,
                title: name ?? String(id.description.prefix(8)),
                heard: wall == 0 ? nil : Date(milliseconds: wall),
                hasAll: (row["heard"] as Int64? ?? -1) >= said,
                isForgotten: row["gone"] as Int64 != 0,
                clock: Date(
                    milliseconds: HybridClock.milliseconds(
                        of: UInt64(clamping: row["clock"] as Int64)
                    )
                )
            )
        }
        let titles = devices.map(\.title)
        for index in devices.indices where titles.count(where: { $0 == titles[index] }) > 1 {
            devices[index].title += " (\(devices[index].id.prefix(8)))"
        }
        return devices
    }

    /// Returns the names of devices by their ids, including this device's former ids.
    func names() throws -> [String: String] {
        var names: [String: String] = [:]
        for row in try access.rows("SELECT id, name FROM device WHERE name IS NOT NULL") {
            guard let id = DeviceID(bytes: row.bytes(0)) else { continue }
            names[id.description] = row[1]
        }
        for id in try access.membership.former { names[id.description] = try access.text("name") }
        return names
    }

    /// Returns the ids that no device uses any more, since their devices have new ones.
    ///
    /// The original of a clone continues under the clone's former id. After the clone has changed its id, files of
    /// the original arrive: at the latest its next card.
    private func formerIDs() throws -> Set<DeviceID> {
        var former: Set<DeviceID> = []
        let renewed = try access.integer("renewed") ?? .max
        for id in try access.membership.former {
            let sql = "SELECT wall, gone FROM device WHERE id = ?"
            let found = try access.row(sql, [Data(id.bytes)])
            let isHeard = found.map { $0[1] as Int64 == 0 && $0[0] as Int64 > renewed } ?? false
            if !isHeard { former.insert(id) }
        }
        for row in try access.rows("SELECT n, was FROM device WHERE was IS NOT NULL") {
            let (number, was): (Int64, [UInt8]) = (row[0], row.bytes(1))
            let first = try access.row(
                "SELECT min(clock) FROM seen WHERE device = ? AND clock > 0",
                [number]
            ).flatMap { $0[0] as Int64? }
            for start in stride(from: 0, to: was.count - was.count % 16, by: 16) {
                guard let id = DeviceID(bytes: was[start..<start + 16]) else { continue }
                let clock = try access.count(
                    "SELECT max(clock) FROM seen WHERE device = (SELECT n FROM device WHERE id = ?)",
                    [Data(id.bytes)]
                )
                if first.map({ clock < $0 }) ?? true { former.insert(id) }
            }
        }
        return former
    }
}
