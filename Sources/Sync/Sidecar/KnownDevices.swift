internal import Changes
internal import Files
internal import Foundation
internal import GRDB

/// The devices of the group: the owner of `device` and `word`.
struct KnownDevices {
    let access: SidecarAccess
    /// The time for which a missing file keeps later ones from counting, in milliseconds: 7 days.
    private static let gapPatience: Int64 = 7 * 86_400_000

    /// Returns whether a device is forgotten.
    func isGone(_ device: DeviceID) throws -> Bool {
        try access.count("SELECT gone FROM device WHERE n = ?", [access.number(of: device)]) != 0
    }

    /// Records which clocks of this device a file's author had received, under any of its ids.
    func listen(to header: ChangeHeader, as ids: Set<DeviceID>) throws {
        for entry in header.seen where ids.contains(entry.device) {
            try access.run(
                "INSERT OR IGNORE INTO word (device, clock, own, heard) VALUES (?, ?, ?, ?)",
                [
                    access.number(of: header.device), Int64(header.clock),
                    access.number(of: entry.device),
                    Int64(entry.clock),
                ]
            )
        }
    }

    /// Returns the greatest clock of one of this device's ids that the author of a stamp had received at its time.
    func heard(_ own: DeviceID, by stamp: Stamp) throws -> UInt64 {
        let found = try access.count(
            "SELECT max(heard) FROM word WHERE device = ? AND own = ? AND clock <= ?",
            [access.number(of: stamp.device), access.number(of: own), Int64(stamp.clock)]
        )
        return UInt64(clamping: found)
    }

    /// Records when a device was last heard, and the clock up to which its files are here without a gap.
    ///
    /// A device that has a later file may not have read a file that arrives late. A gap of files that were removed
    /// after a baseline covered them does not count. This device assumes such a gap if it is just beginning, or
    /// after a week.
    func hear(_ device: DeviceID, wall: UInt64, at now: Int64) throws {
        let number = try access.number(of: device)
        guard let known = try access.row("SELECT sequence, clock FROM device WHERE n = ?", [number])
        else {
            throw access.damaged("there is no device \(number)")
        }
        var (sequence, clock): (Int64, Int64) = (known[0], known[1])
        let isBeginning = try access.membership.phase == .enabling
        while let next = try access.row(
            """
            SELECT sequence, clock FROM seen WHERE device = ?1 AND sequence > ?2
                AND (sequence = ?2 + 1 OR at < ?3 OR ?4) ORDER BY sequence LIMIT 1
            """,
            [number, sequence, now - Self.gapPatience, isBeginning]
        ) {
            sequence = next[0]
            clock = max(clock, next[1])
        }
        try access.run(
            "UPDATE device SET sequence = ?, clock = ?, wall = max(wall, ?) WHERE n = ?",
            [sequence, clock, Int64(clamping: wall), number]
        )
    }

    /// Records which ids a device had before.
    func setFormer(_ ids: [DeviceID], of device: DeviceID) throws {
        let bytes = Data(ids.flatMap(\.bytes))
        try access.run("UPDATE device SET was = ? WHERE n = ?", [bytes, access.number(of: device)])
    }

    func setName(_ name: String, of device: DeviceID) throws {
        try access.run("UPDATE device SET name = ? WHERE n = ?", [name, access.number(of: device)])
    }

    /// Records that a device is forgotten.
    func setGone(_ device: DeviceID) throws {
        try access.run("UPDATE device SET gone = 1 WHERE n = ?", [access.number(of: device)])
    }

    /// Returns the clocks received from other devices that this device has not reported yet.
    func unreported(except own: DeviceID) throws -> [SeenClock] {
        try access.rows("SELECT id, clock FROM device WHERE clock > told").compactMap { row in
            guard let id = DeviceID(bytes: row.bytes(0)), id != own else { return nil }
            return SeenClock(device: id, clock: UInt64(clamping: row[1] as Int64))
        }
    }

    func setReported() throws { try access.run("UPDATE device SET told = clock") }

    /// Returns the least id of the devices that were heard since a time, and are not forgotten.
    func least(heardSince time: Int64) throws -> DeviceID? {
        try access.rows("SELECT id FROM device WHERE wall >= ? AND gone = 0", [time])
            .compactMap { DeviceID(bytes: $0.bytes(0)) }.min()
    }

    /// Returns the greatest clock received from each device.
    func heardClocks() throws -> [SeenClock] {
        try access.rows("SELECT id, clock FROM device WHERE clock > 0 ORDER BY id").compactMap {
            row in
            DeviceID(bytes: row.bytes(0)).map {
                SeenClock(device: $0, clock: UInt64(clamping: row[1] as Int64))
            }
        }
    }
}

extension SidecarAccess {
    var devices: KnownDevices { KnownDevices(access: self) }
}
