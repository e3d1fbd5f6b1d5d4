internal import Changes
internal import Files
internal import Foundation
internal import GRDB

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

extension SidecarAccess {
    /// Returns the published long values of this device.
    func sentBlobs() throws -> [SentBlob] {
        try rows(
            """
            SELECT id, name, folder, size, idle FROM mine
            WHERE folder LIKE 'blob-%' AND published IS NOT NULL ORDER BY name
            """
        ).compactMap { row in
            let name: String = row[1]
            let folder: String = row[2]
            guard let file = row.bytes(0).withUnsafeBytes({ Digest(bytes: $0) }),
                case .blob(let content)? = ContainerName(file: name, in: folder)
            else { throw damaged("a long value has no name") }
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
        try forEachKnown { row in
            for cell in row.state.cells { take(cell.value) }
        }
        for row in try rows("SELECT value FROM lost") { take(try decoded(row.bytes(0))) }
        for row in try rows("SELECT won, lost, cells FROM removed") {
            take(try decoded(row.bytes(0)))
            take(try decoded(row.bytes(1)))
            for cell in try removed.cells(row.bytes(2)) { take(cell.value) }
        }
        return wanted
    }

    func setIdle(_ time: Int64?, _ blob: SentBlob) throws {
        try run("UPDATE mine SET idle = ? WHERE id = ?", [time, Data(blob.file.bytes)])
    }

    /// Forgets that a long value was sent, so that a row that refers to it sends it again.
    func disown(_ blob: SentBlob) throws {
        try run("DELETE FROM mine WHERE id = ?", [Data(blob.file.bytes)])
    }
}
