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

/// A long value that this device has sent.
struct SentBlob {
    /// The SHA-256 of the file, and that of its content.
    var file: Digest
    var content: Digest
    var name: String
    var folder: String
    var size: Int64
    /// The time since which no row is known to refer to it.
    var idle: Int64?
}

/// The container's files: the owner of `seen`, `copy`, `waiting`, `mine` and `baseline`.
struct FileLedger {
    let access: SidecarAccess

    func hasSeen(_ id: Digest) throws -> Bool {
        try access.row("SELECT 1 FROM seen WHERE id = ?", [Data(id.bytes)]) != nil
    }

    func hasSeen(name: String, size: Int64) throws -> Bool {
        try access.row("SELECT 1 FROM seen WHERE name = ? AND size = ?", [name, size]) != nil
            || access.row("SELECT 1 FROM mine WHERE name = ? AND size = ?", [name, size]) != nil
            || access.row("SELECT 1 FROM copy WHERE name = ? AND size = ?", [name, size]) != nil
    }

    func see(_ file: SeenFile, at now: Int64) throws {
        try access.run(
            """
            INSERT OR IGNORE INTO seen (id, name, size, kind, device, sequence, clock, heard, at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                Data(file.id.bytes), file.name, file.size, Int64(file.kind.rawValue),
                access.number(of: file.device), Int64(clamping: file.sequence), Int64(file.clock),
                Int64(file.heard), now,
            ]
        )
        try access.run("DELETE FROM waiting WHERE name = ?", [file.name])
    }

    /// Records that a file that was read also exists under another name.
    func nameCopy(name: String, size: Int64) throws {
        try access.run("INSERT OR IGNORE INTO copy (name, size) VALUES (?, ?)", [name, size])
        try access.run("DELETE FROM waiting WHERE name = ?", [name])
    }

    func waiting(_ name: String) throws -> WaitingFile? {
        try access.row("SELECT * FROM waiting WHERE name = ?", [name]).map(WaitingFile.init)
    }

    /// Returns the files that cannot be read, without those of other programs.
    func waiting() throws -> [WaitingFile] {
        try access.rows(
            "SELECT * FROM waiting WHERE kind <> ? ORDER BY name",
            [WaitingFile.Kind.foreign.rawValue]
        )
        .map(WaitingFile.init)
    }

    /// Returns whether a file is another program's, as far as it is known.
    func isForeign(_ name: String) throws -> Bool { try waiting(name)?.kind == .foreign }

    func wait(for file: WaitingFile) throws {
        try access.run(
            """
            INSERT OR REPLACE INTO waiting (name, size, since, tried, reason, kind)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            [file.name, file.size, file.since, file.tried, file.reason, file.kind.rawValue]
        )
    }

    /// Forgets waiting files that are not in the container any more.
    func keepWaiting(_ names: Set<String>) throws {
        for row in try access.rows("SELECT name FROM waiting") {
            let name: String = row[0]
            if !names.contains(name) {
                try access.run("DELETE FROM waiting WHERE name = ?", [name])
            }
        }
    }

    // MARK: - This device's files

    func own(_ file: OwnFile) throws {
        try access.run(
            "INSERT OR REPLACE INTO mine (id, name, folder, size, changes) VALUES (?, ?, ?, ?, ?)",
            [Data(file.id.bytes), file.name, file.folder, file.size, file.changes]
        )
    }

    /// Returns the unpublished files in the order of their names, with the indexes of baselines last.
    func unpublished() throws -> [OwnFile] {
        try access.rows(
            """
            SELECT id, name, folder, size, changes FROM mine WHERE published IS NULL
            ORDER BY folder NOT LIKE 'blob-%', name LIKE '%.base', name
            """
        ).map { row in
            guard let id = row.bytes(0).withUnsafeBytes({ Digest(bytes: $0) }) else {
                throw access.damaged("a file of our own has no id")
            }
            return OwnFile(id: id, name: row[1], folder: row[2], size: row[3], changes: row[4])
        }
    }

    /// Forgets a file that another one of its name replaces.
    func withdraw(_ name: String) throws {
        try access.run("DELETE FROM mine WHERE name = ?", [name])
    }

    func setPublished(_ file: OwnFile, at now: Int64) throws {
        try access.run("UPDATE mine SET published = ? WHERE id = ?", [now, Data(file.id.bytes)])
    }

    func owns(_ id: Digest) throws -> Bool {
        try access.row("SELECT 1 FROM mine WHERE id = ?", [Data(id.bytes)]) != nil
    }

    func owns(name: String) throws -> Bool {
        try access.row("SELECT 1 FROM mine WHERE name = ?", [name]) != nil
    }

    // MARK: - Baselines and bundles

    func remember(_ standIn: StandIn) throws {
        try access.run(
            "INSERT OR IGNORE INTO baseline (id, name, parts, covers, at) VALUES (?, ?, ?, ?, ?)",
            [
                Data(standIn.id.bytes), standIn.name, Data(standIn.parts.flatMap(\.bytes)),
                Data(standIn.covers.flatMap(\.bytes)), standIn.complete,
            ]
        )
    }

    func standIns() throws -> [StandIn] {
        let sql = "SELECT id, name, parts, covers, at FROM baseline ORDER BY name"
        return try access.rows(sql).compactMap { row in
            guard let id = row.digests(0).first else { return nil }
            let (parts, covers) = (row.digests(2), row.digests(3))
            return StandIn(id: id, name: row[1], parts: parts, covers: covers, complete: row[4])
        }
    }

    /// Records which files have become complete: each part was read and joined, or written and published.
    func completeStandIns(at now: Int64) throws {
        for standIn in try standIns() where standIn.complete == nil {
            guard try standIn.files.allSatisfy({ try hasSeen($0) || hasPublished($0) }) else {
                continue
            }
            let sql = "UPDATE baseline SET at = ? WHERE id = ?"
            try access.run(sql, [now, Data(standIn.id.bytes)])
        }
    }

    /// Relies no longer on a file that does not hold what it says it covers, and lists it.
    func disbelieve(_ standIn: StandIn, at now: Int64) throws {
        try access.run("DELETE FROM baseline WHERE id = ?", [Data(standIn.id.bytes)])
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
        let sql = "SELECT 1 FROM mine WHERE id = ? AND published IS NOT NULL"
        return try access.row(sql, [Data(id.bytes)]) != nil
    }

    // MARK: - Data files

    /// Returns the record of a file of the container, by its name.
    func file(named name: String) throws -> KnownFile? {
        if let own = try access.row("SELECT id, published, size FROM mine WHERE name = ?", [name]) {
            return own.digests(0).first.map {
                KnownFile(id: $0, name: name, size: own[2], isOwn: true, published: own[1])
            }
        }
        guard let seen = try access.row("SELECT id, device, size FROM seen WHERE name = ?", [name]),
            let id = seen.digests(0).first
        else { return nil }
        let device = try access.device(seen[1])
        return KnownFile(id: id, name: name, size: seen[2], device: device, isOwn: false)
    }

    /// Returns this device's data files that should be in the container, published or not.
    func ownFiles() throws -> [KnownFile] {
        try access.rows(
            """
            SELECT id, name, size, published FROM mine
            WHERE removed IS NULL AND folder IN ('log', 'base') ORDER BY name
            """
        ).compactMap { row in
            row.digests(0).first.map {
                KnownFile(id: $0, name: row[1], size: row[2], isOwn: true, published: row[3])
            }
        }
    }

    /// Returns this device's published files except long values, and whether they are to be in the container.
    func published() throws -> [(file: OwnFile, at: Int64, isDue: Bool)] {
        try access.rows(
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
        return try access.rows(
            "SELECT id, name, size, at FROM seen WHERE kind IN (?, ?, ?)",
            StatementArguments(kinds.map { Int64($0.rawValue) })
        ).compactMap { row in
            row.digests(0).first.map {
                (KnownFile(id: $0, name: row[1], size: row[2], isOwn: false), row[3])
            }
        }
    }

    /// Records that a file of this device is not in the container any more, and need not be.
    func setRemoved(_ id: Digest, at now: Int64) throws {
        try access.run("UPDATE mine SET removed = ? WHERE id = ?", [now, Data(id.bytes)])
    }

    // MARK: - Long values

    /// Returns the published long values of this device.
    func sentBlobs() throws -> [SentBlob] {
        try access.rows(
            """
            SELECT id, name, folder, size, idle FROM mine
            WHERE folder LIKE 'blob-%' AND published IS NOT NULL ORDER BY name
            """
        ).compactMap { row in
            let name: String = row[1]
            let folder: String = row[2]
            guard let file = row.bytes(0).withUnsafeBytes({ Digest(bytes: $0) }),
                case .blob(let content)? = ContainerName(file: name, in: folder)
            else { throw access.damaged("a long value has no name") }
            return SentBlob(
                file: file,
                content: content,
                name: name,
                folder: folder,
                size: row[3],
                idle: row[4]
            )
        }
    }

    /// Returns the long values that a row refers to, or a lost edit that may be taken back.
    func wantedBlobs(among blobs: Set<Digest>) throws -> Set<Digest> {
        var wanted: Set<Digest> = []
        func take(_ value: Value?) {
            guard let digest = value?.reference?.digest, blobs.contains(digest) else { return }
            wanted.insert(digest)
        }
        try access.states.forEach { row in
            for cell in row.state.cells { take(cell.value) }
        }
        for row in try access.rows("SELECT value FROM lost") {
            take(try access.removed.decoded(row.bytes(0)))
        }
        for row in try access.rows("SELECT won, lost, cells FROM removed") {
            take(try access.removed.decoded(row.bytes(0)))
            take(try access.removed.decoded(row.bytes(1)))
            for cell in try access.removed.cells(row.bytes(2)) { take(cell.value) }
        }
        return wanted
    }

    func setIdle(_ time: Int64?, _ blob: SentBlob) throws {
        try access.run("UPDATE mine SET idle = ? WHERE id = ?", [time, Data(blob.file.bytes)])
    }

    /// Forgets that a long value was sent, so that a row that refers to it sends it again.
    func disown(_ blob: SentBlob) throws {
        try access.run("DELETE FROM mine WHERE id = ?", [Data(blob.file.bytes)])
    }
}

extension SidecarAccess {
    var files: FileLedger { FileLedger(access: self) }
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
