internal import Files
internal import Remotes

/// The comparison of a backup's file with the file that was uploaded.
public struct BackupComparison: Sendable {
    /// The property that was compared.
    public enum Basis: Sendable, Equatable {
        /// A hash of the whole file; the payload is its kind.
        case hash(String)
        /// The size alone, since the remote has no hash.
        case size
        /// No property, with the reason.
        case nothing(String)
    }

    package var basis: Basis
    /// The difference, if there is one.
    package var damage: String?
}

extension BackupComparison {
    /// Compares backups with what the catalog remembers of them, without reading their data.
    ///
    /// - Parameters:
    ///   - backups: backups of a folder.
    ///   - folder: the folder.
    /// - Returns: a comparison for each backup, in the same order.
    /// - Throws: `RemoteError`.
    package static func compare(
        _ backups: [Backup],
        in folder: BackupFolder
    ) async throws -> [BackupComparison] {
        guard let remote = folder.remote.hashes else {
            return backups.map { _ in
                BackupComparison(basis: .nothing("its folder is on this machine: read its data"))
            }
        }
        let known = backups.map { folder.memory.catalog.lastSeen($0.name, in: folder.address) }
        var found: [ExactString: RemoteFile] = [:]
        // A folder has one kind of hash unless it moved to another cloud.
        for kind in Set(known.compactMap { $0?.hash?.kind }).sorted() {
            let names = known.compactMap { $0?.hash?.kind == kind ? $0?.name : nil }
            for file in try await remote.files(names, hashedBy: kind) {
                found[file.name.exact] = file
            }
        }
        return zip(backups, known).map { backup, known in
            guard let known else {
                let reason =
                    "another machine made it or changed it, and this one has not looked at it since"
                return BackupComparison(basis: .nothing(reason))
            }
            return Self.compare(known, with: found[backup.name.exact] ?? backup.file)
        }
    }

    private static func compare(_ known: RemoteFile, with file: RemoteFile) -> BackupComparison {
        guard file.size == known.size else {
            let damage = "it has \(file.size) bytes, and had \(known.size)"
            return BackupComparison(basis: .size, damage: damage)
        }
        guard let before = known.hash, let now = file.hash else {
            return BackupComparison(basis: .size)
        }
        let basis = BackupComparison.Basis.hash(before.kind)
        guard before == now else {
            let damage = "its \(before.kind) is \(now.value), and was \(before.value)"
            return BackupComparison(basis: basis, damage: damage)
        }
        return BackupComparison(basis: basis)
    }
}
