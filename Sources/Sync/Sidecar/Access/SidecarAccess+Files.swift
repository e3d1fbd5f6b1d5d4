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
