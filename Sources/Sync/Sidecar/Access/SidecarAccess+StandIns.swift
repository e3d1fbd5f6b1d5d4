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
    func completeStandIns(at now: Int64) throws {
        for standIn in try standIns() where standIn.complete == nil {
            guard try standIn.files.allSatisfy({ try hasSeen($0) || hasPublished($0) }) else {
                continue
            }
            try run("UPDATE baseline SET at = ? WHERE id = ?", [now, Data(standIn.id.bytes)])
        }
    }

    /// Relies no longer on a file that does not hold what it says it covers, and lists it.
    func disbelieve(_ standIn: StandIn, at now: Int64) throws {
        try run("DELETE FROM baseline WHERE id = ?", [Data(standIn.id.bytes)])
        guard let file = try file(named: standIn.name) else { return }
        let reason = explain(ChangeError.unproven(file.name))
        try wait(
            for: WaitingFile(
                name: file.name,
                size: file.size,
                since: now,
                tried: now,
                reason: reason,
                kind: .unread
            )
        )
    }

    private func hasPublished(_ id: Digest) throws -> Bool {
        try row(
            "SELECT 1 FROM mine WHERE id = ? AND published IS NOT NULL",
            [Data(id.bytes)]
        ) != nil
    }
}

/// A data file that is known by its name, and that this device wrote or read.
struct KnownFile {
    var id: Digest
    var name: String
    var size: Int64
    /// The author; `nil` for this device's own file.
    var device: DeviceID?
    var isOwn: Bool
    /// The time of its publication, if it is this device's file.
    var published: Int64?
}

extension SidecarAccess {
    /// Returns the record of a file of the container, by its name.
    func file(named name: String) throws -> KnownFile? {
        if let own = try row("SELECT id, published, size FROM mine WHERE name = ?", [name]) {
            return own.digests(0).first.map {
                KnownFile(
                    id: $0,
                    name: name,
                    size: own[2],
                    device: nil,
                    isOwn: true,
                    published: own[1]
                )
            }
        }
        guard let seen = try row("SELECT id, device, size FROM seen WHERE name = ?", [name]),
            let id = seen.digests(0).first
        else { return nil }
        return KnownFile(
            id: id,
            name: name,
            size: seen[2],
            device: try device(seen[1]),
            isOwn: false,
            published: nil
        )
    }

    /// Returns this device's data files that should be in the container, published or not.
    func ownFiles() throws -> [KnownFile] {
        try rows(
            """
            SELECT id, name, size, published FROM mine
            WHERE removed IS NULL AND folder IN ('log', 'base') ORDER BY name
            """
        ).compactMap { row in
            row.digests(0).first.map {
                KnownFile(
                    id: $0,
                    name: row[1],
                    size: row[2],
                    device: nil,
                    isOwn: true,
                    published: row[3]
                )
            }
        }
    }

    /// Returns this device's published files except long values, and whether they are to be in the container.
    func publishedFiles() throws -> [(file: OwnFile, at: Int64, isDue: Bool)] {
        try rows(
            """
            SELECT id, name, folder, size, published, removed IS NULL FROM mine
            WHERE published IS NOT NULL AND folder NOT LIKE 'blob-%' ORDER BY name
            """
        ).compactMap { row in
            row.digests(0).first.map {
                let file = OwnFile(id: $0, name: row[1], folder: row[2], size: row[3], changes: 0)
                return (file, row[4], row[5])
            }
        }
    }

    /// Returns others' data files that were read, with the times.
    func readFiles() throws -> [(file: KnownFile, at: Int64)] {
        let kinds: [FileKind] = [.changes, .baselinePart, .baselineIndex]
        return try rows(
            "SELECT id, name, size, at FROM seen WHERE kind IN (?, ?, ?)",
            StatementArguments(kinds.map { Int64($0.rawValue) })
        ).compactMap { row in
            row.digests(0).first.map {
                (
                    KnownFile(id: $0, name: row[1], size: row[2], device: nil, isOwn: false),
                    row[3]
                )
            }
        }
    }

    /// Records that a file of this device is not in the container any more, and need not be.
    func setRemoved(_ id: Digest, at now: Int64) throws {
        try run("UPDATE mine SET removed = ? WHERE id = ?", [now, Data(id.bytes)])
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
