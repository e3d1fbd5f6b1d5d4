internal import Files
public import Foundation
internal import Remotes
internal import SystemPackage

/// Removed backups that can come back for a while, in a hidden subfolder.
///
/// A file's name is the time of the removal and the backup's name:
/// `20261121T090100.123Z [2026-Nov-20] 09.01 AM Stores.zip`.
struct Trash {
    static let subfolder = ".grocerydude-trash"

    private let root: any RemoteFolder
    private let folder: any RemoteFolder

    init(remote: any RemoteFolder) {
        root = remote
        folder = remote.subfolder(Self.subfolder)
    }

    /// Returns the backups in the trash, most recently removed first.
    func entries() async throws -> [TrashedBackup] {
        try await folder.list().compactMap(TrashedBackup.init).sorted { $0.deleted > $1.deleted }
    }

    /// Returns the name in the trash of a backup that is deleted at a time.
    static func name(of name: String, at date: Date) -> String {
        let stamp = Timestamp.rfc3339(date, in: .utc).filter { $0 != "-" && $0 != ":" }
        return "\(stamp) \(BackupName.fitting(name, FileName.longest - stamp.utf8.count - 1))"
    }

    /// Moves a backup into the trash.
    ///
    /// - Throws: `RemoteError`; the backup is in its old place or in the trash then.
    func put(_ name: String, at date: Date) async throws {
        try await root.move(name, to: folder, as: Self.name(of: name, at: date))
    }

    /// Fetches a removed backup, which stays in the trash.
    ///
    /// - Throws: `RemoteError`.
    func download(_ entry: TrashedBackup, to path: FilePath) async throws {
        try await folder.download(entry.file.name, to: path)
    }

    /// Moves a removed backup back.
    ///
    /// - Throws: `RemoteError.exists` if its name is taken.
    func takeOut(_ entry: TrashedBackup) async throws {
        try await folder.move(entry.file.name, to: root, as: entry.name)
    }

    /// Removes backups permanently, one by one.
    ///
    /// - Parameters:
    ///   - entries: the backups.
    ///   - isToStop: returns whether to stop before the next backup.
    /// - Returns: the removed backups, and the problems with the others.
    func remove(
        _ entries: [TrashedBackup],
        until isToStop: () -> Bool
    ) async -> (removed: [TrashedBackup], problems: [Problem]) {
        var removed: [TrashedBackup] = []
        var problems: [Problem] = []
        for entry in entries where !isToStop() {
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

/// A backup that was deleted and can come back.
public struct TrashedBackup: Sendable, Equatable {
    /// The file in the trash.
    let file: RemoteFile
    /// The name before the deletion.
    public let name: String
    /// The moment of the deletion.
    public let deleted: Date

    /// The size of the archive in bytes.
    public var size: Int64 { file.size }
    /// The name without ` Stores.zip`.
    public var displayName: String { BackupName.display(name) }

    /// Returns whether a name is that of a file in the trash.
    static func isName(_ name: String) -> Bool { Self(RemoteFile(name: name, size: 0)) != nil }

    /// Parses the name of a file in the trash; `nil` for any other name.
    init?(_ file: RemoteFile) {
        var scanner = TextScanner(file.name)
        guard let parts = Timestamp.parts(&scanner, dash: "", colon: ""), scanner.take(" "),
            let moment = Timestamp.date(of: parts)
        else { return nil }
        self.file = file
        deleted = moment
        name = scanner.remainder
    }
}
