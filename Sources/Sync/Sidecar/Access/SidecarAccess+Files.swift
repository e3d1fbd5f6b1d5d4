internal import Changes
internal import Files
internal import Foundation
internal import GRDB

/// A file of the container that was read.
struct SeenFile {
    var id: Digest
    var name: String
    var size: Int64
    var kind: FileKind
    var device: DeviceID
    var sequence: UInt64
    var clock: UInt64 = 0
    /// The greatest clock of this device that its author had received, by its own report.
    var heard: UInt64 = 0
}

/// A file of the container that cannot be read yet.
struct WaitingFile: Equatable {
    /// The kinds of files that cannot be read.
    enum Kind: Int64 {
        /// The file may become complete.
        case unread
        /// Only a newer version of the program can read the file.
        case newer
        /// The file is another program's, or another file has its content, and is left alone.
        case foreign
    }

    var name: String
    var size: Int64
    /// The time of the first attempt, and that of the last, in milliseconds since 1970.
    var since: Int64
    var tried: Int64
    var reason: String
    var kind: Kind
}

/// A file of this device.
struct OwnFile {
    var id: Digest
    var name: String
    var folder: String
    var size: Int64
    var changes: Int64
}

// Files that others wrote.
extension SidecarAccess {
    func hasSeen(_ id: Digest) throws -> Bool {
        try row("SELECT 1 FROM seen WHERE id = ?", [Data(id.bytes)]) != nil
    }

    func hasSeen(name: String, size: Int64) throws -> Bool {
        try row("SELECT 1 FROM seen WHERE name = ? AND size = ?", [name, size]) != nil
            || row("SELECT 1 FROM mine WHERE name = ? AND size = ?", [name, size]) != nil
            || row("SELECT 1 FROM copy WHERE name = ? AND size = ?", [name, size]) != nil
    }

    func see(_ file: SeenFile, at now: Int64) throws {
        try run(
            """
            INSERT OR IGNORE INTO seen (id, name, size, kind, device, sequence, clock, heard, at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                Data(file.id.bytes), file.name, file.size, Int64(file.kind.rawValue),
                number(of: file.device), Int64(clamping: file.sequence), Int64(file.clock),
                Int64(file.heard), now,
            ]
        )
        try run("DELETE FROM waiting WHERE name = ?", [file.name])
    }

    /// Records that a file that was read also exists under another name.
    func nameCopy(name: String, size: Int64) throws {
        try run("INSERT OR IGNORE INTO copy (name, size) VALUES (?, ?)", [name, size])
        try run("DELETE FROM waiting WHERE name = ?", [name])
    }

    /// Records which clocks of this device a file's author had received, under any of its ids.
    func listen(to header: ChangeHeader, as ids: Set<DeviceID>) throws {
        for entry in header.seen where ids.contains(entry.device) {
            try run(
                "INSERT OR IGNORE INTO word (device, clock, own, heard) VALUES (?, ?, ?, ?)",
                [
                    number(of: header.device), Int64(header.clock), number(of: entry.device),
                    Int64(entry.clock),
                ]
            )
        }
    }

    /// Returns the greatest clock of one of this device's ids that the author of a stamp had received at its time.
    func heard(_ own: DeviceID, by stamp: Stamp) throws -> UInt64 {
        let found = try count(
            "SELECT max(heard) FROM word WHERE device = ? AND own = ? AND clock <= ?",
            [number(of: stamp.device), number(of: own), Int64(stamp.clock)]
        )
        return UInt64(clamping: found)
    }

    func waiting(_ name: String) throws -> WaitingFile? {
        try row("SELECT * FROM waiting WHERE name = ?", [name]).map(WaitingFile.init)
    }

    /// Returns the files that cannot be read, without those of other programs.
    func waitingFiles() throws -> [WaitingFile] {
        try rows("SELECT * FROM waiting WHERE kind <> ? ORDER BY name", [foreign])
            .map(WaitingFile.init)
    }

    /// Returns whether a file is another program's, as far as it is known.
    func isForeign(_ name: String) throws -> Bool { try waiting(name)?.kind == .foreign }

    private var foreign: Int64 { WaitingFile.Kind.foreign.rawValue }

    func wait(for file: WaitingFile) throws {
        try run(
            """
            INSERT OR REPLACE INTO waiting (name, size, since, tried, reason, kind)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            [file.name, file.size, file.since, file.tried, file.reason, file.kind.rawValue]
        )
    }

    /// Forgets waiting files that are not in the container any more.
    func keepWaiting(_ names: Set<String>) throws {
        for row in try rows("SELECT name FROM waiting") {
            let name: String = row[0]
            if !names.contains(name) { try run("DELETE FROM waiting WHERE name = ?", [name]) }
        }
    }
}

// Files of this device.
extension SidecarAccess {
    func own(_ file: OwnFile) throws {
        try run(
            "INSERT OR REPLACE INTO mine (id, name, folder, size, changes) VALUES (?, ?, ?, ?, ?)",
            [Data(file.id.bytes), file.name, file.folder, file.size, file.changes]
        )
    }

    /// Returns the unpublished files in the order of their names, with the indexes of baselines last.
    func unpublished() throws -> [OwnFile] {
        try rows(
            """
            SELECT id, name, folder, size, changes FROM mine WHERE published IS NULL
            ORDER BY name LIKE '%.base', name
            """
        ).map { row in
            guard let id = row.bytes(0).withUnsafeBytes({ Digest(bytes: $0) }) else {
                throw damaged("a file of our own has no id")
            }
            return OwnFile(id: id, name: row[1], folder: row[2], size: row[3], changes: row[4])
        }
    }

    /// Forgets a file that another one of its name replaces.
    func withdraw(_ name: String) throws { try run("DELETE FROM mine WHERE name = ?", [name]) }

    func setPublished(_ file: OwnFile, at now: Int64) throws {
        try run("UPDATE mine SET published = ? WHERE id = ?", [now, Data(file.id.bytes)])
    }

    func owns(_ id: Digest) throws -> Bool {
        try row("SELECT 1 FROM mine WHERE id = ?", [Data(id.bytes)]) != nil
    }
}

// Devices.
extension SidecarAccess {
    /// The time for which a missing file keeps later ones from counting, in milliseconds: 7 days.
    private static let gapPatience: Int64 = 7 * 86_400_000

    /// Records when a device was last heard, and the clock up to which its files are here without a gap.
    ///
    /// A device that has a later file may not have read a file that arrives late. A gap of files that were removed
    /// after a baseline covered them does not count. This device assumes such a gap if it is just beginning, or
    /// after a week.
    func hear(_ device: DeviceID, wall: UInt64, at now: Int64) throws {
        let number = try number(of: device)
        guard let known = try row("SELECT sequence, clock FROM device WHERE n = ?", [number]) else {
            throw damaged("there is no device \(number)")
        }
        var (sequence, clock): (Int64, Int64) = (known[0], known[1])
        let isBeginning = try membership.phase == .enabling
        while let next = try row(
            """
            SELECT sequence, clock FROM seen WHERE device = ?1 AND sequence > ?2
                AND (sequence = ?2 + 1 OR at < ?3 OR ?4) ORDER BY sequence LIMIT 1
            """,
            [number, sequence, now - Self.gapPatience, isBeginning]
        ) {
            sequence = next[0]
            clock = max(clock, next[1])
        }
        try run(
            "UPDATE device SET sequence = ?, clock = ?, wall = max(wall, ?) WHERE n = ?",
            [sequence, clock, Int64(clamping: wall), number]
        )
    }

    /// Records which ids a device had before.
    func setFormer(_ ids: [DeviceID], of device: DeviceID) throws {
        try run(
            "UPDATE device SET was = ? WHERE n = ?",
            [Data(ids.flatMap(\.bytes)), number(of: device)]
        )
    }

    func setName(_ name: String, of device: DeviceID) throws {
        try run("UPDATE device SET name = ? WHERE n = ?", [name, number(of: device)])
    }

    /// Records that a device is forgotten.
    func setGone(_ device: DeviceID) throws {
        try run("UPDATE device SET gone = 1 WHERE n = ?", [number(of: device)])
    }

    /// Returns the clocks received from other devices that this device has not reported yet.
    func untold(except own: DeviceID) throws -> [SeenClock] {
        try rows("SELECT id, clock FROM device WHERE clock > told").compactMap { row in
            guard let id = DeviceID(bytes: row.bytes(0)), id != own else { return nil }
            return SeenClock(device: id, clock: UInt64(clamping: row[1] as Int64))
        }
    }

    func setTold() throws { try run("UPDATE device SET told = clock") }
}

extension WaitingFile {
    fileprivate init(_ row: Row) {
        self.init(
            name: row["name"],
            size: row["size"],
            since: row["since"],
            tried: row["tried"],
            reason: row["reason"],
            kind: Kind(rawValue: row["kind"]) ?? .unread
        )
    }
}
