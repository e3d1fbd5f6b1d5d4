internal import Changes
internal import Files
internal import Foundation
internal import GRDB

/// A file that replaces others: a baseline with its parts, or a bundle, which is its own part.
struct StandIn {
    var id: Digest
    var name: String
    var parts: [Digest]
    var covers: [Digest]
    /// The time at which all of it was first known to be there, in milliseconds since 1970; `nil` if it is
    /// incomplete.
    var complete: Int64?

    /// The ids of all files that it consists of.
    var files: [Digest] { parts + [id] }
}

extension SidecarAccess {
    func remember(_ standIn: StandIn) throws {
        try run(
            "INSERT OR IGNORE INTO baseline (id, name, parts, covers, at) VALUES (?, ?, ?, ?, ?)",
            [
                Data(standIn.id.bytes), standIn.name, Data(standIn.parts.flatMap(\.bytes)),
                Data(standIn.covers.flatMap(\.bytes)), standIn.complete,
            ]
        )
    }

    func standIns() throws -> [StandIn] {
        try rows("SELECT id, name, parts, covers, at FROM baseline ORDER BY name").compactMap {
            row in
            guard let id = row.digests(0).first else { return nil }
            return StandIn(
                id: id,
                name: row[1],
                parts: row.digests(2),
                covers: row.digests(3),
                complete: row[4]
            )
        }
    }

    /// Records which files have become complete: each part was read and joined, or written and published.
    ///
    /// - Returns: whether any has become complete.
    func completeStandIns(at now: Int64) throws -> Bool {
        var isNew = false
        for standIn in try standIns() where standIn.complete == nil {
            guard try standIn.files.allSatisfy({ try hasRead($0) || hasPublished($0) }) else {
                continue
            }
            try run("UPDATE baseline SET at = ? WHERE id = ?", [now, Data(standIn.id.bytes)])
            isNew = true
        }
        return isNew
    }

    private func hasRead(_ id: Digest) throws -> Bool {
        try row("SELECT 1 FROM seen WHERE id = ? AND covered IS NULL", [Data(id.bytes)]) != nil
    }

    private func hasPublished(_ id: Digest) throws -> Bool {
        try row(
            "SELECT 1 FROM mine WHERE id = ? AND published IS NOT NULL",
            [Data(id.bytes)]
        ) != nil
    }

    /// Records a file as read, since another one covers it.
    func pass(over id: Digest, name: String, size: Int64, _ kind: FileKind, at now: Int64) throws {
        try run(
            """
            INSERT OR IGNORE INTO seen (id, name, size, kind, device, sequence, at, covered)
            VALUES (?, ?, ?, ?, 0, 0, ?, 1)
            """,
            [Data(id.bytes), name, size, Int64(kind.rawValue), now]
        )
        try run("DELETE FROM waiting WHERE name = ?", [name])
    }
}

/// A data file that is known by its name, and that this device wrote or read.
struct KnownFile {
    var id: Digest
    var name: String
    /// The author; `nil` for this device's own file, and for a file that was passed over.
    var device: DeviceID?
    var isOwn: Bool
    /// The time of its publication, if it is this device's file.
    var published: Int64?
}

extension SidecarAccess {
    /// Returns the record of a file of the container, by its name.
    func file(named name: String) throws -> KnownFile? {
        if let own = try row("SELECT id, published FROM mine WHERE name = ?", [name]) {
            return own.digests(0).first.map {
                KnownFile(id: $0, name: name, device: nil, isOwn: true, published: own[1])
            }
        }
        guard let seen = try row("SELECT id, device FROM seen WHERE name = ?", [name]),
            let id = seen.digests(0).first
        else { return nil }
        let author = try device(seen[1])
        return KnownFile(
            id: id,
            name: name,
            device: author.isZero ? nil : author,
            isOwn: false,
            published: nil
        )
    }

    /// Returns this device's data files that should be in the container, published or not.
    func ownFiles() throws -> [KnownFile] {
        try rows(
            """
            SELECT id, name, published FROM mine
            WHERE removed IS NULL AND folder IN ('log', 'base') ORDER BY name
            """
        ).compactMap { row in
            row.digests(0).first.map {
                KnownFile(id: $0, name: row[1], device: nil, isOwn: true, published: row[2])
            }
        }
    }

    /// Returns others' data files that were read or passed over, with the times.
    func readFiles() throws -> [(file: KnownFile, at: Int64)] {
        let kinds: [FileKind] = [.changes, .baselinePart, .baselineIndex]
        return try rows(
            "SELECT id, name, at FROM seen WHERE kind IN (?, ?, ?)",
            StatementArguments(kinds.map { Int64($0.rawValue) })
        ).compactMap { row in
            row.digests(0).first.map {
                (KnownFile(id: $0, name: row[1], device: nil, isOwn: false), row[2])
            }
        }
    }

    /// Records that a file of this device is not in the container any more, and need not be.
    func setRemoved(_ id: Digest, at now: Int64) throws {
        try run("UPDATE mine SET removed = ? WHERE id = ?", [now, Data(id.bytes)])
    }

    /// Returns the least id of the devices that were heard since a time, and are not forgotten.
    func leastDevice(heardSince time: Int64) throws -> DeviceID? {
        try rows("SELECT id FROM device WHERE wall >= ? AND gone = 0", [time])
            .compactMap { DeviceID(bytes: $0.bytes(0)) }.min()
    }
}

extension Row {
    /// Returns the digests in the bytes of a column.
    fileprivate func digests(_ column: Int) -> [Digest] {
        let bytes = bytes(column)
        guard bytes.count % 32 == 0 else { return [] }
        return stride(from: 0, to: bytes.count, by: 32).compactMap { start in
            bytes[start..<start + 32].withUnsafeBytes { Digest(bytes: $0) }
        }
    }
}
