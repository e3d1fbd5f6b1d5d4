internal import Files
internal import Foundation
internal import Remotes
internal import SystemPackage

/// Backups that were removed and can come back for a while, in a hidden subfolder.
///
/// A file has the backup's name, with the moment of its removal before it:
/// `20261121T090100.123Z [2026-Nov-20] 09.01 AM Stores.zip`.
struct Trash {
    static let subfolder = ".grocerydude-trash"

    private let root: any RemoteFolder
    private let folder: any RemoteFolder

    init(remote: any RemoteFolder) {
        root = remote
        folder = remote.subfolder(Self.subfolder)
    }

    /// Returns the backups in it, the last removed first.
    func entries() async throws -> [TrashedBackup] {
        try await folder.list().compactMap(TrashedBackup.init).sorted { $0.deleted > $1.deleted }
    }

    /// Removes a backup, so that it can come back.
    ///
    /// - Throws: `RemoteError`; the backup is where it was, or in the trash.
    func put(_ name: String, at date: Date) async throws {
        let stamp = Timestamp.rfc3339(date, in: .gmt).filter { $0 != "-" && $0 != ":" }
        try await root.move(name, to: folder, as: "\(stamp) \(name)")
    }

    /// Fetches a removed backup, which stays where it is.
    ///
    /// - Throws: `RemoteError`.
    func download(_ entry: TrashedBackup, to path: FilePath) async throws {
        try await folder.download(entry.file.name, to: path)
    }

    /// Puts a removed backup back.
    ///
    /// - Throws: `RemoteError.exists` if its name is taken.
    func takeOut(_ entry: TrashedBackup) async throws {
        try await folder.move(entry.file.name, to: root, as: entry.name)
    }

    /// Removes backups for good, each for itself.
    ///
    /// - Returns: these backups, and the problems with others.
    func remove(
        _ entries: [TrashedBackup]
    ) async throws -> (removed: [TrashedBackup], problems: [Problem]) {
        var removed: [TrashedBackup] = []
        var problems: [Problem] = []
        for entry in entries {
            do {
                let problem = try await RemoteError.problem {
                    try await folder.delete(entry.file.name)
                }
                removed.append(entry)
                problems += problem.map { [$0] } ?? []
            } catch {
                let path = "\(Self.subfolder)/\(entry.file.name)"
                problems.append(Problem(kind: .notRemoved, path: path, reason: explain(error)))
            }
        }
        return (removed, problems)
    }
}
